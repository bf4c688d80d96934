package ingest

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// page is an HTML or XHTML document as the parts of a book.
type page struct {
	nodes         []*node
	title, author string  // as the document says itself
	head          string  // what its head calls it
	account       Account // of the page: its source, and what was left out
}

// pageOptions say how a document is read.
type pageOptions struct {
	ids   map[string]bool // elements that a table of contents names: an anchor is put where each begins
	keep  func(part string) bool
	doc   string // the document's name
	fb2   bool   // the elements are those of FictionBook
	whole bool   // no element is taken for the one that holds the story
}

// readPage reads a document. Tags are read one by one, with a stack of open elements. So broken markup causes at most a
// wrong paragraph. Nesting deeper than maxDepth is an error.
func readPage(document string, o pageOptions) (*page, error) {
	r := &pageReader{
		page: &page{}, pageOptions: o, site: siteOf(document), hiddenClasses: hiddenClasses(document),
		z: html.NewTokenizer(strings.NewReader(document)), gap: wideGap,
	}
	if o.whole {
		r.site.containers = false
	}
	for {
		kind := r.z.Next()
		r.at = r.read
		r.read += len(r.z.Raw())
		var err error
		switch kind {
		case html.ErrorToken:
			r.flush()
			for len(r.stack) > 0 {
				r.end(r.stack[0].name)
			}
			if errors.Is(r.z.Err(), io.EOF) {
				return r.page, nil
			}
			return nil, r.z.Err()
		case html.TextToken:
			r.words(string(r.z.Text()))
		case html.StartTagToken:
			err = r.start(r.z.Token())
		case html.SelfClosingTagToken:
			// In XHTML any element may close itself. HTML would take what follows <title/> or <script/> for its
			// content.
			token := r.z.Token()
			r.z.NextIsNotRawText()
			if err = r.start(token); err == nil && !voidElements[token.Data] {
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

type pageReader struct {
	*page
	pageOptions
	site          site
	hiddenClasses map[string]bool
	z             *html.Tokenizer
	stack         []frame
	read, at      int // bytes read of the document, and where the token begins

	open  node   // the open paragraph: where it begins, and its links
	text  []byte // of it
	space bool   // white space precedes the next word
	began frame  // in which it began
	bold  int    // characters of it in bold
	gap   int    // blank space before the next paragraph

	stanzas  int // so far
	inStanza int // of the node before
}

func (r *pageReader) top() frame {
	if len(r.stack) == 0 {
		return frame{}
	}
	return r.stack[len(r.stack)-1]
}

func (r *pageReader) start(token html.Token) error {
	if r.fb2 {
		r.z.NextIsNotRawText()
		token.Data = fb2Element(token.Data)
	}
	name := token.Data
	r.closeImplied(name)
	r.endBlock(name)
	if id := attribute(token, "id"); r.ids[id] && r.top().part == "" && !r.top().silent {
		r.flush()
		r.nodes = append(r.nodes, &node{kind: anchor, text: id, doc: r.doc, offset: r.at})
	}
	if voidElements[name] {
		r.void(token)
		return nil
	}
	r.startFormulaPart()
	if len(r.stack) >= maxDepth {
		return errTooDeep
	}
	r.stack = append(r.stack, r.frame(token))
	return nil
}

// startFormulaPart parts an element of a formula from the one before it: of a half, 12 would be left.
func (r *pageReader) startFormulaPart() {
	signs := formulaSigns[r.top().name]
	if signs == "" {
		return
	}
	outer := &r.stack[len(r.stack)-1]
	if outer.parts++; outer.parts > 1 {
		i := min(outer.parts-2, len(signs)-1)
		r.words(signs[i : i+1])
	}
}

func (r *pageReader) void(token html.Token) {
	top := r.top()
	switch token.Data {
	case "meta":
		r.meta(token)
	case "br":
		if top.part == "" && !top.silent {
			r.text = append(r.text, '\n')
			r.space = false
		}
	case "hr":
		if top.part == "" && !top.silent {
			r.nodes = append(r.nodes, &node{kind: pause, doc: r.doc, offset: r.at})
		}
	case "img":
		alt := strings.TrimSpace(attribute(token, "alt"))
		switch {
		case utf8.RuneCountInString(alt) == 1 && !isPause(alt):
			r.words(alt)
		case top.level > 0 && alt != "":
			for i := len(r.stack) - 1; i >= 0 && r.stack[i].level > 0; i-- {
				r.stack[i].alt = alt
			}
		}
	}
}

// meta takes title and author from the head of a page.
func (r *pageReader) meta(token html.Token) {
	content := strings.TrimSpace(attribute(token, "content"))
	switch strings.ToLower(attribute(token, "name") + attribute(token, "property")) {
	case "dc.title", "dcterms.title", "og:title":
		if r.title == "" {
			r.title = content
		}
	case "dc.creator", "dcterms.creator", "author":
		if r.author == "" {
			r.author = personName(content)
		}
	}
}

var lifeDates = regexp.MustCompile(`,? *\(?\d{3,4}\??[-–]\d{0,4}\)?$`)

// personName turns "Austen, Jane, 1775-1817" round.
func personName(name string) string {
	name = lifeDates.ReplaceAllString(name, "")
	if last, first, ok := strings.Cut(name, ", "); ok && !strings.Contains(first, ",") {
		return first + " " + last
	}
	return name
}

// closeImplied ends an open paragraph where a block begins, and an element of a list or table where the next begins, as
// HTML implies.
func (r *pageReader) closeImplied(name string) {
	if open := r.top().name; open == "p" && blockElements[name] || open == name && siblingElements[name] {
		r.end(open)
	}
}

// end closes the nearest open element of the name, with all in it. An end without a beginning is passed over.
func (r *pageReader) end(name string) {
	if r.fb2 {
		name = fb2Element(name)
	}
	i := len(r.stack) - 1
	for i >= 0 && r.stack[i].name != name {
		i--
	}
	if i < 0 {
		return
	}
	f := r.stack[i]
	if blockElements[name] && f.level > 0 && f.alt != "" && f.part == "" &&
		len(strings.TrimSpace(string(r.text))) == 0 {
		r.words(f.alt)
	}
	r.endBlock(name)
	for _, inner := range slices.Backward(r.stack[i:]) {
		if inner.divides {
			r.endDivision(inner.division)
		}
	}
	if name == "td" || name == "th" {
		r.space = true
	}
	if (f.link && f.raised || f.note) && f.part == "" && !f.silent {
		r.dropNoteMark(f.start)
	}
	r.stack = r.stack[:i]
	if name == "sup" {
		r.raiseLink()
	}
}

// raiseLink marks the link around a superscript.
func (r *pageReader) raiseLink() {
	for i := range r.stack {
		r.stack[i].raised = r.stack[i].raised || r.stack[i].link
	}
}

var noteMark = regexp.MustCompile(`^\s*[\[(]?(?:\d{1,4}|[*†‡]{1,3}|[a-z])[\])]?\s*$`)

// dropNoteMark takes back the mark of a footnote: a link that is but a number or a sign.
func (r *pageReader) dropNoteMark(start int) {
	if start <= len(r.text) && noteMark.Match(r.text[start:]) && !r.keep(partNoteMarks) {
		r.account.leaveOut(partNoteMarks, string(r.text[start:]))
		r.text = r.text[:start]
	}
}

// words adds text, white space brought together and what is not seen left out.
func (r *pageReader) words(text string) {
	top := r.top()
	if top.name == "title" && r.head == "" && len(r.nodes) == 0 {
		r.head = text
	}
	if top.name == "" || top.silent {
		return
	}
	if top.part != "" {
		text = strings.Map(visible, text)
		r.account.Source += countCharacters(text)
		r.account.leaveOut(top.part, text)
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
			r.letter(c, &top)
		}
	}
}

func (r *pageReader) letter(c rune, top *frame) {
	n := len(r.text)
	if !r.hasBegun() {
		r.began, r.open.offset = *top, r.at
	}
	if n > 0 && r.space && r.text[n-1] != '\n' {
		r.text = append(r.text, ' ')
	}
	r.space = false
	r.text = utf8.AppendRune(r.text, c)
	if unicode.IsSpace(c) {
		return
	}
	r.account.Source++
	if top.bold {
		r.bold++
	}
	if top.inLink {
		r.open.linked++
	}
	if top.inAny {
		r.open.anchored++
	}
}

// hasBegun reports whether the open paragraph has a letter.
func (r *pageReader) hasBegun() bool {
	for _, c := range r.text {
		if c != ' ' && c != '\n' {
			return true
		}
	}
	return false
}

func visible(r rune) rune {
	if isInvisible(r) && !isSpace(r) {
		return -1
	}
	return r
}

// isSpace counts the spaces that do not break as spaces: a quotation is looked for with plain ones.
func isSpace(c rune) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\u00a0' || c == '\u202f' ||
		c == '\u2009'
}

// isInvisible knows what typesetters put between letters: soft hyphens, spaces and joiners without width, hair spaces.
// What joins letters of other scripts stays.
func isInvisible(c rune) bool {
	return c == '\u00ad' || c == '\u200b' || c == '\u2060' || c == '\ufeff' || c == '\u200a' || c < ' ' || c == '\x7f'
}

// endBlock ends the open paragraph where a block begins or ends.
func (r *pageReader) endBlock(name string) {
	if blockElements[name] {
		r.flush()
	}
	if sectionElements[name] || name == "table" || name == "blockquote" {
		r.gap = wideGap
	}
}

// flush ends the open paragraph. A blank line within it, as made by two line breaks, parts it.
func (r *pageReader) flush() {
	text := string(r.text)
	f := r.began
	n := r.open
	n.kind, n.doc, n.gap, n.tabular, n.strong = paragraph, r.doc, max(1, r.gap), f.table,
		r.bold > 0 && r.bold >= countCharacters(text)
	r.open, r.text, r.space, r.bold, r.began = node{}, r.text[:0], false, 0, frame{}
	for i := range r.stack {
		r.stack[i].start = 0
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	r.gap = 0
	if f.level > 0 {
		r.addHeading(text, f.level, n)
		return
	}
	for part := range strings.SplitSeq(text, "\n\n") {
		if n.text = strings.TrimSpace(part); n.text == "" {
			continue
		}
		n.kind = paragraph
		if isPause(n.text) {
			n.kind = pause
		}
		if n.anchored*10 >= countCharacters(text)*9 && words().matches(partNavigation, n.text) &&
			!r.keep(partNavigation) {
			n.part = partNavigation
		}
		if !r.continuesStanza(&n, f.stanza) {
			next := n
			r.nodes = append(r.nodes, &next)
		}
	}
}

// continuesStanza adds a line to the stanza that it belongs to, if each line is an element of its own.
func (r *pageReader) continuesStanza(n *node, stanza int) bool {
	before := r.inStanza
	r.inStanza = 0
	if stanza == 0 || n.kind != paragraph || strings.Contains(n.text, "\n") {
		return false
	}
	r.inStanza = stanza
	if before != stanza || len(r.nodes) == 0 || r.nodes[len(r.nodes)-1].kind != paragraph {
		return false
	}
	r.nodes[len(r.nodes)-1].text += "\n" + n.text
	return true
}

// addHeading adds a heading, whatever line breaks it has. Text in it before a label, perhaps the caption of a picture,
// is a paragraph.
func (r *pageReader) addHeading(text string, level int, n node) {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for k := 1; k < len(lines); k++ {
		if readHeading(lines[k]).labelled() && readHeading(lines[k-1]).rank != container {
			caption := n
			caption.text = strings.Join(lines[:k], "\n")
			r.nodes = append(r.nodes, &caption)
			lines = lines[k:]
			break
		}
	}
	n.kind, n.level, n.text = heading, level, strings.Join(lines, "\n")
	r.nodes = append(r.nodes, &n)
}
