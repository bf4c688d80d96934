package ingest

import (
	"encoding/xml"
	"html"
	"strconv"
	"strings"

	"annotator"
)

// odtStyle is what a style of OpenDocument says of its paragraphs or words.
type odtStyle struct {
	parent        string
	level         int
	bold, centred bool
	hidden, page  bool
}

// readODT makes a page of an OpenDocument text, as readDOCX does.
func readODT(a *archive) (string, error) {
	if encrypted, err := readXML(a, "META-INF/manifest.xml"); err == nil &&
		encrypted.first("encryption-data").name != "" {
		return "", annotator.Errorf(annotator.Misused, "it is protected by a password").
			WithAdvice("open it, save it without the password, and import that")
	}
	m := &manuscript{}
	r := &odtReader{manuscript: m, styles: map[string]odtStyle{}}
	if meta, err := readXML(a, "meta.xml"); err == nil {
		m.title, m.author = meta.first("title").words(), meta.first("initial-creator").words()
	}
	if data, err := a.read("styles.xml"); err == nil {
		m.tag(`<div epub:type="running-head">`)
		if err := stopsImport(scanXML(data, r)); err != nil {
			return "", err
		}
		m.tag("</div>")
	} else if annotator.KindOf(err) != "" {
		return "", err
	}
	data, err := a.read("content.xml")
	if err == nil {
		err = scanXML(data, r)
	}
	if err != nil {
		return "", notOffice("an OpenDocument text", "content.xml", err)
	}
	return m.page(), nil
}

// readFlatODT makes a page of an OpenDocument text that is a single XML file.
func readFlatODT(data []byte) (string, error) {
	r := &odtReader{manuscript: &manuscript{}, styles: map[string]odtStyle{}}
	if err := scanXML(data, r); err != nil {
		return "", notOffice("an OpenDocument text", "its text", err)
	}
	return r.page(), nil
}

// odtReader turns the XML of OpenDocument into the paragraphs of a manuscript.
type odtReader struct {
	*manuscript
	styles map[string]odtStyle
	style  string // that is being defined

	path    []string
	skipped int      // elements open of which nothing is read
	spans   []string // the styles of open paragraphs and spans
	parts   []string // the parts that open elements are, each "" or as EPUB's vocabulary has it
	inText  int      // paragraphs open: other text is white space
	space   bool     // white space was read last: more is one
	picture bool     // within the description of a picture
	outer   []odtOuter
}

// odtOuter is the document around a note or a comment.
type odtOuter struct {
	*manuscript
	spans []string
}

var odtSkipped = setOf("note-citation binary-data script event-listeners creator date sender-initials creation-date " +
	"editing-cycles editing-duration generator meta-editable user-defined language sequence-decls forms " +
	"tracked-changes-info change-info")

// odtParts are the elements that are no part of the story.
var odtParts = map[string]string{
	"tracked-changes": "deletion", "table-of-content": "toc", "illustration-index": "loi",
	"alphabetical-index": "index", "bibliography": "bibliography", "ruby-text": "reading",
	"header": "running-head", "footer": "running-head", "header-left": "running-head", "footer-left": "running-head",
}

func (r *odtReader) start(name string, e *xml.StartElement) {
	r.path = append(r.path, name)
	r.parts = append(r.parts, odtParts[name])
	if r.skipped > 0 || odtSkipped[name] {
		r.skipped++
		return
	}
	switch name {
	case "style":
		r.defineStyle(e)
	case "text-properties", "paragraph-properties":
		r.describe(e)
	case "p", "h":
		r.startParagraph(name, e)
	case "span":
		r.spans = append(r.spans, attributeOf(e, "style-name"))
	case "s":
		r.words(" ")
	case "tab":
		r.words(" ")
	case "line-break":
		r.paragraph().html.WriteString("<br>")
		r.paragraph().plain.WriteString("\n")
		r.space = true
	case "title", "desc":
		r.picture = strings.Contains(e.Name.Space, "svg")
	case "note", "annotation":
		r.outer = append(r.outer, odtOuter{r.manuscript, r.spans})
		r.manuscript, r.spans = &manuscript{}, nil
	case "table":
		r.tag("<table>")
	case "table-row":
		r.tag("<tr>")
	case "table-cell":
		r.tag("<td>")
	}
}

func (r *odtReader) defineStyle(e *xml.StartElement) {
	r.style = attributeOf(e, "name")
	s := odtStyle{parent: attributeOf(e, "parent-style-name")}
	s.level, _ = strconv.Atoi(attributeOf(e, "default-outline-level"))
	r.styles[r.style] = s
}

// describe adds properties to the style that is being defined.
func (r *odtReader) describe(e *xml.StartElement) {
	s, ok := r.styles[r.style]
	if !ok || len(r.path) < 2 || r.path[len(r.path)-2] != "style" {
		return
	}
	weight := attributeOf(e, "font-weight")
	s.bold = s.bold || weight == "bold" || len(weight) == 3 && weight >= "600" && weight <= "900"
	s.centred = s.centred || attributeOf(e, "text-align") == "center"
	s.page = s.page || attributeOf(e, "break-before") == "page"
	s.hidden = s.hidden || e.Name.Local == "text-properties" && attributeOf(e, "display") == "none"
	r.styles[r.style] = s
}

func (r *odtReader) startParagraph(name string, e *xml.StartElement) {
	p := r.begin()
	r.inText++
	r.space = true
	style := attributeOf(e, "style-name")
	r.spans = append(r.spans, style)
	if name == "h" {
		p.level, _ = strconv.Atoi(attributeOf(e, "outline-level"))
		p.level = min(max(p.level, 1), maxHeadingLevel)
	}
	for range maxStyles {
		s, ok := r.styles[style]
		p.title = p.title || style == "Title"
		if !ok {
			break
		}
		p.bold, p.centred, p.page = p.bold || s.bold, p.centred || s.centred, p.page || s.page
		if p.level == 0 && s.level > 0 {
			p.level = min(s.level, maxHeadingLevel)
		}
		style = s.parent
	}
	if part := r.part(); part != "" {
		p.part = part
	}
}

// part is the part that the open element is in; "" for the story.
func (r *odtReader) part() string {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if r.parts[i] != "" {
			return r.parts[i]
		}
	}
	return ""
}

func (r *odtReader) words(text string) {
	bold, part := false, ""
	for _, name := range r.spans {
		for range maxStyles {
			s, ok := r.styles[name]
			if !ok {
				break
			}
			bold = bold || s.bold
			if s.hidden {
				part = "unseen"
			}
			name = s.parent
		}
	}
	if inner := r.part(); inner != "" && r.paragraph().part != inner {
		part = inner
	}
	r.space = false
	r.paragraph().words(text, bold, part)
}

// text takes the text of paragraphs, in which white space is one space.
func (r *odtReader) text(text string) {
	switch {
	case r.skipped > 0:
		return
	case r.picture && r.inText == 0:
		return
	case r.picture:
		r.paragraph().html.WriteString(`<img alt="` + html.EscapeString(text) + `">`)
		return
	case r.inText == 0:
		r.meta(strings.TrimSpace(text))
		return
	}
	var b strings.Builder
	for _, c := range text {
		if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			if !r.space {
				b.WriteByte(' ')
			}
			r.space = true
			continue
		}
		r.space = false
		b.WriteRune(c)
	}
	if b.Len() > 0 {
		space := r.space
		r.words(b.String())
		r.space = space
	}
}

// meta takes title and author of a document that is a single file.
func (r *odtReader) meta(text string) {
	switch name := r.path[max(0, len(r.path)-1):]; {
	case text == "" || len(name) == 0:
	case name[0] == "title" && r.title == "":
		r.title = text
	case name[0] == "initial-creator" && r.author == "":
		r.author = text
	}
}

func (r *odtReader) end(name string) {
	r.path, r.parts = r.path[:len(r.path)-1], r.parts[:len(r.parts)-1]
	if r.skipped > 0 {
		r.skipped--
		return
	}
	switch name {
	case "style":
		r.style = ""
	case "title", "desc":
		r.picture = false
	case "p", "h":
		r.inText--
		r.spans = r.spans[:len(r.spans)-1]
		r.manuscript.end()
	case "span":
		r.spans = r.spans[:len(r.spans)-1]
	case "note", "annotation":
		kind := "footnote"
		if name == "annotation" {
			kind = "comment"
		}
		note := r.asNote(kind)
		last := r.outer[len(r.outer)-1]
		r.outer = r.outer[:len(r.outer)-1]
		r.manuscript, r.spans = last.manuscript, last.spans
		if note != "" {
			r.paragraph().behind = append(r.paragraph().behind, note)
		}
	case "table":
		r.tag("</table>")
	case "table-row":
		r.tag("</tr>")
	case "table-cell":
		r.tag("</td>")
	}
}
