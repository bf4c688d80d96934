package ingest

import (
	"context"
	"encoding/xml"
	"html"
	"slices"
	"strings"
)

// tei imports a text that is encoded as the guidelines of the TEI say.
func (j *job) tei(ctx context.Context, s source) error {
	text, err := j.readText(ctx, s, true)
	if err != nil {
		return err
	}
	document, err := readTEI(text)
	if err != nil {
		return inFile(s.path, err)
	}
	return j.madePage(ctx, s, document)
}

// readTEI makes a page of a TEI document: divisions nest as headings do.
func readTEI(text string) (string, error) {
	r := &teiReader{manuscript: &manuscript{}}
	if err := scanXML([]byte(text), r); err != nil {
		return "", notOffice("a TEI document", "its text", err)
	}
	return r.page(), nil
}

// isTEI recognises TEI by its namespace, or by the element of the editions before it had one.
func isTEI(head string) bool {
	return strings.HasPrefix(head, "<") && (strings.Contains(head, "http://www.tei-c.org/ns/") ||
		strings.Contains(head, "<TEI.2"))
}

// teiReader turns TEI into the paragraphs of a manuscript.
type teiReader struct {
	*manuscript
	path   []string
	parts  []string // the part that each open element is; "" for none
	depth  int      // divisions open
	within int      // texts open that stand within another: a song, a letter. Their divisions are none of the book
	verse  int      // groups of lines open
	bolds  int      // open elements in bold
	header bool     // within the description of the document
	choice int      // choices open
	outer  []*manuscript
}

var (
	teiBlocks = setOf("p ab head item label speaker stage cell byline trailer titlePart docAuthor docImprint " +
		"opener closer salute signed dateline argument figDesc sp quote cit epigraph castItem list")
	teiDivisions = setOf("div div1 div2 div3 div4 div5 div6 div7")
	// of each choice, the spelling of the source where the editor has another
	teiOriginals = setOf("sic orig abbr")
	teiParts     = map[string]string{
		"titlePage": "titlepage", "fw": "running-head", "del": "deletion", "gap": "", "listBibl": "bibliography",
		"castList": "cast",
	}
)

func (r *teiReader) start(name string, e *xml.StartElement) {
	kind := strings.ToLower(attributeOf(e, "type"))
	r.path, r.parts = append(r.path, name), append(r.parts, r.partOf(name, kind))
	switch {
	case name == "teiHeader":
		r.header = true
	case r.header:
	case name == "floatingText":
		r.close()
		r.within++
	case teiDivisions[name] && r.within == 0:
		r.close()
		r.depth++
		r.tag(`<section epub:type="` + html.EscapeString(kind) + ` division">`)
	case name == "note":
		r.outer = append(r.outer, r.manuscript)
		r.manuscript = &manuscript{}
	case name == "lg":
		r.close()
		r.verse++
	case name == "l" && r.verse > 0:
		if p := r.block(); p.letters > 0 {
			p.html.WriteString("<br>")
			p.plain.WriteString("\n")
		}
	case name == "head" && r.isDivision():
		if r.isHeading() { // another line of the heading
			r.paragraph().html.WriteString("<br>")
			break
		}
		r.close()
		r.block().level = min(max(r.depth, 1), maxHeadingLevel)
	case name == "l" || teiBlocks[name]:
		r.close()
		r.block()
	case name == "lb" && attributeOf(e, "break") != "no" || name == "cb" || name == "pb":
		r.text(" ")
	case name == "milestone" || name == "space":
		r.close()
		r.tag("<hr>")
	case name == "choice":
		r.choice++
	}
	if strings.Contains(attributeOf(e, "rend"), "bold") {
		r.bolds++
		r.path[len(r.path)-1] = name + boldMark
	}
}

// partOf is the part that an element of a type is; "" for none.
func (r *teiReader) partOf(name, kind string) string {
	switch {
	case r.choice > 0 && teiOriginals[name]:
		return "unseen"
	case teiDivisions[name] && matterPart(kind) != "":
		return kind
	}
	return teiParts[name]
}

// boldMark is added to the names of open elements in bold.
const boldMark = " bold"

// isDivision reports whether the open heading is that of a part of the text.
func (r *teiReader) isDivision() bool {
	if len(r.path) < 2 || r.within > 0 {
		return false
	}
	parent := strings.TrimSuffix(r.path[len(r.path)-2], boldMark)
	return teiDivisions[parent] || parent == "body" || parent == "front" || parent == "back" || parent == "group"
}

// isHeading reports whether the open paragraph is the heading of a part of the text.
func (r *teiReader) isHeading() bool { return len(r.open) > 0 && r.paragraph().level > 0 }

// block is the open paragraph, which belongs to the part that is open.
func (r *teiReader) block() *msParagraph {
	p := r.paragraph()
	if p.letters == 0 {
		p.part = r.part()
	}
	return p
}

// part is the part that the open element is in.
func (r *teiReader) part() string {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if r.parts[i] != "" {
			return r.parts[i]
		}
	}
	return ""
}

// close ends the open paragraph.
func (r *teiReader) close() {
	if len(r.open) > 0 {
		r.manuscript.end()
	}
}

func (r *teiReader) text(text string) {
	blank := strings.TrimSpace(text) == ""
	switch {
	case r.header && !blank && len(r.path) > 1:
		at := slices.Index(r.path, "titleStmt")
		switch words := strings.Join(strings.Fields(text), " "); {
		case at < 0 || at+1 >= len(r.path):
		case r.path[at+1] == "title" && r.title == "":
			r.title = words
		case r.path[at+1] == "author" && r.author == "":
			r.author = words
		}
	case r.header, blank && len(r.open) == 0:
	default:
		p, part := r.block(), ""
		if inner := r.part(); inner != p.part {
			part = inner
		}
		p.words(text, r.bolds > 0, part)
	}
}

func (r *teiReader) end(name string) {
	if last := len(r.path) - 1; strings.HasSuffix(r.path[last], boldMark) {
		r.bolds--
	}
	r.path, r.parts = r.path[:len(r.path)-1], r.parts[:len(r.parts)-1]
	switch {
	case name == "teiHeader":
		r.header = false
	case r.header:
	case name == "floatingText":
		r.close()
		r.within--
	case teiDivisions[name] && r.within == 0:
		r.close()
		r.depth--
		r.tag("</section>")
	case name == "note":
		note := r.asNote("footnote")
		r.manuscript, r.outer = r.outer[len(r.outer)-1], r.outer[:len(r.outer)-1]
		switch {
		case note == "":
		case len(r.open) > 0:
			r.paragraph().behind = append(r.paragraph().behind, note)
		default:
			r.tag(note)
		}
	case name == "lg":
		r.close()
		r.verse--
	case name == "l" && r.verse > 0:
	case name == "head" && r.isHeading(): // another one may follow
	case name == "l" || teiBlocks[name]:
		r.close()
	case name == "choice":
		r.choice--
	}
}
