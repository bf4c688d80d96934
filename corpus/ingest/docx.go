package ingest

import (
	"encoding/xml"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// docxStyle is what a style of Word says of its paragraphs.
type docxStyle struct {
	name, basedOn string
	outline       string // its outline level, from 0; "" if it has none
	bold, centred bool
}

// readDOCX makes a page of a Word document. Notes follow the paragraph that refers to them. Deleted text,
// comments, notes and running heads are elements of their own kinds, so that the account names them.
func readDOCX(a *archive) (string, error) {
	main := "word/document.xml"
	for _, r := range relations(a, "", "_rels/.rels") {
		if r.kind == "officeDocument" {
			main = r.target
		}
	}
	data, err := a.read(main)
	if err != nil {
		return "", notOffice("a Word document", main, err)
	}
	m := &manuscript{}
	r := &docxReader{manuscript: m, styles: map[string]docxStyle{}, notes: map[string]string{}}
	if core, err := readXML(a, "docProps/core.xml"); err == nil {
		m.title, m.author = core.first("title").words(), core.first("creator").words()
	}
	var others []relation
	for _, rel := range relations(a, main, path.Join(path.Dir(main), "_rels", path.Base(main)+".rels")) {
		switch rel.kind {
		case "styles":
			err = r.readStyles(a, rel.target)
		case "footnotes", "endnotes":
			err = r.readNotes(a, rel.target)
		case "header", "footer", "comments":
			others = append(others, rel)
		}
		if err != nil {
			return "", err
		}
	}
	if err := scanXML(data, r); err != nil {
		return "", notOffice("a Word document", main, err)
	}
	for _, id := range slices.Sorted(maps.Keys(r.notes)) {
		m.tag(r.notes[id]) // nothing refers to it
	}
	for _, rel := range others {
		part := "running-head"
		if rel.kind == "comments" {
			part = "comment"
		}
		data, err := a.read(rel.target)
		if annotator.KindOf(err) != "" {
			return "", err
		}
		m.tag(`<div epub:type="` + part + `">`)
		if err == nil && scanXML(data, &docxReader{manuscript: m, styles: r.styles, notes: r.notes}) != nil {
			m.open = nil // what was read so far is counted
		}
		m.tag("</div>")
	}
	return m.page(), nil
}

func notOffice(what, name string, err error) error {
	if annotator.KindOf(err) != "" {
		return err
	}
	return annotator.Errorf(annotator.Misused, "it is not %s that can be read: %q is %w", what, name, err).
		WithAdvice("open it in a word processor, save it again, and import that")
}

// relation is a file that another of the package refers to.
type relation struct{ kind, target string }

// relations reads the list of files that a part of the package refers to; nothing if it cannot be read.
func relations(a *archive, from, list string) []relation {
	document, err := readXML(a, list)
	if err != nil {
		return nil
	}
	var all []relation
	document.each("Relationship", func(e *element) {
		target := e.attr("Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(path.Dir(from), target)
		}
		if target = strings.TrimPrefix(target, "/"); safeName(target) && e.attr("TargetMode") != "External" {
			all = append(all, relation{path.Base(e.attr("Type")), target})
		}
	})
	return all
}

func (r *docxReader) readStyles(a *archive, name string) error {
	document, err := readXML(a, name)
	if err != nil {
		return stopsImport(err)
	}
	document.each("style", func(e *element) {
		properties := e.first("pPr")
		r.styles[e.attr("styleId")] = docxStyle{
			name: strings.ToLower(e.first("name").attr("val")), basedOn: e.first("basedOn").attr("val"),
			outline: properties.first("outlineLvl").attr("val"),
			centred: properties.first("jc").attr("val") == "center",
			bold:    isOn(e.first("rPr").first("b")),
		}
	})
	return nil
}

// stopsImport passes on what is wrong with the archive, and no more than one file that can be done without.
func stopsImport(err error) error {
	if annotator.KindOf(err) != "" || errors.Is(err, errTooDeep) {
		return err
	}
	return nil
}

// isOn reads a property that is on if it is there, unless its value is off.
func isOn(e *element) bool { return e.name != "" && isOnValue(e.attr("val")) }

func isOnValue(value string) bool {
	return value != "0" && value != "false" && value != "off" && value != "none"
}

// readNotes reads the texts of footnotes or endnotes, by their ids.
func (r *docxReader) readNotes(a *archive, name string) error {
	data, err := a.read(name)
	if err != nil {
		return stopsImport(err)
	}
	n := &docxReader{manuscript: &manuscript{}, styles: r.styles, notes: map[string]string{}, into: r.notes}
	return stopsImport(scanXML(data, n))
}

// docxReader turns the XML of Word into the paragraphs of a manuscript.
type docxReader struct {
	*manuscript
	styles map[string]docxStyle
	notes  map[string]string // as elements, by kind and id
	into   map[string]string // where the notes that are read go; nil in the document itself
	note   string            // the note that is read, its kind and id

	path    []string
	skipped int          // elements open of which nothing is read
	deleted int          // elements open whose text was deleted
	former  *msParagraph // it has lost its end
	bold    bool         // of the run
	hidden  bool
	runText bool // within the element of a run's text
}

// docxSkipped are the elements that hold no text, or the same text again.
var docxSkipped = setOf("instrText delInstrText Fallback tabs sectPrChange pPrChange rPrChange tblPrChange " +
	"binData")

func (r *docxReader) parent() string {
	if len(r.path) < 2 {
		return ""
	}
	return r.path[len(r.path)-2]
}

func (r *docxReader) start(name string, e *xml.StartElement) {
	r.path = append(r.path, name)
	if r.skipped > 0 || docxSkipped[name] {
		r.skipped++
		return
	}
	value := attributeOf(e, "val")
	switch name {
	case "p":
		p := r.begin()
		p.takeOver(r.former)
		r.former = nil
	case "r":
		r.bold, r.hidden = false, false
	case "t", "delText":
		r.runText = true
	case "del", "moveFrom":
		r.startDeleted()
	case "br":
		if kind := attributeOf(e, "type"); kind == "page" && r.paragraph().letters == 0 {
			r.paragraph().page = true
			return
		}
		r.paragraph().html.WriteString("<br>")
		r.paragraph().plain.WriteString("\n")
	case "cr":
		r.paragraph().html.WriteString("<br>")
	case "tab", "ptab":
		r.words(" ")
	case "noBreakHyphen":
		r.words("-")
	case "sym":
		r.words("•") // of a font of signs
	case "tbl":
		r.tag("<table>")
	case "tr":
		r.tag("<tr>")
	case "tc":
		r.tag("<td>")
	case "footnoteReference", "endnoteReference":
		if note := r.notes[strings.TrimSuffix(name, "Reference")+attributeOf(e, "id")]; note != "" {
			r.paragraph().behind = append(r.paragraph().behind, note)
			delete(r.notes, strings.TrimSuffix(name, "Reference")+attributeOf(e, "id"))
		}
	case "footnote", "endnote":
		r.manuscript, r.note = &manuscript{}, name+attributeOf(e, "id")
	default:
		r.property(name, value, attributeOf(e, "dropCap") != "" && attributeOf(e, "dropCap") != "none")
	}
}

// startDeleted begins text that was deleted, or, in the properties of a paragraph, notes that its end was.
func (r *docxReader) startDeleted() {
	switch {
	case r.parent() == "rPr" && len(r.path) > 2 && r.path[len(r.path)-3] == "pPr":
		r.paragraph().joined = true
	case r.parent() == "rPr", r.parent() == "trPr":
	default:
		r.deleted++
	}
}

// property takes the properties of paragraphs and runs.
func (r *docxReader) property(name, value string, dropCap bool) {
	p := r.paragraph
	switch parent := r.parent(); {
	case parent == "pPr" && name == "pStyle":
		r.style(p(), value)
	case parent == "pPr" && name == "outlineLvl":
		p().level = outlineLevel(value)
	case parent == "pPr" && name == "jc":
		p().centred = value == "center"
	case parent == "pPr" && name == "framePr" && dropCap:
		p().joined = true // the large first letter belongs to the paragraph behind it
	case parent == "pPr" && name == "pageBreakBefore":
		p().page = isOnValue(value)
	case parent == "rPr" && len(r.path) > 2 && r.path[len(r.path)-3] == "r":
		switch name {
		case "b":
			r.bold = isOnValue(value)
		case "vanish":
			r.hidden = isOnValue(value)
		}
	}
}

// maxStyles is how many styles one may be based on another.
const maxStyles = 16

// style gives a paragraph what its style says, and those that this is based on.
func (r *docxReader) style(p *msParagraph, id string) {
	for range maxStyles {
		s, ok := r.styles[id]
		if !ok {
			return
		}
		if number, ok := strings.CutPrefix(s.name, "heading "); ok && p.level == 0 {
			p.level, _ = strconv.Atoi(number)
		}
		if p.level == 0 {
			p.level = outlineLevel(s.outline)
		}
		if strings.HasPrefix(s.name, "toc ") || s.name == "table of figures" {
			p.part = "toc"
		}
		p.title = p.title || s.name == "title"
		p.bold, p.centred = p.bold || s.bold, p.centred || s.centred
		id = s.basedOn
	}
}

// outlineLevel is the level of a heading, from 1; 0 for body text.
func outlineLevel(value string) int {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < maxHeadingLevel {
		return n + 1
	}
	return 0
}

func (r *docxReader) words(text string) {
	part := ""
	switch {
	case r.deleted > 0:
		part = "deletion"
	case r.hidden:
		part = "unseen"
	}
	r.paragraph().words(text, r.bold, part)
}

func (r *docxReader) text(text string) {
	if r.runText && r.skipped == 0 {
		r.words(text)
	}
}

func (r *docxReader) end(name string) {
	parent := r.parent()
	r.path = r.path[:len(r.path)-1]
	if r.skipped > 0 {
		r.skipped--
		return
	}
	switch name {
	case "p":
		r.former = r.manuscript.end()
	case "t", "delText":
		r.runText = false
	case "del", "moveFrom":
		if parent != "rPr" && parent != "trPr" {
			r.deleted--
		}
	case "footnote", "endnote":
		if r.into != nil {
			r.into[r.note] = r.asNote("footnote")
		}
	case "tbl":
		r.tag("</table>")
	case "tr":
		r.tag("</tr>")
	case "tc":
		r.tag("</td>")
	}
}
