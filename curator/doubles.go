package curator

import (
	"slices"

	"annotator"
	"annotator/context/mention"
)

// Doubles finds entries that may be one thing by what their facts rest on.
type Doubles struct {
	index *mention.Index
	known map[int64]*openFacts
}

// NewDoubles returns a finder with the names of all entries.
func NewDoubles(index *mention.Index) *Doubles { return &Doubles{index, map[int64]*openFacts{}} }

// MayBeOne reports whether two entries may be one thing, whatever their names are. Their quotations overlap, and their
// facts name the same in the same scenes.
func (d *Doubles) MayBeOne(a, b *annotator.Entry) bool { return mayBeOne(d.factsOf(a), d.factsOf(b)) }

func (d *Doubles) factsOf(e *annotator.Entry) *openFacts {
	if d.known[e.ID] == nil {
		d.known[e.ID] = factsOf(d.index, e)
	}
	return d.known[e.ID]
}

// Apart reports whether two names or tags of entries say that they are different things.
func Apart(a, b *annotator.Entry) bool { return apart(a, b) != "" }

// Told reports whether one of some other entries says what a fact of an entry says, by the same words of a post.
func (d *Doubles) Told(usage *mention.Usage, e *annotator.Entry, fact *annotator.Claim,
	others []*annotator.Entry,
) bool {
	return slices.ContainsFunc(others, func(o *annotator.Entry) bool {
		repeats := func(text string) bool { return d.index.Repeats(fact.Text, e, text, o, usage) }
		return o.ID != e.ID && tells(o, fact, repeats)
	})
}
