package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// division is a part of a document that its markup marks as one. It is a section of a FictionBook, a division of TEI,
// or what EPUB's vocabulary calls a chapter. If it has no heading, a heading without text is set, which gets a number.
type division struct {
	kind  string // "chapter", "part"; others say nothing
	depth int    // from 1: the level of its heading, if nothing else says it
	at    int    // how many nodes the page has before it
}

// divisionOf reads an element as a division within another; nil if it is none.
func (r *pageReader) divisionOf(token html.Token, kinds []string) *division {
	d := &division{depth: 1, at: len(r.nodes)}
	outer := r.top().division
	if outer != nil {
		d.depth = outer.depth + 1
	}
	if token.Data == "section" && r.fb2 {
		d.depth = min(r.top().section+2, maxHeadingLevel) // below the title of the book
		return d
	}
	for _, kind := range kinds {
		d.kind = strings.TrimPrefix(kind, "doc-")
		switch {
		case outer != nil && outer.at == d.at && outer.kind == d.kind && d.isNamed(): // two elements for one chapter
			return nil
		case sectionElements[token.Data] && d.isNamed(), token.Data == "section" && d.kind == "division":
			return d
		}
	}
	return nil
}

// isNamed reports whether the word for a division is one of headings.
func (d *division) isNamed() bool {
	return readHeading(d.kind+" 1").labelled() || readHeading(d.kind).kind == namedHeading
}

// named is the title of a division of a kind that is a word of headings: "Chapter 3", "Prologue".
func (d *division) named(number string) string {
	title := strings.ToUpper(d.kind[:1]) + d.kind[1:]
	if readHeading(d.kind).kind == namedHeading {
		return title
	}
	return title + " " + number
}

// endDivision finds the heading of a division, or sets one without text.
func (r *pageReader) endDivision(d *division) {
	inside := r.nodes[d.at:]
	first := slices.IndexFunc(inside, func(n *node) bool { return n.isText() && n.stays() })
	own := slices.IndexFunc(inside, func(n *node) bool { return n.kind == heading && n.stays() && n.division == nil })
	switch {
	case first < 0:
	case own >= 0:
		inside[own].division = d
	default:
		r.nodes = slices.Insert(r.nodes, d.at, &node{
			kind: heading, copied: true, division: d, doc: r.doc, offset: inside[first].offset, gap: wideGap,
		})
	}
}

// numberDivisions gives the divisions without a heading the level of others as deep, and their number among these as
// their text. An only one says nothing, unless its kind is a name.
func (b *book) numberDivisions() {
	type kind struct {
		name  string
		depth int
	}
	levels, total := map[kind]int{}, map[kind]int{}
	for _, n := range b.headings() {
		if d := n.division; d != nil {
			of := kind{d.kind, d.depth}
			if total[of]++; !n.copied {
				levels[of] = cmp.Or(levels[of], n.level)
			}
		}
	}
	counts := map[kind]int{}
	for _, n := range b.headings() {
		d := n.division
		if d == nil {
			continue
		}
		of := kind{d.kind, d.depth}
		counts[of]++
		for other := range counts {
			if other.depth > d.depth {
				delete(counts, other)
			}
		}
		if !n.copied {
			continue
		}
		n.level = cmp.Or(levels[of], d.depth)
		n.text = strconv.Itoa(counts[of])
		switch {
		case !d.isNamed() && total[of] == 1:
			n.kind = anchor
		case d.isNamed():
			n.text = d.named(n.text)
		}
	}
}

// isMarked reports whether the markup calls what a heading begins a chapter.
func (n *node) isMarked() bool {
	return n.division != nil && readHeading(n.division.kind+" 1").rank == chapterly
}
