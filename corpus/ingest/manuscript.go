package ingest

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"strings"

	"annotator"

	"golang.org/x/net/html/charset"
)

// manuscript is a document of a word processor on its way to a page. As a page it is read like any other: one reader
// finds what is left out, counts the text and knows the places of paragraphs.
type manuscript struct {
	title, author string
	blocks        []msBlock
	open          []*msParagraph // a text box within a paragraph holds paragraphs
	titled        int            // paragraphs in the style of the document's title
}

// msBlock is a paragraph, or a tag around paragraphs.
type msBlock struct {
	html  string
	level int    // of a heading; 0 for others
	title bool   // it has the style of the document's title
	part  string // a kind of matter, as EPUB calls it
	plain string // the text; "" for a blank paragraph
	alone bool   // by its form it may be a heading: all bold, centred
	tag   bool   // it is no paragraph
}

// msParagraph is an open paragraph.
type msParagraph struct {
	level           int
	title           bool
	part            string
	bold, centred   bool
	page            bool // it begins a page
	joined          bool // its end was deleted: the next paragraph goes on with it
	html, plain     strings.Builder
	letters, strong int
	behind          []string // notes, as elements
}

// begin opens a paragraph.
func (m *manuscript) begin() *msParagraph {
	p := &msParagraph{}
	m.open = append(m.open, p)
	return p
}

// paragraph is the open one. Text outside of paragraphs has one of its own.
func (m *manuscript) paragraph() *msParagraph {
	if len(m.open) == 0 {
		return m.begin()
	}
	return m.open[len(m.open)-1]
}

// end closes the open paragraph, and returns it if the next one goes on with it.
func (m *manuscript) end() *msParagraph {
	if len(m.open) == 0 {
		return nil
	}
	p := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	if p.joined {
		return p
	}
	if p.page {
		m.tag("<section></section>")
	}
	plain := strings.TrimSpace(p.plain.String())
	text := p.html.String()
	if p.centred && !p.bold && p.letters > 0 {
		text = "<b>" + text + "</b>" // of the same worth as evidence of a heading
	}
	if p.title && plain != "" {
		m.titled++
	}
	m.blocks = append(m.blocks, msBlock{
		html: text, level: p.level, title: p.title, part: p.part, plain: plain,
		alone: p.centred || p.letters > 0 && p.strong == p.letters,
	})
	for _, note := range p.behind {
		m.tag(note)
	}
	return nil
}

// tag adds markup around or between paragraphs.
func (m *manuscript) tag(html string) { m.blocks = append(m.blocks, msBlock{html: html, tag: true}) }

// words adds text to a paragraph.
func (p *msParagraph) words(text string, bold bool, part string) {
	n := countCharacters(text)
	p.letters += n
	escaped := html.EscapeString(text)
	if bold || p.bold {
		p.strong += n
		escaped = "<b>" + escaped + "</b>"
	}
	if part != "" {
		escaped = `<span epub:type="` + part + `">` + escaped + "</span>"
	} else {
		p.plain.WriteString(text)
	}
	p.html.WriteString(escaped)
}

// takeOver begins a paragraph with what a deleted end has joined to it.
func (p *msParagraph) takeOver(former *msParagraph) {
	if former == nil {
		return
	}
	p.html.WriteString(former.html.String())
	p.plain.WriteString(former.plain.String())
	p.letters, p.strong, p.behind = p.letters+former.letters, p.strong+former.strong, append(former.behind, p.behind...)
}

// page writes the document as a page. If the document has a title in the title's style, headings are below it.
func (m *manuscript) page() string {
	for len(m.open) > 0 {
		m.open[len(m.open)-1].joined = false
		m.end()
	}
	below := 0
	if m.titled == 1 {
		below = 1
	}
	breaks := m.breaks()
	var b strings.Builder
	b.WriteString("<html><head>")
	title := m.title
	for _, block := range m.blocks {
		if block.title && m.titled == 1 && block.plain != "" {
			title = block.plain
		}
	}
	for name, content := range map[string]string{"dc.title": title, "author": m.author} {
		if content != "" {
			fmt.Fprintf(&b, "<meta name=%q content=\"%s\">", name, html.EscapeString(content))
		}
	}
	b.WriteString("</head><body>\n")
	for i, block := range m.blocks {
		level := block.level
		switch {
		case block.tag:
			b.WriteString(block.html)
			continue
		case breaks[i]:
			b.WriteString("<hr>\n")
			continue
		case block.html == "":
			continue
		case block.title && m.titled == 1:
			level = 1
		case level > 0:
			level = min(level+below, 6)
		}
		name := "p"
		if level > 0 {
			name = fmt.Sprintf("h%d", level)
		}
		text := "<" + name + ">" + block.html + "</" + name + ">"
		if block.part != "" {
			text = `<div epub:type="` + block.part + `">` + text + "</div>"
		}
		b.WriteString(text + "\n")
	}
	b.WriteString("</body></html>")
	return b.String()
}

// asNote is the document as an element of a kind, of EPUB's or ours: a note, a comment; "" if it has no text.
func (m *manuscript) asNote(kind string) string {
	for len(m.open) > 0 {
		m.open[len(m.open)-1].joined = false
		m.end()
	}
	var b strings.Builder
	for _, block := range m.blocks {
		if !block.tag && block.html != "" {
			b.WriteString("<p>" + block.html + "</p>")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return `<aside epub:type="` + kind + `">` + b.String() + "</aside>"
}

// breaks are the blank paragraphs that part scenes. Where there are many, and next to headings, they are
// only space.
func (m *manuscript) breaks() map[int]bool {
	var blanks []int
	texts := 0
	for i, block := range m.blocks {
		switch {
		case block.tag:
		case block.plain != "":
			texts++
		case block.html == "" && (len(blanks) == 0 || blanks[len(blanks)-1] != i-1):
			blanks = append(blanks, i)
		}
	}
	found := map[int]bool{}
	if len(blanks)*4 > texts {
		return found
	}
	for _, i := range blanks {
		found[i] = m.isProse(i, -1) && m.isProse(i, 1)
	}
	return found
}

// isProse reports whether the nearest paragraph in a direction is no heading by its form.
func (m *manuscript) isProse(i, step int) bool {
	for i += step; i >= 0 && i < len(m.blocks); i += step {
		if b := m.blocks[i]; b.tag || b.plain != "" {
			return !b.tag && b.level == 0 && !b.title && !b.alone && b.part == "" && !isHeadingLine(b.plain)
		}
	}
	return false
}

// xmlReader takes an XML document as it passes by.
type xmlReader interface {
	start(name string, e *xml.StartElement)
	end(name string)
	text(text string)
}

// scanXML reads a document of any length. Entities that it defines itself are never expanded.
func scanXML(data []byte, r xmlReader) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = charset.NewReaderLabel
	d.Entity = xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("broken XML: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errTooDeep
			}
			r.start(token.Name.Local, &token)
		case xml.EndElement:
			depth--
			r.end(token.Name.Local)
		case xml.CharData:
			r.text(string(token))
		}
	}
}

// attributeOf is the value of an attribute, whatever its namespace; "" if there is none.
func attributeOf(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// packed is the importer of a format whose books are zip archives that a page is made of.
func (j *job) packed(read func(*archive) (string, error)) func(context.Context, source) error {
	return func(ctx context.Context, s source) error {
		f, err := s.open()
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		a, err := openArchive(f, s.size, j.report)
		if err != nil {
			return inFile(s.path, err)
		}
		document, err := read(a)
		if err != nil {
			return inFile(s.path, err)
		}
		return j.madePage(ctx, s, document)
	}
}

// madePage imports a page that was made of a source.
func (j *job) madePage(ctx context.Context, s source, document string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := j.newBook(s)
	if err := b.readHTML("", j.report.clean(document, filepath.Base(s.path))); err != nil {
		return annotator.Errorf(annotator.Misused, "read %s: %w", s.path, err).
			WithAdvice("save it as plain text, or make an EPUB of it, and import that")
	}
	j.progress.set(s.size)
	return j.addBook(ctx, b)
}

// odt imports an OpenDocument text, an archive or a single file.
func (j *job) odt(ctx context.Context, s source) error {
	head := s.data // of an archive
	if head == nil {
		var err error
		if head, err = readHead(s.path); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(head, []byte(zipMark)) {
		return j.packed(readODT)(ctx, s)
	}
	text, err := j.readText(ctx, s, true)
	if err != nil {
		return err
	}
	document, err := readFlatODT([]byte(text))
	if err != nil {
		return inFile(s.path, err)
	}
	return j.madePage(ctx, s, document)
}
