package ingest

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
)

// testBook returns a book that keeps some parts.
func testBook(keep ...string) *book {
	return &book{account: &Account{}, keep: func(part string) bool { return slices.Contains(keep, part) }}
}

// MarkupOf is the name of a text's markup that is not read; "" if it is read.
func MarkupOf(text string) string { return markupOf(text).name }

// ProseShare is the share of a text that is prose.
func ProseShare(text string) float64 { return proseShare(text) }

// Read reads a text, a page or a FictionBook into chapters, and returns these with the account.
func Read(format, text string, keep ...string) ([]Chapter, Account, error) {
	b := testBook(keep...)
	var err error
	switch format {
	case "markdown":
		err = b.readMarkdown(text)
	case "aozora":
		b.account.Source += countCharacters(text)
		b.readAozora(text)
	case "html", "tei":
		if format == "tei" {
			if text, err = readTEI(text); err != nil {
				break
			}
		}
		var p *page
		if p, err = b.readWholePage(text); err == nil {
			b.nodes = p.nodes
		}
	case "fb2":
		err = b.readFB2("", text)
	default:
		b.account.Source += countCharacters(text)
		b.readPassages(text)
	}
	if err != nil {
		return nil, *b.account, err
	}
	var all []Chapter
	for _, c := range b.chapters() {
		chapter := Chapter{Title: c.title}
		for _, paragraph := range c.blocks {
			if !paragraph.isBreak() {
				chapter.Paragraphs = append(chapter.Paragraphs, paragraph.text)
			}
		}
		all = append(all, chapter)
	}
	return all, *b.account, nil
}

// Chapter is a chapter as tests see it.
type Chapter struct {
	Title      string
	Paragraphs []string
}

// TextScenes is what a text becomes: a line "= title" for each chapter, then its scenes.
func TextScenes(text string, markdown bool, tokens int, keep ...string) []string {
	b := testBook(keep...)
	if markdown {
		if b.readMarkdown(text) != nil {
			return nil
		}
	} else {
		b.readPassages(text)
	}
	var all []string
	for _, c := range b.chapters() {
		if c.title == b.title { // for want of a heading
			c.title = ""
		}
		all = append(all, "= "+c.title)
		for _, scene := range cutScenes(c.blocks, tokens) {
			all = append(all, scene.text)
		}
	}
	return all
}

// BookScenes is what the bytes of an EPUB become; nothing if they are none.
func BookScenes(ctx context.Context, data []byte) []string {
	r, err := openBook(bytes.NewReader(data), int64(len(data)), &Report{})
	if err != nil {
		return nil
	}
	return scenesOf(ctx, r)
}

func scenesOf(ctx context.Context, r *bookReader) []string {
	r.book = testBook()
	for _, item := range r.publication.spine {
		if r.item(ctx, item) != nil {
			break
		}
	}
	var all []string
	for _, c := range r.book.chapters() {
		for _, scene := range cutScenes(c.blocks, 100) {
			all = append(all, scene.text)
		}
	}
	return all
}

// PageTexts are the paragraphs and headings of a document.
func PageTexts(document string) []string {
	p, err := readPage(CleanPage(document), pageOptions{keep: testBook().keep})
	if err != nil {
		return nil
	}
	var all []string
	for _, n := range p.nodes {
		all = append(all, n.text)
	}
	return all
}

// CleanPage makes any bytes the clean text that importers work on.
func CleanPage(document string) string {
	clean, _ := cleanText(strings.ToValidUTF8(document, "\uFFFD"))
	return clean
}

// CommentText is a board's comment as text, and what it quotes.
func CommentText(source string) (string, []int64) {
	c := commentText(source)
	return c.text, c.quotes
}

// LinePost reads a line of JSON as a post.
func LinePost(line []byte) (*forumPost, error) {
	return newLines(nil).post(line, 1)
}

// Decode turns bytes into UTF-8.
func Decode(data []byte, encoding string, markup bool) (string, error) {
	text, err := io.ReadAll(decodeReader(bytes.NewReader(data), "file", encoding, markup))
	return string(text), err
}

// Guess turns a whole source into UTF-8, and names the encoding if it was found by trial.
func Guess(data []byte) (text, encoding string, err error) { return decode(data, "file", "", false) }

// CutScenes cuts paragraphs, "" being a break, into scenes.
func CutScenes(paragraphs []string, target int) []string {
	blocks := make([]block, len(paragraphs))
	for i, p := range paragraphs {
		blocks[i] = block{text: p}
	}
	var all []string
	for _, scene := range cutScenes(blocks, target) {
		all = append(all, scene.text)
	}
	return all
}

// Estimate is the number of tokens that a text is taken for.
func Estimate(text string) int { return estimate(text) }

// CountCharacters counts what is no white space.
func CountCharacters(text string) int { return countCharacters(text) }

// Heading is a line read as a heading: its kind, number and title.
func Heading(line string) (kind string, number int, title string) {
	w := readHeading(line)
	return string(w.kind), w.number, w.title
}

// Dated reports whether a line is read as a date.
func Dated(line string) bool { return words().readDate(line) }

// BoardFields reads the JSON of a board, and returns how many posts and chapters it has; no job keeps them.
func BoardFields(data []byte) (posts, chapters int) {
	j := &job{report: &Report{}, forum: newForum()}
	j.lines = newLines(j)
	discard := func(context.Context, *forumPost, string) error { return nil }
	r := newBoardReader(j, discard, "board", bytes.NewReader(data))
	for {
		if _, err := r.value(context.Background(), 0); err != nil {
			return r.posts, r.chapters
		}
	}
}

// KindleScenes is what the bytes of a Kindle book become; nothing if they are none.
func KindleScenes(ctx context.Context, data []byte) []string {
	r, err := readKindle(data, &Report{})
	if err != nil {
		return nil
	}
	return scenesOf(ctx, r)
}

// PDFScenes is what the bytes of a PDF document become; nothing if they are none.
func PDFScenes(ctx context.Context, data []byte) []string {
	r, err := readPDF(data, &Report{})
	if err != nil {
		return nil
	}
	return scenesOf(ctx, r)
}

// Members are the names of the files that an archive is unpacked to, with the bytes of all.
func Members(data []byte) (names []string, size int) {
	all, _ := readMembers(source{path: "a.gz", data: data, size: int64(len(data))}, &Report{})
	for _, m := range all {
		names, size = append(names, m.name), size+len(m.data)
	}
	return names, size
}

// PageOf is the page that is made of a document that is none.
func PageOf(format Format, data []byte) (string, error) {
	switch format {
	case RTF:
		return readRTF(data)
	case TEI:
		return readTEI(CleanPage(string(data)))
	}
	a, err := openArchive(bytes.NewReader(data), int64(len(data)), &Report{})
	switch {
	case err != nil:
		return "", err
	case format == DOCX:
		return readDOCX(a)
	default:
		return readODT(a)
	}
}

// BookAccount is the account of an EPUB.
func BookAccount(ctx context.Context, data []byte) Account {
	r, err := openBook(bytes.NewReader(data), int64(len(data)), &Report{})
	if err != nil {
		return Account{}
	}
	r.book = testBook()
	for _, item := range r.publication.spine {
		if r.item(ctx, item) != nil {
			return Account{}
		}
	}
	r.book.chapters()
	return *r.book.account
}
