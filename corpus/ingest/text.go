package ingest

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"annotator"
)

// maxText bounds a book that is read as a whole, in bytes.
const maxText = 512 << 20

// text reads a book in plain text or Markdown. It is taken apart in three steps: blank lines part it into passages; a passage
// is a heading, a break or some paragraphs; headings part these into chapters.
func (j *job) text(ctx context.Context, s source) error {
	body, err := j.readText(ctx, s, false)
	if err != nil {
		return err
	}
	name := filepath.Base(s.path)
	book, body := trimGutenberg(body)
	j.report.leaveOutMany("words of Project Gutenberg's header and licence", name, book.dropped)
	markdown := isMarkdown(s.path, body)
	if markdown {
		var front imprint
		front, body = trimFrontMatter(body)
		j.report.leaveOutMany("words of front matter", name, front.dropped)
		book.title, book.author = cmp.Or(book.title, front.title), cmp.Or(book.author, front.author)
	}
	o := newOutline(readPassages(body, markdown), markdown)
	if book.dropped > 0 && o.preface() <= maxTitlePage {
		j.report.leaveOutMany("words before the first heading", name, o.dropPreface())
	}
	return j.addOutline(ctx, o, book, s)
}

// maxTitlePage is how many words before the first heading of an archive's text are taken for a title page.
const maxTitlePage = 300

// imprint is what a book says of itself, with the number of words that said it.
type imprint struct {
	title, author string
	dropped       int
}

// addOutline writes the chapters of a book that is one file.
func (j *job) addOutline(ctx context.Context, o *outline, book imprint, s source) error {
	j.entitle(cmp.Or(book.title, o.title), book.author)
	chapters := o.chapters()
	j.report.leaveOutMany("headings without text", filepath.Base(s.path), o.empty)
	for i := range chapters {
		if chapters[i].title == "" {
			chapters[i].title = cmp.Or(book.title, o.title, stem(s.path))
		}
		if err := j.addChapter(ctx, &chapters[i]); err != nil {
			return err
		}
	}
	return nil
}

// entitle takes title and author of the first book that has them.
func (j *job) entitle(title, author string) {
	if j.report.Title == "" {
		j.report.Title, _ = cleanText(title)
		j.report.Author, _ = cleanText(author)
	}
}

// readText reads a whole source as clean UTF-8.
func (j *job) readText(ctx context.Context, s source, markup bool) (string, error) {
	f, err := s.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	r := decodeReader(j.progress.reader(ctx, f), s.path, j.options.Encoding, markup)
	data, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return "", readError(err, s.path)
	}
	if len(data) > maxText {
		return "", annotator.Errorf(annotator.Misused, "%s is longer than %d MiB", s.path, maxText>>20).
			WithAdvice("part it into several files and name them all")
	}
	return j.report.clean(string(data), filepath.Base(s.path)), nil
}

var (
	gutenbergStart = regexp.MustCompile(`(?m)^\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*$`)
	gutenbergEnd   = regexp.MustCompile(`(?m)^(?:\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG EBOOK|End of (?:the )?Project Gutenberg).*$`)
)

// trimGutenberg cuts the archive's header and licence off a text that has them.
func trimGutenberg(text string) (imprint, string) {
	start := gutenbergStart.FindStringIndex(text)
	if start == nil {
		return imprint{}, text
	}
	header, body := text[:start[1]], text[start[1]:]
	book := imprint{title: fieldOf(header, "Title"), author: fieldOf(header, "Author"), dropped: annotator.CountWords(header)}
	if end := gutenbergEnd.FindStringIndex(body); end != nil {
		book.dropped += annotator.CountWords(body[end[0]:])
		body = body[:end[0]]
	}
	return book, body
}

// fieldOf is the value of a line "Name: value", without quotation marks.
func fieldOf(header, name string) string {
	for line := range strings.Lines(header) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}
