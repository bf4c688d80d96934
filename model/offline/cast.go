package offline

import (
	"cmp"
	"slices"

	"annotator"
)

// Cast is the things that a story names, found by the model's rules in the text alone.
type Cast struct{ book *book }

// Thing is a thing with its names.
type Thing struct {
	Term     string
	Aliases  []string
	Kind     string // person, place or group; empty if it is not known
	Mentions int
}

// NewCast returns the cast of a story of which nothing is read.
func NewCast() *Cast { return &Cast{newBook(newLexicon())} }

// Add reads the next scene.
func (c *Cast) Add(s *annotator.Scene) {
	read := scene{number: s.N, thread: s.Thread.ID}
	for i := range s.Posts {
		read.posts = append(read.posts, post{s.Posts[i].ID, s.Posts[i].Body})
	}
	c.book.add(read)
}

// Things returns what was named at least twice so far, in the order of how often: at most limit things.
func (c *Cast) Things(limit int) []Thing {
	b := c.book
	var all []*name
	for _, n := range b.names {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *name) int { return cmp.Compare(a.Key(), b.Key()) })
	var things []Thing
	for _, gr := range b.groupsOf(newGlossary(nil), all) {
		count := gr.mentions()
		term := gr.term(b)
		if count < minMentions || term == "" {
			continue
		}
		things = append(things, Thing{Term: term, Aliases: gr.forms(term), Kind: b.kindOf(gr.names), Mentions: count})
	}
	slices.SortFunc(things, func(a, b Thing) int {
		return cmp.Or(b.Mentions-a.Mentions, cmp.Compare(a.Term, b.Term))
	})
	return things[:min(limit, len(things))]
}
