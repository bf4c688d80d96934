package ingest

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// page is an HTML or XHTML document as the parts of a book.
type page struct {
	nodes  []node
	matter int // sections of front and back matter that were passed over
	notes  int // footnotes and endnotes that were passed over
}

// readPage reads a document. Ids are the elements that a table of contents names: an anchor is put where each begins. Tags are
// read one by one, with a stack of our own, so that broken markup costs nothing worse than a wrong paragraph;
// nesting deeper than maxDepth is an error.
func readPage(document string, ids map[string]bool) (*page, error) {
	r := &pageReader{page: &page{}, ids: ids, z: html.NewTokenizer(strings.NewReader(document))}
	for {
		kind := r.z.Next()
		var err error
		switch kind {
		case html.ErrorToken:
			r.flush()
			if errors.Is(r.z.Err(), io.EOF) {
				return r.page, nil
			}
			return nil, r.z.Err()
		case html.TextToken:
			r.words(string(r.z.Text()))
		case html.StartTagToken:
			err = r.start(r.z.Token())
		case html.SelfClosingTagToken:
			// In XHTML any element may close itself. HTML would take what follows <title/> or <script/> for its content.
			token := r.z.Token()
			r.z.NextIsNotRawText()
			if err = r.start(token); err == nil && !voidElement(token.Data) {
				r.end(token.Data)
			}
		case html.EndTagToken:
			r.end(r.z.Token().Data)
		}
		if err != nil {
			return nil, err
		}
	}
}

// frame is an open element.
type frame struct {
	name   string
	hidden bool // nothing in it is text of the story
	level  int  // of the heading that it is or is in; 0 outside
	pre    bool // its line ends count
	link   bool // it leads to a place on a page
	raised bool // it is or is in a superscript, or, of a link, holds one
	start  int  // where its text begins in the open paragraph
}

type pageReader struct {
	*page
	ids   map[string]bool
	z     *html.Tokenizer
	stack []frame

	text  []byte // of the open paragraph
	space bool   // white space stands before the next word
	level int    // of the heading that the open paragraph is
}

func (r *pageReader) top() frame {
	if len(r.stack) == 0 {
		return frame{}
	}
	return r.stack[len(r.stack)-1]
}

func (r *pageReader) start(token html.Token) error {
	name := token.Data
	if isBlock(name) {
		r.closeParagraph()
		r.flush()
	}
	if id := attribute(token, "id"); r.ids[id] && !r.top().hidden {
		r.flush()
		r.nodes = append(r.nodes, node{kind: anchor, text: id})
	}
	if voidElement(name) {
		r.void(name)
		return nil
	}
	r.closeSibling(name)
	if len(r.stack) >= maxDepth {
		return errTooDeep
	}
	r.stack = append(r.stack, r.frame(token))
	return nil
}

// frame is what an element makes of what it stands in.
func (r *pageReader) frame(token html.Token) frame {
	f := r.top()
	kinds := strings.Fields(strings.ToLower(attribute(token, "epub:type") + " " + attribute(token, "role")))
	if f.level == 0 {
		f.level = r.headingLevel(token.Data, kinds)
	}
	if !f.hidden {
		f.hidden = r.hides(token, kinds)
	}
	f.name, f.start = token.Data, len(r.text)
	f.pre = f.pre || f.name == "pre"
	f.raised = f.raised || f.name == "sup"
	f.link = f.name == "a" && strings.Contains(attribute(token, "href"), "#")
	return f
}

// headingLevel is 1 to 6 for what is a heading: by its element, or a paragraph among headings, which belongs to the one before.
func (r *pageReader) headingLevel(name string, kinds []string) int {
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		return int(name[1] - '0')
	}
	in := r.top().name
	if name != "p" || in != "hgroup" && (in != "header" || !slices.Contains(kinds, "title")) {
		return 0
	}
	if n := len(r.nodes); n > 0 && r.nodes[n-1].kind == heading {
		return r.nodes[n-1].level
	}
	return 2
}

// hides reports whether an element is no part of the story, and keeps count of those that are worth a word.
func (r *pageReader) hides(token html.Token, kinds []string) bool {
	switch token.Data {
	case "head", "script", "style", "noscript", "template", "svg", "math", "rt", "rp", "nav", "iframe", "object":
		return true
	}
	if strings.Contains(attribute(token, "class"), "pg-boilerplate") {
		r.matter++
		return true
	}
	for _, kind := range kinds {
		switch {
		case kind == "noteref" || kind == "doc-noteref" || kind == "pagebreak" || kind == "doc-pagebreak" || kind == "doc-backlink":
			return true
		case kind == "footnote" || kind == "endnote" || kind == "rearnote" || kind == "doc-footnote" || kind == "doc-endnote":
			r.notes++
			return true
		case isMatter(kind) && isSection(token.Data):
			r.matter++
			return true
		}
	}
	return false
}

func (r *pageReader) void(name string) {
	switch {
	case r.top().hidden:
	case name == "br":
		r.text = append(r.text, '\n')
		r.space = false
	case name == "hr":
		r.nodes = append(r.nodes, node{kind: pause})
	}
}

// closeParagraph ends an open paragraph where a block begins, as HTML does without being told.
func (r *pageReader) closeParagraph() {
	if r.top().name == "p" {
		r.end("p")
	}
}

// closeSibling ends an element of a list or table where the next begins.
func (r *pageReader) closeSibling(name string) {
	switch name {
	case "li", "dt", "dd", "tr", "td", "th", "option":
		if r.top().name == name {
			r.end(name)
		}
	}
}

// end closes the nearest open element of the name, with all in it. An end without a beginning is passed over.
func (r *pageReader) end(name string) {
	i := len(r.stack) - 1
	for i >= 0 && r.stack[i].name != name {
		i--
	}
	if i < 0 {
		return
	}
	f := r.stack[i]
	if isBlock(name) {
		r.flush()
	}
	if name == "td" || name == "th" {
		r.space = true
	}
	if f.link && f.raised && !f.hidden {
		r.dropNoteMark(f.start)
	}
	r.stack = r.stack[:i]
	if name == "sup" {
		r.raiseLink()
	}
}

// raiseLink tells the link around a superscript of it.
func (r *pageReader) raiseLink() {
	for i := range r.stack {
		r.stack[i].raised = r.stack[i].raised || r.stack[i].link
	}
}

var noteMark = regexp.MustCompile(`^\s*[\[(]?(?:\d{1,4}|[*†‡]{1,3}|[a-z])[\])]?\s*$`)

// dropNoteMark takes back the mark of a footnote: a raised link that is but a number or a sign.
func (r *pageReader) dropNoteMark(start int) {
	if start <= len(r.text) && noteMark.Match(r.text[start:]) {
		r.text = r.text[:start]
	}
}

// words adds text, white space brought together and what is not seen left out.
func (r *pageReader) words(text string) {
	top := r.top()
	if top.name == "" || top.hidden {
		return
	}
	for _, c := range text {
		switch {
		case c == '\n' && top.pre:
			r.text = append(r.text, '\n')
			r.space = false
		case isSpace(c):
			r.space = true
		case isInvisible(c):
		default:
			n := len(r.text)
			if n == 0 {
				r.level = top.level
			} else if r.space && r.text[n-1] != '\n' {
				r.text = append(r.text, ' ')
			}
			r.space = false
			r.text = utf8.AppendRune(r.text, c)
		}
	}
}

// isSpace counts the spaces that do not break as spaces: a quotation is looked for with plain ones.
func isSpace(c rune) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\u00a0' || c == '\u202f' || c == '\u2009'
}

// isInvisible knows what typesetters put between letters: soft hyphens, spaces and joiners without width, hair spaces.
// What joins letters of other scripts stays.
func isInvisible(c rune) bool {
	return c == '\u00ad' || c == '\u200b' || c == '\u2060' || c == '\ufeff' || c == '\u200a' || c < ' ' || c == '\x7f'
}

// flush ends the open paragraph. A blank line within it, as made by two line breaks, parts it.
func (r *pageReader) flush() {
	text := string(r.text)
	r.text, r.space = r.text[:0], false
	for i := range r.stack {
		r.stack[i].start = 0
	}
	for _, part := range strings.Split(text, "\n\n") {
		switch part = strings.TrimSpace(part); {
		case part == "":
		case r.level > 0:
			r.nodes = append(r.nodes, node{kind: heading, level: r.level, text: strings.ReplaceAll(part, "\n", " ")})
		case isPause([]string{part}):
			r.nodes = append(r.nodes, node{kind: pause})
		default:
			r.nodes = append(r.nodes, node{kind: paragraph, text: part})
		}
	}
	r.level = 0
}
