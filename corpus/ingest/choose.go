package ingest

import (
	"slices"

	"annotator"
)

// choose makes each outline that a book may have, and takes the best by its score. One has the entries of a level of
// the format's table of contents, or the headings of a kind. A file of a folder is one chapter unless it has several by
// their labels.
func (b *book) choose() *outline {
	if b.one && !b.hasChapters() {
		return b.onlyOne()
	}
	best := &outline{book: b, chosen: map[string]bool{}, byPage: true} // each page is a chapter
	b.listUnnamed()
	for _, group := range b.groups(true) {
		best = best.better(b.outlineOf(group, true))
	}
	b.unlist()
	for _, group := range b.groups(false) {
		best = best.better(b.outlineOf(group, false))
	}
	if best.fromTable {
		b.listUnnamed()
	}
	return best
}

func (o *outline) better(other *outline) *outline {
	if other.score > o.score {
		return other
	}
	return o
}

// outlineOf makes the outline whose chapters begin with the headings of a group.
func (b *book) outlineOf(group string, table bool) *outline {
	o := &outline{book: b, fromTable: table, chosen: map[string]bool{group: true}, nested: map[int]bool{}}
	at := b.ofGroup(group)
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
	o.opens = at[0]
	o.findNested(group, at)
	o.score = o.measure()
	return o
}

// findNested finds the headings with other labels that are within a chapter. Letters before the first chapter begin
// chapters, too; the acts of a play within a chapter do not.
func (o *outline) findNested(group string, at []int) {
	for i, n := range o.headings() {
		if n.head.rank != chapterly || n.group() == group || n.listed {
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
)

// Sizes of chapters, in words: shorter and longer ones are the less probable, the more they are so.
const (
	shortChapter = 250
	longChapter  = 25_000
)

// evidence is what is counted of an outline.
type evidence struct {
	chapters, ofKind, labelled, parts, counted, titled, listed, restarts float64
	words, direct, total                                                 float64
	sizes                                                                []int
	seen                                                                 map[string]bool
	repeated                                                             int // titles without a number
}

// measure is the score of an outline. It counts how much of the book the outline covers, and whether its chapters have
// a sensible size. The rest is what else shows that they are chapters.
func (o *outline) measure() float64 {
	e := o.gather()
	if e.chapters == 0 || e.words == 0 {
		return 0
	}
	worth := 1 + worthOfText*e.direct/e.words + (worthOfLabels*e.labelled+worthOfTitles*e.titled+
		worthOfTable*e.listed+worthOfKind*e.ofKind)/e.chapters
	if e.restarts < 2 {
		worth += worthOfNumbers * e.counted / e.chapters
	}
	slices.Sort(e.sizes)
	median := float64(e.sizes[(len(e.sizes)-1)/2])
	regular := min(1, (median+1)/min(shortChapter, e.total/20+1), longChapter/(median+1))
	parts := 1 - e.parts/e.chapters/2
	sections := 1 / max(1, e.restarts) * (1 - float64(e.repeated)/e.chapters)
	return e.words / (e.total + 1) * worth * regular * parts * sections * e.chapters / (e.chapters + 2)
}

// gather counts the evidence in one pass. A heading counts when its text begins.
func (o *outline) gather() evidence {
	e := evidence{seen: map[string]bool{}}
	var open *node                // the heading of a chapter without text so far
	direct, above := false, false // the text is directly below it; another heading, no part's, is directly above it
	before := 0
	for i, n := range o.nodes {
		role := o.role(i)
		switch {
		case n.hasText():
			if open != nil {
				e.sizes = append(e.sizes, 0)
				e.see(open, before, above)
				if o.chosen[open.group()] {
					e.ofKind++
				}
				before = open.head.number
			}
			open, above = nil, false
			words := n.words()
			e.total += float64(words)
			if len(e.sizes) > 0 {
				e.sizes[len(e.sizes)-1] += words
			}
			if direct {
				e.direct += float64(words)
			}
		case role == startsChapter:
			above = above || open != nil
			open, direct = n, o.chosen[n.group()]
		case n.kind == heading && n.stays() && !n.copied && role == startsPart && n.head.rank == container:
			before, direct = 0, false
		case n.kind == heading && n.stays() && !n.copied:
			above, direct = true, false
		}
	}
	for _, size := range e.sizes {
		e.words += float64(size)
	}
	e.chapters = float64(len(e.sizes))
	return e
}

// see counts what a heading shows. Numbers that begin anew below headings of another kind are those of sections.
func (e *evidence) see(n *node, before int, above bool) {
	count := func(sum *float64, is bool) {
		if is {
			*sum++
		}
	}
	count(&e.labelled, n.head.rank == chapterly)
	count(&e.parts, n.head.rank != chapterly && n.head.rank != noRank)
	count(&e.counted, n.head.number > 0 && n.head.number == before+1)
	count(&e.titled, n.head.title != "" || n.agrees)
	count(&e.listed, n.listed)
	if key := titleKey(n.text); n.head.number == 0 && !n.listed {
		if e.seen[key] {
			e.repeated++
		}
		e.seen[key] = true
	}
	count(&e.restarts, n.head.number == 1 && n.head.rank == noRank && above)
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

// onlyOne makes the whole book one chapter, whose title is its first heading.
func (b *book) onlyOne() *outline {
	o := &outline{book: b, chosen: map[string]bool{}, single: true, first: -1}
	for i, n := range b.nodes {
		if n.kind == heading && n.stays() {
			o.first = i
		}
		if n.hasText() || o.first >= 0 {
			break
		}
	}
	return o
}

// hasChapters reports whether a book has several headings of chapters by their labels.
func (b *book) hasChapters() bool {
	found := 0
	for _, n := range b.headings() {
		if n.head.rank == chapterly {
			found++
		}
	}
	return found > 1
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

// words counts the words of a node, once.
func (n *node) words() int {
	if n.counted != len(n.text) {
		n.count, n.counted = annotator.CountWords(n.text), len(n.text)
	}
	return n.count
}
