package ingest

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"annotator"
)

// choose makes each outline that a book may have, and takes the best by its score. One has a chapter for each page, or
// the whole book as a chapter if it is a file of a folder. One has the entries of a level of the format's table of
// contents, the headings of a kind, or the lines of a series.
func (b *book) choose() *outline {
	best := b.simplest()
	b.listUnnamed()
	for _, group := range b.groups(true) {
		best = best.better(b.outlineOf(true, group))
	}
	b.unlist()
	groups := b.groups(false)
	for _, group := range groups {
		best = best.better(b.outlineOf(false, group))
	}
	if slices.Contains(groups, numbers) && slices.Contains(groups, titledNumbers) { // only some have a title
		best = best.better(b.outlineOf(false, numbers, titledNumbers))
	}
	var chosen series
	for _, s := range b.findSeries() {
		b.swap(s)
		o := b.outlineOf(false, b.nodes[s[0].node].group())
		o.isSeries = s.isDoubtful()
		o.score = o.measure()
		if b.swap(s); o.score > best.score {
			best, chosen = o, s
		}
	}
	if b.swap(chosen); chosen != nil {
		b.findDoubtful()
		b.joinHeadings()
	}
	if best.fromTable {
		b.listUnnamed()
	}
	return best
}

// simplest makes the outline of a book without headings of chapters.
func (b *book) simplest() *outline {
	o := &outline{book: b, chosen: map[string]bool{}, byPage: true}
	if b.one {
		o.single, o.first = true, b.firstHeading()
	}
	o.score = o.measure()
	return o
}

func (o *outline) better(other *outline) *outline {
	if other.score > o.score {
		return other
	}
	return o
}

// outlineOf makes the outline whose chapters begin with the headings of some groups.
func (b *book) outlineOf(table bool, groups ...string) *outline {
	o := &outline{book: b, fromTable: table, chosen: map[string]bool{}, nested: map[int]bool{}}
	for _, group := range groups {
		o.chosen[group] = true
	}
	at := b.ofGroups(o.chosen)
	levels, agree := map[int]int{}, 0
	for _, i := range at {
		n := b.nodes[i]
		if levels[n.level]++; n.agrees || n.title != nil && n.title.agrees {
			agree++
		}
	}
	for level, n := range levels {
		if n > levels[o.level] || n == levels[o.level] && level < o.level {
			o.level = level
		}
	}
	o.agreed = agree*3 > len(at)*2
	o.findNested(at)
	o.score = o.measure()
	return o
}

// findNested finds the headings with other labels that are within a chapter. Letters before the first chapter begin
// chapters, too; the acts of a play within a chapter do not.
func (o *outline) findNested(at []int) {
	for i, n := range o.headings() {
		if n.head.rank != chapterly || o.chosen[n.group()] || n.listed {
			continue
		}
		k, _ := slices.BinarySearch(at, i)
		within := k > 0 && (k == len(at) || o.nodes[at[k]].head.number == o.nodes[at[k-1]].head.number+1)
		o.nested[i] = n.level > o.level || n.level == 0 && within
	}
}

// What the evidence of an outline is worth; its coverage is worth 1.
const (
	worthOfTable   = 4.0 // the format's table of contents has the chapters
	worthOfLabels  = 3.0 // they are called so
	worthOfNumbers = 0.5 // they are counted
	worthOfTitles  = 0.5 // they have titles, or are in the book's own list of contents
	worthOfText    = 1.0 // the text is directly below them
	worthOfKind    = 1.0 // they are of one kind
	worthOfFile    = 3.5 // the book is a file of a folder, and one chapter
)

// Sizes of chapters, in words: shorter and longer ones are the less probable, the more they are so.
const (
	shortChapter = 250
	longChapter  = 25_000
	shortPoem    = 25 // words of verse
)

// evidence is what is counted of an outline.
type evidence struct {
	chapters, ofKind, labelled, parts, counted, titled, listed, restarts float64
	words, direct, total, verse                                          float64
	sizes                                                                []int
	seen                                                                 map[string]bool
	repeated                                                             int // titles without a number

	last, open, above *node   // the headings of the last chapter, of one without text so far, and directly above that
	below             bool    // the text is directly below a chosen heading
	before            int     // the number of the last chapter
	inPart            int     // chapters in the part without a label that is open; -1 if none is
	alone             float64 // chapters that are all of such a part
}

// measure is the score of an outline. It counts how much of the book the outline covers, and whether its chapters have
// a sensible size. The rest is what else shows that they are chapters.
func (o *outline) measure() float64 {
	e := o.gather()
	if e.chapters == 0 || e.words == 0 {
		return 0
	}
	cover, verse := e.words/(e.total+1), e.verse/e.total
	slices.Sort(e.sizes)
	if o.isSeries { // that it is regular and covers the book is all its evidence
		cover = math.Pow(cover, 4) * math.Pow(e.evenness(), 3)
	}
	median := float64(e.sizes[(len(e.sizes)-1)/2])
	short := shortChapter - verse*(shortChapter-shortPoem)
	regular := min(1, (median+1)/min(short, e.total/20+1), longChapter/(median+1))
	parts := 1 - (e.parts+e.alone*(e.alone-1)/e.chapters)/e.chapters/2
	sections := 1 / max(1, e.restarts) * (1 - float64(e.repeated)/e.chapters)
	return cover * o.worth(&e) * regular * parts * sections * e.chapters / (e.chapters + 2)
}

// worth is what the evidence of an outline's headings is worth.
func (o *outline) worth(e *evidence) float64 {
	if o.single {
		return 1 + worthOfFile
	}
	worth := 1 + worthOfLabels*e.labelled/e.chapters
	if o.one { // what else looks like headings may be those of sections
		return worth
	}
	worth += (worthOfTitles*e.titled + worthOfTable*e.listed) / e.chapters
	if e.restarts < 2 {
		worth += worthOfNumbers * e.counted / e.chapters
	}
	if !o.isSeries {
		worth += worthOfKind * e.ofKind / e.chapters
	}
	return worth + worthOfText*e.direct/e.words
}

// evenness is low if one of several chapters is most of the book.
func (e *evidence) evenness() float64 {
	if len(e.sizes) < 2 {
		return 1
	}
	largest := float64(e.sizes[len(e.sizes)-1]) / e.words
	return 1 - largest*largest
}

// gather counts the evidence in one pass. A heading counts when its text begins.
func (o *outline) gather() evidence {
	e := evidence{seen: map[string]bool{}, inPart: -1}
	for i, n := range o.nodes {
		role := o.role(i)
		switch {
		case n.hasText():
			e.addText(o, n)
		case role == startsChapter:
			e.above = cmp.Or(e.open, e.above)
			e.open, e.below = n, o.chosen[n.group()]
		case n.kind == heading && n.stays() && !n.copied && role == startsPart && n.head.rank == container:
			e.before, e.below = 0, false
		case role == startsPart && n.stays() && n.head.rank == noRank:
			e.closePart()
			e.inPart = 0
		case n.kind == heading && n.stays() && !n.copied:
			e.above, e.below = n, false
		}
	}
	e.closePart()
	for _, size := range e.sizes {
		e.words += float64(size)
	}
	e.chapters = float64(len(e.sizes))
	return e
}

// closePart counts a part of one chapter. The headings of such chapters are subtitles.
func (e *evidence) closePart() {
	if e.inPart == 1 {
		e.alone++
	}
}

// addText counts a paragraph, and the heading above it.
func (e *evidence) addText(o *outline, n *node) {
	switch {
	case e.open != nil:
		e.sizes = append(e.sizes, 0)
		if e.inPart >= 0 {
			e.inPart++
		}
		e.see(e.open)
		e.countRestart(o, n)
		if o.chosen[e.open.group()] {
			e.ofKind++
		}
		e.last, e.before = e.open, e.open.head.number
	case o.byPage && n.page, len(e.sizes) == 0 && (o.single || o.byPage):
		e.sizes = append(e.sizes, 0)
	}
	e.open, e.above = nil, nil
	words := n.words()
	e.total += float64(words)
	if n.isVerse() {
		e.verse += float64(words)
	}
	if len(e.sizes) > 0 {
		e.sizes[len(e.sizes)-1] += words
	}
	if e.below {
		e.direct += float64(words)
	}
}

// countRestart counts a number that begins anew below another heading, as those of sections do. Poems begin anew below
// the title of a part, their stanzas below that of a chapter.
func (e *evidence) countRestart(o *outline, text *node) {
	if e.above == nil && e.last != nil && e.last.head.rank == chapterly {
		e.above = e.last // with its motto
	}
	if e.open.head.number != 1 || e.open.head.rank != noRank || e.open.isMarked() || e.above == nil ||
		e.above.head.rank != chapterly && text.isVerse() {
		return
	}
	if e.restarts++; o.chosen[e.above.group()] {
		e.restarts++
	}
}

// see counts what a heading shows.
func (e *evidence) see(n *node) {
	count := func(sum *float64, is bool) {
		if is {
			*sum++
		}
	}
	count(&e.labelled, n.head.rank == chapterly || n.isMarked())
	count(&e.parts, n.head.rank != chapterly && n.head.rank != noRank)
	count(&e.counted, n.head.number > 0 && n.head.number == e.before+1)
	count(&e.titled, n.head.title != "" || n.agrees)
	count(&e.listed, n.listed)
	if key := titleKey(n.text); n.head.number == 0 && !n.listed {
		if e.seen[key] {
			e.repeated++
		}
		e.seen[key] = true
	}
}

// groups are the kinds of headings, in the order of the book.
func (b *book) groups(table bool) []string {
	var all []string
	for _, n := range b.headings() {
		if group := n.group(); n.listed == table && !slices.Contains(all, group) {
			all = append(all, group)
		}
	}
	return all
}

// listUnnamed adds headings at the top of pages to those of the table of contents, if it does not name the page. They
// begin chapters, too.
func (b *book) listUnnamed() {
	level := 0
	named := map[string]bool{}
	for _, n := range b.headings() {
		if n.listed {
			named[n.doc] = true
		}
	}
	for _, n := range b.headings() {
		switch {
		case n.listed:
			level = n.level
		case n.page && level > 0 && !named[n.doc]:
			n.plain, n.level, n.listed = n.level, level, true
		}
	}
}

// unlist undoes listUnnamed.
func (b *book) unlist() {
	for _, n := range b.nodes {
		if n.plain > 0 {
			n.level, n.plain, n.listed = n.plain, 0, false
		}
	}
}

// firstHeading is the heading above all text; -1 if there is none.
func (b *book) firstHeading() int {
	for i := range b.headings() {
		if b.wordsBetween(0, i) > 0 {
			break
		}
		return i
	}
	return -1
}

// starts are the headings of chapters that have text.
func (o *outline) starts() []int {
	var all []int
	for i := range o.nodes {
		if o.role(i) != startsChapter {
			continue
		}
		if n := len(all); n > 0 && o.wordsBetween(all[n-1], i) == 0 {
			all = all[:n-1]
		}
		all = append(all, i)
	}
	return all
}

func (b *book) wordsBetween(from, to int) int {
	words := 0
	for _, n := range b.nodes[from:max(from, to)] {
		if n.hasText() {
			words += n.words()
		}
	}
	return words
}

// isVerse reports whether the lines of a node were kept.
func (n *node) isVerse() bool { return strings.Contains(n.text, "\n") }

// words counts the words of a node, once.
func (n *node) words() int {
	if n.counted != len(n.text) {
		n.count, n.counted = annotator.CountWords(n.text), len(n.text)
	}
	return n.count
}
