package ingest

import (
	"iter"
	"slices"
	"strings"
)

// nodeKind is what a part of a document is.
type nodeKind string

const (
	paragraph nodeKind = "paragraph"
	pause     nodeKind = "pause" // a break between scenes
	heading   nodeKind = "heading"
	anchor    nodeKind = "anchor" // a place that a table of contents names; its text is the name
)

// node is a part of a document: what every format of books is brought to before it is parted into chapters. An importer
// fills in what it knows; the outline decides what is a heading and what is left out.
type node struct {
	kind nodeKind
	text string // its lines are parted by "\n" where they matter

	// Where it is from.
	doc    string // the document of the source: a file of an archive or folder; "" if the source is one document
	offset int    // in the document as UTF-8 with line ends as "\n" and no control characters, in bytes

	// Evidence.
	level    int      // of a heading that markup makes one, 1 the highest; 0 if there is no markup
	plain    int      // the level by markup of a heading that the outline lists all the same
	listed   bool     // a table of contents that belongs to the format leads here; the text is its entry
	leaf     bool     // such an entry has no entries below it
	lines    []string // of the source, where the text joins them
	gap      int      // blank lines before it
	linked   int      // characters of the text that lead to places in the book,
	links    int      // and how many links they are
	anchored int      // characters in links to anywhere
	strong   bool     // all of the text is bold or centred
	tabular  bool     // a row of a table, an item of a list
	page     bool     // a page begins with it

	division *division // that the heading is of; nil for others

	count, counted int // words, and the length of the text when they were counted

	// Decided.
	head   wording
	agrees bool   // the book's own list of contents has it
	doubt  bool   // it may be text: its words stay in it
	title  *node  // of a heading, the one behind it that is joined to it as its title; nil if there is none
	part   string // the part that is left out of the story and that this belongs to; "" if it stays
	copied bool   // its text is not in the source here: an entry of a table of contents
}

// sourceLines are the lines of a node as the source has them, without those of which only marks were left out. A node
// has at least one.
func (n *node) sourceLines() []string {
	lines := n.lines
	if lines == nil {
		lines = strings.Split(n.text, "\n")
	}
	isBlank := func(line string) bool { return strings.TrimSpace(line) == "" }
	if !slices.ContainsFunc(lines, isBlank) {
		return lines
	}
	if lines = slices.DeleteFunc(slices.Clone(lines), isBlank); len(lines) == 0 {
		return []string{n.text}
	}
	return lines
}

// stays reports whether a node is not left out.
func (n *node) stays() bool { return n.part == "" }

// hasText reports whether a node is a paragraph that stays.
func (n *node) hasText() bool { return n.kind == paragraph && n.stays() }

// titleText is the title that is joined to a heading; "" if there is none.
func (n *node) titleText() string {
	if n.title == nil {
		return ""
	}
	return n.title.text
}

// inSource reports whether a node has text of the source.
func (n *node) inSource() bool { return n.kind != anchor && !n.copied }

// isText reports whether a node is a paragraph or a heading.
func (n *node) isText() bool { return n.kind == paragraph || n.kind == heading }

// headings are the headings that stay, each with its place among the nodes.
func (b *book) headings() iter.Seq2[int, *node] {
	return func(yield func(int, *node) bool) {
		for i, n := range b.nodes {
			if n.kind == heading && n.stays() && !yield(i, n) {
				return
			}
		}
	}
}
