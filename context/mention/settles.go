package mention

import (
	"slices"

	"annotator"
)

// Settles reports whether a fact of an entry says anything of what a claim of an entry says, which may be the same. It
// has a word of the claim that is not common in the story, or names another entry that the claim is about. If the fact
// says who or what its entry is, the names of that count, too. Any fact settles a claim that has nothing else.
func (x *Index) Settles(e *annotator.Entry, claim *annotator.Claim, of *annotator.Entry, fact *annotator.Claim,
	usage *Usage,
) bool {
	w, says := x.Wording(claim.Text, e, usage), false
	for i, has := range w.in(fact.Text) {
		if !fact.Identity && slices.Contains(w.parts[i].ids, of.ID) {
			continue
		}
		if has {
			return true
		}
		says = true
	}
	return !says
}
