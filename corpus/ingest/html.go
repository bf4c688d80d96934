package ingest

import (
	"bytes"
	"context"
	"io"
	"path"
	"path/filepath"
	"strings"

	"annotator"

	"golang.org/x/net/html"
)

// html reads a book that is a single page: its headings part it into chapters.
func (j *job) html(ctx context.Context, s source) error {
	text, err := j.readText(ctx, s, true)
	if err != nil {
		return err
	}
	page, err := readPage(text, nil)
	if err != nil {
		return annotator.Errorf(annotator.Misused, "read %s: %w", s.path, err).WithAdvice("save it as plain text and import that")
	}
	name := filepath.Base(s.path)
	j.report.leaveOutMany("sections of front and back matter", name, page.matter)
	j.report.leaveOutMany("footnotes and endnotes", name, page.notes)
	return j.addOutline(ctx, newOutline(page.nodes, true), imprint{title: pageTitle(text)}, s)
}

// pageTitle is what the head of a page says that it is called.
func pageTitle(document string) string {
	z := html.NewTokenizer(strings.NewReader(document))
	for inside := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			name, _ := z.TagName()
			if inside = string(name) == "title"; string(name) == "body" {
				return ""
			}
		case html.TextToken:
			if inside {
				return strings.Join(strings.Fields(string(z.Text())), " ")
			}
		}
	}
}

// decodeMarkup turns a file of an archive into UTF-8, by its mark or its declaration. The encoding is that of files that
// have neither and are no UTF-8; "" if there is none.
func decodeMarkup(data []byte, name, encoding string) (string, error) {
	for _, encoding := range []string{"", encoding} {
		text, err := io.ReadAll(decodeReader(bytes.NewReader(data), path.Base(name), encoding, true))
		if err == nil {
			return string(text), nil
		}
	}
	return "", errNoText
}
