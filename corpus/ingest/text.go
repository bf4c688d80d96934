package ingest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"annotator"
)

// maxText bounds a book that is read as a whole, in bytes.
const maxText = 512 << 20

// maxMarkdownLines bounds the memory of a book in Markdown, which needs some for each line.
const maxMarkdownLines = 1_500_000

// whole is the importer of a format whose books are a file each, read as a whole.
func (j *job) whole(markup bool, read func(b *book, path, text string) error) func(context.Context, source) error {
	return func(ctx context.Context, s source) error {
		text, err := j.readText(ctx, s, markup)
		if err != nil {
			return err
		}
		b := j.newBook(s)
		if err := read(b, s.path, text); err != nil {
			return annotator.Errorf(annotator.Misused, "read %s: %w", s.path,
				err).WithAdvice("save it as plain text, or make an EPUB of it, and import that")
		}
		return j.addBook(ctx, b)
	}
}

// readPlain reads a plain text or Markdown.
func (b *book) readPlain(path, text string) error {
	if isMarkdown(path, text) {
		if strings.Count(text, "\n") > maxMarkdownLines {
			return fmt.Errorf("it is Markdown of more than %d lines", maxMarkdownLines)
		}
		return b.readMarkdown(text)
	}
	b.account.Source += countCharacters(text)
	if isAozora(text) {
		b.readAozora(text)
	} else {
		b.readPassages(text)
	}
	return nil
}

// newBook is a book that a source is read into. In a folder a file is a document.
func (j *job) newBook(s source) *book {
	b := &book{name: stem(s.path), keep: j.keeps, account: &j.report.Account}
	if len(j.sources) > 1 {
		b.doc = filepath.Base(s.path)
	}
	return b
}

// addBook writes the chapters of a book.
func (j *job) addBook(ctx context.Context, b *book) error {
	b.one = j.oneEach
	chapters := b.chapters()
	j.entitle(b.title, b.author)
	for i := range chapters {
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

// readData reads a whole source.
func (j *job) readData(ctx context.Context, s source) ([]byte, error) {
	if s.data != nil {
		return s.data, nil
	}
	f, err := s.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var read bytes.Buffer
	read.Grow(int(min(s.size, maxText)) + 2*bytes.MinRead) // so that it does not grow by copies
	if _, err := read.ReadFrom(io.LimitReader(j.progress.reader(ctx, f), maxText+1)); err != nil {
		return nil, readError(err, s.path)
	}
	if read.Len() > maxText {
		return nil, tooLong(s.path)
	}
	return read.Bytes(), nil
}

// readText reads a whole source as clean UTF-8.
func (j *job) readText(ctx context.Context, s source, markup bool) (string, error) {
	data, err := j.readData(ctx, s)
	if err != nil {
		return "", err
	}
	text, name, err := decode(data, s.path, j.options.Encoding, markup)
	switch {
	case err != nil:
		return "", err
	case len(text) > maxText:
		return "", tooLong(s.path)
	}
	if name != "" {
		j.report.note("%s is read as %s, the one encoding in which it is text", filepath.Base(s.path), name)
	}
	return j.report.clean(text, filepath.Base(s.path)), nil
}

func tooLong(path string) error {
	return annotator.Errorf(annotator.Misused, "%s is longer than %d MiB", path, maxText>>20).
		WithAdvice("part it into several files and name them all")
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

var archiveTitle = regexp.MustCompile(`(?i)Project Gutenberg(?:['’]s)? (?:e-?book|e-?text) of (.+?),? by ([^*]+?)\**$`)

// fieldHeading is a heading that gives data: "Title: Candide".
var fieldHeading = regexp.MustCompile(`(?i)^\s*(?:title|author|year|translator|language|date|publisher|source|` +
	`illustrator|series)\s*:`)

// headerNodes is how far into a text its header is looked for.
const headerNodes = 60

// readHeader takes title and author from the header of an archive's text, from a first line "X, by Y", or from
// headings. Such headings are left out.
func (b *book) readHeader() {
	head := b.nodes[:min(len(b.nodes), headerNodes)]
	archived := mentionsArchive(head)
	begun := false
	for i, n := range head {
		begun = begun || n.hasText() && annotator.CountWords(n.text) > maxEntryWords
		field := n.kind == heading && !begun && fieldHeading.MatchString(n.text)
		if field || archived && n.inSource() {
			for _, line := range n.sourceLines() {
				b.title, b.author = cmp.Or(b.title, fieldOf(line, "Title")), cmp.Or(b.author, fieldOf(line, "Author"))
			}
		}
		if field {
			b.leave(n, partTitlePage)
		}
		if !n.inSource() || !archived && i > 2 {
			continue
		}
		text := strings.TrimSpace(n.text)
		if len(n.text) > maxHeading {
			continue
		}
		if match := archiveTitle.FindStringSubmatch(text); match != nil && archived &&
			strings.Contains(strings.ToLower(text), "etext") {
			b.title, b.author = cmp.Or(b.title, match[1]), cmp.Or(b.author, match[2])
		} else if match := byLine.FindStringSubmatch(text); match != nil && match[1] != "" && !archived &&
			b.title == "" {
			b.title, b.author = strings.TrimSpace(match[1]), cmp.Or(b.author, match[2])
		}
	}
}

// pageMark is the number of a printed page as transcribers set it into a text.
var pageMark = regexp.MustCompile(`\s?(?:\[(?:[Pp]g|[Pp]age|[Pp])\.? ?(?:\d{1,4}|[ivxlcIVXLC]{1,8})\]|\{(?:(?:[Pp]g|` +
	`[Pp]age|[Pp])?\.? ?(?:\d{1,4}|[ivxlc]{1,8}))\})`)

// dropPageMarks takes the numbers of pages out of the text.
func (b *book) dropPageMarks() {
	if b.keep(partPageMarks) {
		return
	}
	for _, n := range b.nodes {
		if !n.inSource() || !strings.ContainsAny(n.text, "[{") || !pageMark.MatchString(n.text) {
			continue
		}
		for _, mark := range pageMark.FindAllString(n.text, -1) {
			b.account.leaveOut(partPageMarks, mark)
		}
		n.text = strings.TrimSpace(pageMark.ReplaceAllString(n.text, ""))
		for k := range n.lines {
			n.lines[k] = pageMark.ReplaceAllString(n.lines[k], "")
		}
		if n.text == "" {
			n.kind = anchor
		}
	}
}
