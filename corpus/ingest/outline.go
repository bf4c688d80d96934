package ingest

import "annotator"

// outline is a book as sections, each a heading with what follows it. The first section has no heading.
type outline struct {
	sections []section
	level    int    // of the headings that begin chapters
	title    string // the book's, if a heading is it
	empty    int    // headings left out, because nothing stood under them
}

type section struct {
	node   // its heading
	blocks []block
}

func (s *section) hasText() bool { return (&chapter{blocks: s.blocks}).hasText() }

// newOutline parts a book at its headings. In a titled one the highest heading may be the title of the whole.
func newOutline(nodes []node, titled bool) *outline {
	o := &outline{sections: []section{{}}}
	for _, n := range nodes {
		last := &o.sections[len(o.sections)-1]
		switch n.kind {
		case heading:
			o.sections = append(o.sections, section{node: n})
		case paragraph:
			last.blocks = append(last.blocks, block{n.text})
		case pause:
			last.blocks = append(last.blocks, block{})
		}
	}
	o.level = o.chapterLevel()
	if titled {
		o.title = o.bookTitle()
	}
	return o
}

// chapterLevel is the highest that has text right below two or more of its headings: a book's title, its parts, and a
// table of contents have none. Else it is the highest with any text at all.
func (o *outline) chapterLevel() int {
	var withText [10]int
	for i := range o.sections {
		if s := &o.sections[i]; s.kind == heading && s.hasText() {
			withText[s.level]++
		}
	}
	for _, enough := range []int{2, 1} {
		for level := 1; level < len(withText); level++ {
			if withText[level] >= enough {
				return level
			}
		}
	}
	return 1
}

// count is the number of headings of a level.
func (o *outline) count(level int) int {
	n := 0
	for i := range o.sections {
		if s := &o.sections[i]; s.kind == heading && s.level == level {
			n++
		}
	}
	return n
}

// bookTitle is a first heading above the chapters that is the only one of its kind, or the only heading at all.
func (o *outline) bookTitle() string {
	if len(o.sections) < 2 || o.count(o.sections[1].level) > 1 {
		return ""
	}
	if first := &o.sections[1]; first.level < o.level || len(o.sections) == 2 && !o.sections[0].hasText() {
		return first.text
	}
	return ""
}

// preface counts the words before the first heading, if there is a heading.
func (o *outline) preface() int {
	if len(o.sections) < 2 {
		return 0
	}
	words := 0
	for _, b := range o.sections[0].blocks {
		words += annotator.CountWords(b.text)
	}
	return words
}

// dropPreface drops what stands before the first heading, and returns its words.
func (o *outline) dropPreface() int {
	words := o.preface()
	if words > 0 {
		o.sections[0].blocks = nil
	}
	return words
}

// chapters joins the sections to chapters. A part's heading goes into the titles of its chapters, a heading below the chapters
// becomes a paragraph behind a break. Lists of contents are left out, and so is a chapter's heading with nothing under it.
func (o *outline) chapters() []chapter {
	var all []chapter
	var open chapter
	part := ""
	for i := range o.sections {
		s := &o.sections[i]
		if s.kind == heading && s.level > o.level {
			open.blocks = append(open.blocks, block{}, block{s.text})
			open.blocks = append(open.blocks, s.blocks...)
			continue
		}
		all = o.keep(all, open)
		open = chapter{title: s.text, blocks: s.blocks}
		switch {
		case s.kind != heading || s.level == chapterAlways:
		case s.level == o.level && part != "":
			open.title = part + ", " + s.text
		case s.level < o.level:
			part = o.partName(s)
			if !s.hasText() {
				open.title = ""
			}
		}
	}
	return o.keep(all, open)
}

// keep adds a chapter that has text and is no list.
func (o *outline) keep(all []chapter, c chapter) []chapter {
	if c.hasText() && !listLine.MatchString(c.title) {
		return append(all, c)
	}
	if c.title != "" {
		o.empty++
	}
	return all
}

// partName is what the chapters of a part have before their titles: nothing, if the part is the whole book.
func (o *outline) partName(s *section) string {
	if s.text == o.title {
		return ""
	}
	return s.text
}
