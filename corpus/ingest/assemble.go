package ingest

import (
	"cmp"
	"slices"
	"strings"

	"annotator"
)

// chapter is a part of a book that becomes a thread.
type chapter struct {
	title  string
	heads  []*node // the headings that its title is made of
	blocks []block
}

// block is a paragraph, its lines kept where they matter, or, without text, a break between scenes.
type block struct {
	text   string
	doc    string // the document that it is from, and where
	offset int
}

func (b block) isBreak() bool { return b.text == "" }

func (c *chapter) hasText() bool {
	for _, b := range c.blocks {
		if !b.isBreak() {
			return true
		}
	}
	return false
}

// partHeading is a heading above chapters.
type partHeading struct {
	*node
	headline string
	whole    bool // it is the whole book
}

// assembler makes chapters of an outline.
type assembler struct {
	*outline
	done    []chapter
	open    chapter
	parts   []partHeading
	above   []block        // text of a part too short for a chapter: it goes to the first chapter
	heading int            // node of the open chapter's heading; -1 if it has none
	begun   bool           // the open chapter has text
	ofPart  bool           // it is the text of a part
	placed  map[*node]bool // headings in a chapter or in its title
}

// minPartText is how many words below the heading of a part are a chapter of their own.
const minPartText = 60

// assemble makes the chapters. The heading of a part becomes a prefix of its chapters' titles. A heading below the
// chapters becomes a paragraph after a break. A chapter without text is left out.
func (o *outline) assemble() []chapter {
	a := &assembler{outline: o, heading: -1, placed: map[*node]bool{}}
	for i, n := range o.nodes {
		switch role := o.role(i); {
		case !n.stays() || n.kind == anchor:
		case role == startsChapter:
			a.beginChapter(i)
		case role == startsPart:
			a.beginPart(i)
		case o.byPage && n.page && a.open.hasText():
			a.close()
			a.addText(i)
		case n.kind == pause:
			a.open.blocks = append(a.open.blocks, block{})
		default:
			a.addText(i)
		}
	}
	a.ofPart = false
	a.close()
	if rest := (chapter{title: cmp.Or(a.title, a.name), blocks: a.above}); rest.hasText() {
		a.done = append(a.done, rest)
	}
	for _, n := range a.nodes {
		if n.kind == heading && n.stays() && !n.copied && !a.placed[n] {
			a.dropHeading(n)
		}
	}
	return a.done
}

// headline is a heading as a title, in one line.
func (a *assembler) headline(n *node) string {
	var lines []string
	for _, line := range n.sourceLines() {
		if n.lines != nil {
			line = a.unmark(line)
		}
		if line = oneLine(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 1 && !readHeading(lines[0]).bare() {
		lines = []string{strings.Join(lines, " ")} // a title of several lines
	}
	if n.title != nil {
		lines = append(lines, oneLine(n.title.text))
	}
	return joinTitle(lines)
}

// joinTitle joins the lines of a title. A mark at the end of a line needs no colon.
func joinTitle(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	title := lines[0]
	for i, line := range lines[1:] {
		if i == 0 && !strings.ContainsAny(title[len(title)-1:], ".:-,;!?") && !strings.HasSuffix(title, "—") {
			title += ":"
		}
		title += " " + line
	}
	return title
}

func (a *assembler) beginChapter(i int) {
	n := a.nodes[i]
	if n.head.kind == namedHeading && a.headsChapters(i) {
		a.beginPart(i)
		return
	}
	a.close()
	a.open, a.heading = chapter{title: a.headline(n), heads: []*node{n}}, i
	a.open.blocks = append(a.open.blocks, a.above...)
	a.above = nil
	a.keepDoubtful(n)
	if n.level > 0 && (!n.head.labelled() || n.listed) && !a.chosen[n.group()] {
		a.endParts(n.level)
	}
	a.open.title = a.prefix() + a.open.title
}

// keepDoubtful keeps the words of a heading in the text if they may be text.
func (a *assembler) keepDoubtful(n *node) {
	if n.doubt {
		a.open.blocks = append(a.open.blocks, block{n.text, n.doc, n.offset})
	}
}

// headsChapters reports whether a chosen heading follows without text: an epilogue with chapters.
func (a *assembler) headsChapters(i int) bool {
	j := a.next(i)
	return j < len(a.nodes) && a.nodes[j].kind == heading && a.chosen[a.nodes[j].group()] &&
		!a.chosen[a.nodes[i].group()]
}

// endParts ends the parts whose markup has a level or a lower one; all parts if there is no markup.
func (a *assembler) endParts(level int) {
	for len(a.parts) > 0 && (level == 0 || a.parts[len(a.parts)-1].level >= level) {
		a.parts = a.parts[:len(a.parts)-1]
	}
}

// beginPart begins a part. One of a kind that is open ends that and all within; by markup, one ends all of its level
// and below.
func (a *assembler) beginPart(i int) {
	n := a.nodes[i]
	a.ofPart = a.ofPart && !n.ends(a.nodes[a.heading]) // without chapters it is one
	a.close()
	a.open, a.heading, a.ofPart = chapter{title: a.headline(n), heads: []*node{n}}, i, true
	a.keepDoubtful(n)
	for k, open := range a.parts {
		if n.ends(open.node) {
			a.parts = a.parts[:k]
			break
		}
	}
	title := a.open.title
	a.open.title = a.prefix() + title
	a.parts = append(a.parts, partHeading{n, title, a.isWhole(i)})
}

// ends reports whether the part below a heading ends that below another.
func (n *node) ends(open *node) bool {
	return open.group() == n.group() || n.level > 0 && open.level >= n.level || n.head.kind == namedHeading
}

// prefix is what a chapter has before its title. A part that is the whole book says nothing.
func (a *assembler) prefix() string {
	var b strings.Builder
	for _, p := range a.parts {
		if !p.whole && titleKey(p.headline) != titleKey(a.title) || a.keep(partHeadings) {
			a.open.heads = append(a.open.heads, p.node)
			b.WriteString(p.headline + ", ")
		}
	}
	return b.String()
}

// isWhole reports whether the part with its heading at part is the whole book: its kind has no other title.
func (a *assembler) isWhole(part int) bool {
	whole := a.nodes[part]
	for i, n := range a.nodes {
		if a.role(i) == startsPart && n.group() == whole.group() && titleKey(n.text) != titleKey(whole.text) {
			return false
		}
	}
	return whole.head.kind != namedHeading
}

// addText adds a paragraph or a heading within a chapter.
func (a *assembler) addText(i int) {
	n := a.nodes[i]
	if n.kind == heading && (n.level > 0 || n.head.kind != noHeading) {
		switch {
		case n.copied:
			a.open.blocks = append(a.open.blocks, block{}) // of a division, or below an entry
			return
		case a.heading >= 0 && a.fromTable && !a.begun:
			a.repeatTitle(i)
			return
		}
		a.open.blocks = append(a.open.blocks, block{}, block{a.headline(n), n.doc, n.offset})
		a.placed[n] = true
		return
	}
	a.begun = true
	a.placed[n] = true
	a.open.blocks = append(a.open.blocks, block{n.text, n.doc, n.offset})
}

// repeatTitle handles a heading below an entry of the table of contents: the entry is the chapter's title already.
func (a *assembler) repeatTitle(i int) {
	n := a.nodes[i]
	label := a.nodes[a.heading]
	generic := slices.Contains(words().GenericEntries, strings.ToLower(label.text))
	inFull := label.head.bare() && strings.HasPrefix(titleKey(n.text), titleKey(label.text))
	if label.copied && (generic || inFull) {
		a.open.title = strings.TrimSuffix(a.open.title, label.text) + a.headline(n)
	} else if !strings.Contains(titleKey(a.open.title), titleKey(n.text)) {
		a.leave(n, partHeadings)
		if n.stays() {
			a.open.blocks = append(a.open.blocks, block{a.headline(n), n.doc, n.offset})
		}
	}
	a.open.heads = append(a.open.heads, n)
}

// close ends the open chapter. The text of a part is a chapter if it is long enough, else it goes to the first of its
// chapters.
func (a *assembler) close() {
	c, heading, ofPart := a.open, a.heading, a.ofPart
	a.open, a.heading, a.begun, a.ofPart = chapter{}, -1, false, false
	if !c.hasText() {
		if heading >= 0 && !ofPart && !a.nodes[heading].copied {
			a.dropHeading(a.nodes[heading])
		}
		return
	}
	if ofPart && c.words() < minPartText {
		a.above = append(a.above, c.blocks...)
		return
	}
	c.blocks = append(a.above, c.blocks...)
	a.above = nil
	c.title = cmp.Or(c.title, a.title, a.name)
	a.done = append(a.done, c)
	for _, n := range c.heads {
		a.placed[n] = true
	}
}

// dropHeading leaves out a heading without text. Where such are kept, it is a chapter.
func (a *assembler) dropHeading(n *node) {
	part := partHeadings
	if len(a.done) == 0 || n.head.kind == endMark || titleKey(n.text) == titleKey(a.title) {
		part = partTitlePage
	}
	if a.leave(n, part); n.stays() {
		title := a.headline(n)
		a.done = append(a.done, chapter{title: title, blocks: []block{{title, n.doc, n.offset}}})
		a.placed[n] = true
	}
}

func (c *chapter) words() int {
	words := 0
	for _, b := range c.blocks {
		words += annotator.CountWords(b.text)
	}
	return words
}
