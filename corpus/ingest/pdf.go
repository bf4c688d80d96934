package ingest

import (
	"context"
	"errors"
	"fmt"
	"html"
	"strings"

	"annotator"
	"annotator/corpus/ingest/pdf"
)

// pdf reads a PDF document as an EPUB of one page is read, with the outline as its table of contents.
func (j *job) pdf(ctx context.Context, s source) error {
	data, err := j.readData(ctx, s)
	if err != nil {
		return err
	}
	b, err := readPDF(data, j.report)
	if err != nil {
		return inFile(s.path, err)
	}
	return j.spine(ctx, s, b)
}

func readPDF(data []byte, report *Report) (*bookReader, error) {
	b, err := pdf.Read(data)
	if err != nil {
		advice := "get the file again, or make an EPUB of it: ebook-convert FILE book.epub"
		switch {
		case errors.Is(err, pdf.ErrEncrypted):
			advice = "make a copy without the password: qpdf --decrypt FILE copy.pdf"
		case errors.Is(err, pdf.ErrNoText):
			advice = "let a program for character recognition read it first: ocrmypdf --force-ocr FILE copy.pdf"
		}
		return nil, annotator.Errorf(annotator.Misused, "%w", err).WithAdvice("%s", advice)
	}
	if b.Unordered > 0 {
		report.note("%d of %d pages of the PDF document have columns or tables; their text is in the order of "+
			"the file, which may not be that of reading", b.Unordered, b.Pages)
	}
	if b.Uncertain > 0 {
		report.note("%d lines at the edges of pages come again but do not stand apart; they are in the text, and "+
			"may be running heads", b.Uncertain)
	}
	if b.Unknown > 0 {
		report.note("%d characters are not known, as their fonts do not say what they are", b.Unknown)
	}
	if b.Broken > 0 {
		report.note("%d parts of the PDF document are damaged, and text may be missing", b.Broken)
	}
	const only = "document"
	p := &publication{title: b.Title, author: b.Author, toc: map[string][]tocEntry{}, matter: map[string]string{}}
	p.spine = []spineItem{{name: only, linear: true}}
	leads := map[int]bool{}
	for _, e := range b.Contents {
		leads[e.Paragraph] = true
		p.toc[only] = append(p.toc[only],
			tocEntry{label: e.Label, fragment: fmt.Sprintf("p%d", e.Paragraph), depth: e.Depth, leaf: e.Leaf})
	}
	made := madeFiles{only: pdfPage(b, leads)}
	return &bookReader{archive: made, publication: p, report: report}, nil
}

// pdfPage writes the paragraphs as a page. Entries of the outline lead to those that have an id.
func pdfPage(b *pdf.Book, leads map[int]bool) string {
	var page strings.Builder
	page.WriteString("<html><head></head><body>\n")
	for i, p := range b.Paragraphs {
		if leads[i] {
			fmt.Fprintf(&page, `<a id="p%d"></a>`, i)
		}
		text, name := html.EscapeString(p.Text), "p"
		if p.Bold {
			text = "<b>" + text + "</b>"
		}
		switch {
		case p.Kind == pdf.RunningHead:
			text = `<span epub:type="running-head">` + text + "</span>"
		case p.Kind == pdf.PageNumber:
			text = `<span epub:type="pagebreak">` + text + "</span>"
		case p.Level > 0:
			name = fmt.Sprintf("h%d", p.Level)
		}
		fmt.Fprintf(&page, "<%s>%s</%s>\n", name, text, name)
	}
	page.WriteString("</body></html>")
	return page.String()
}
