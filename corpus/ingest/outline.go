package ingest

// book is what the importers of all formats of books make of a source: nodes with their evidence. The outline decides
// in one place what is a heading, which headings begin chapters, and what is no part of the story.
type book struct {
	nodes         []*node
	title, author string
	name          string // of a chapter in a book without any title
	doc           string // the document that the nodes are from
	one           bool   // the source is one chapter, unless it has several by their labels
	keep          func(part string) bool
	account       *Account

	listed     []contentsEntry // what its own list of contents lists,
	contentsAt int             // and the node at which it begins
	lastTitle  map[string]int  // the last position of a title
}

// leave leaves a node out, unless its part is to be kept. What has no text in the source has nothing to leave.
func (b *book) leave(n *node, part string) {
	if n.stays() && n.inSource() && !b.keep(part) {
		n.part = part
	}
}

// chapters decides the outline.
func (b *book) chapters() []chapter {
	b.numberDivisions()
	b.dropPageMarks()
	b.readHeader()
	b.dropLicence()
	b.findContents()
	b.dropBehindEnd()
	b.readHeadings()
	o := b.choose()
	b.dropAround(o)
	chapters := o.assemble()
	b.settle()
	return chapters
}

// settle counts what each node became.
func (b *book) settle() {
	for _, n := range b.nodes {
		switch {
		case !n.inSource():
		case n.part != "":
			b.account.leaveOut(n.part, n.text)
			b.account.leaveOut(n.part, n.titleText())
		case n.kind == pause:
			b.account.leaveOut(partMarks, n.text)
		default:
			b.account.Kept += countCharacters(n.text) + countCharacters(n.titleText())
		}
	}
}

// outline says which headings of a book begin chapters.
type outline struct {
	*book
	fromTable bool            // the format's table of contents decides
	chosen    map[string]bool // groups of headings
	level     int             // of the chosen headings; 0 if markup does not give it one
	nested    map[int]bool    // headings of chapters inside another
	agreed    bool            // most of the chosen headings are in the book's own list of contents
	byPage    bool            // without any heading each page begins a chapter
	single    bool            // the book is one chapter, with the heading at first
	first     int             // -1 if it has none
	isSeries  bool            // the chosen headings are such only as a series
	score     float64         // how probable it is; see measure
}

// role is what a node does in an outline.
type role int

const (
	isText role = iota
	startsChapter
	startsPart // it is above chapters
	isSubheading
)

func (o *outline) role(i int) role {
	n := o.nodes[i]
	switch {
	case !n.stays() || n.kind != heading:
		return isText
	case o.single && i == o.first:
		return startsChapter
	case o.single:
		return isSubheading
	case o.fromTable != n.listed:
		return isSubheading
	case o.chosen[n.group()]:
		return startsChapter
	case n.listed && n.leaf && n.level < o.level:
		return startsChapter
	case n.listed:
		return o.byLevel(n)
	case n.head.rank == container:
		return startsPart
	case n.head.rank == chapterly && !o.nested[i], n.head.kind == namedHeading:
		return startsChapter
	case n.level == 0 || len(o.chosen) == 0 || n.level == o.level && o.agreed && !n.agrees:
		return isSubheading
	case o.level == 0:
		return startsPart
	}
	return o.byLevel(n)
}

func (o *outline) byLevel(n *node) role {
	switch {
	case n.level < o.level:
		return startsPart
	case n.level == o.level:
		return startsChapter
	}
	return isSubheading
}

// dropAround leaves out text before the first chapter and after the last that is no part of the story.
func (b *book) dropAround(o *outline) {
	first, last := -1, -1
	for i := range b.nodes {
		if o.role(i) == startsChapter {
			if n := b.nodes[i]; first < 0 && (o.chosen[n.group()] || n.head.kind == namedHeading || n.head.labelled() ||
				n.agrees) && b.textBelow(o, i) {
				first = i
			}
			last = i
		}
	}
	if first < 0 || o.single {
		b.dropFrontOfPlainText()
		b.dropTail(0)
		return
	}
	for first > 0 && (o.role(first-1) == startsPart || o.role(first-1) == startsChapter ||
		b.nodes[first-1].kind == anchor || b.nodes[first-1].kind == pause || !b.nodes[first-1].stays()) {
		first--
	}
	b.dropFront(first)
	b.dropFrontEntries(o)
	b.dropNotes(last + 1)
	b.dropTail(last + 1)
}

// longSection is how many words the first section of a story has at least.
const longSection = 500

// dropFrontEntries leaves out the first sections of a book that are the printer's or the makers' by their wording. It
// does so even if the table of contents names them.
func (b *book) dropFrontEntries(o *outline) {
	starts := o.starts()
	for k, i := range starts[:max(0, len(starts)-1)] {
		if !b.nodes[i].listed || b.wordsBetween(i, starts[k+1]) > longSection {
			return
		}
		for _, z := range b.zones(i+1, starts[k+1]) {
			b.leaveZone(&z, z.kind())
		}
	}
}

// textBelow reports whether there is text between the heading at i and the next of a chapter or part.
func (b *book) textBelow(o *outline, i int) bool {
	for i++; i < len(b.nodes) && !b.nodes[i].hasText(); i++ {
		if r := o.role(i); r == startsChapter || r == startsPart {
			return false
		}
	}
	return i < len(b.nodes)
}

// dropFrontOfPlainText leaves out notes of the makers at the beginning of a text without chapters.
func (b *book) dropFrontOfPlainText() {
	all := b.zones(0, min(len(b.nodes), endNodes))
	if len(all) < 2 {
		return
	}
	for i := range all[:len(all)-1] {
		part := all[i].kind()
		if part == "" && all[i].words <= maxZone && !all[i].sentence && b.namesBook(&all[i]) && b.licensed() {
			part = partTitlePage
		}
		if part == "" {
			return
		}
		b.leaveZone(&all[i], part)
	}
}
