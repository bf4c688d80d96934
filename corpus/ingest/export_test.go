package ingest

import (
	"bytes"
	"context"
	"io"
	"strings"
)

// TextScenes is what a text becomes: a line "= title" for each chapter, then its scenes.
func TextScenes(text string, markdown bool, tokens int) []string {
	var all []string
	for _, c := range newOutline(readPassages(text, markdown), markdown).chapters() {
		all = append(all, "= "+c.title)
		all = append(all, cutScenes(c.blocks, tokens)...)
	}
	return all
}

// BookScenes is what the bytes of an EPUB become; nothing if they are none.
func BookScenes(ctx context.Context, data []byte) []string {
	b, err := openBook(bytes.NewReader(data), int64(len(data)), &Report{})
	if err != nil {
		return nil
	}
	var all []string
	b.emit = func(_ context.Context, c *chapter) error {
		all = append(all, cutScenes(c.blocks, 100)...)
		return nil
	}
	for _, item := range b.publication.spine {
		if b.item(ctx, item) != nil {
			break
		}
	}
	_ = b.close(ctx)
	return all
}

// PageTexts are the paragraphs and headings of a document.
func PageTexts(document string) []string {
	p, err := readPage(CleanPage(document), nil)
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

// CutScenes cuts paragraphs, "" being a break, into scenes.
func CutScenes(paragraphs []string, target int) []string {
	blocks := make([]block, len(paragraphs))
	for i, p := range paragraphs {
		blocks[i] = block{p}
	}
	return cutScenes(blocks, target)
}

// Estimate is the number of tokens that a text is taken for.
func Estimate(text string) int { return estimate(text) }
