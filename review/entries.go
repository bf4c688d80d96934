package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// findTentative suggests entries that are not confirmed. Those come first of which little is told.
func (r *reader) findTentative() (found []Suggestion) {
	for _, e := range r.entries {
		if e.Status != annotator.Tentative || locks(e, codex.LockStatus) {
			continue
		}
		s := Suggestion{
			Kind: Tentative, Asks: fmt.Sprintf("Is %q worth an entry?", e.Name()), Why: "nobody has decided on it",
			Sides: []Side{r.side(e)},
		}
		s.Choices = []Choice{
			{Letter: LetterYes, Does: "keep " + named(e), Operations: operations(
				annotator.Operation{Do: annotator.DeedKeep, Entry: e.ID})},
			{Letter: LetterEdit, Does: "keep it, under a name that you type", Input: InputName, Operations: operations(
				annotator.Operation{Do: annotator.DeedKeep, Entry: e.ID},
				annotator.Operation{Do: annotator.DeedRename, Entry: e.ID})},
			hides(LetterReject, e),
		}
		s.concern(r, e)
		s.Score, s.weak = 1/s.rests(), s.Facts > maxSlight || !isCommon(e.Term)
		s.seal(e.ID)
		found = append(found, s)
	}
	return found
}

// maxSlight is how many facts an entry has at most that is slight.
const maxSlight = 2

// findSlight suggests entries that bring nothing: another entry tells their only fact, or nothing else names them.
func (r *reader) findSlight() (found []Suggestion) {
	linked := map[int64]int{} // how many facts of others name an entry
	for _, e := range r.entries {
		for _, c := range open(e) {
			for _, id := range r.named(c) {
				if id != e.ID {
					linked[id]++
				}
			}
		}
	}
	for _, e := range r.entries {
		facts := open(e)
		if len(facts) > maxSlight || e.Status == annotator.Tentative || locks(e, codex.LockStatus) {
			continue
		}
		s := Suggestion{
			Kind: Slight, Asks: fmt.Sprintf("Is %q worth no entry?", e.Name()),
			Why: "little is told of it, and nothing names it", Sides: []Side{r.side(e)}, weak: !isCommon(e.Term),
		}
		likely := 1.0
		switch {
		case len(facts) == 1 && r.doubles.Told(r.usage, e, facts[0], r.near(facts[0])):
			s.Why, likely = "another entry has its only fact", 2
		case linked[e.ID] > 1 || r.mentions[e.ID] > 1 || len(facts) == maxSlight && s.weak:
			continue
		}
		s.Choices = []Choice{hides(LetterYes, e)}
		s.concern(r, e)
		s.Score = likely / s.rests()
		s.seal(e.ID)
		found = append(found, s)
	}
	return found
}

// isCommon reports whether a name is what things of its sort are called. It has a word in lower case that is longer
// than those that connect the words of names.
func isCommon(name string) bool {
	const connecting = 3
	return slices.ContainsFunc(strings.Fields(name), func(word string) bool {
		return isLower(word) && utf8.RuneCountInString(word) > connecting
	})
}

// near returns the entries that quote the posts that a fact quotes.
func (r *reader) near(c *annotator.Claim) (list []*annotator.Entry) {
	for _, q := range c.Evidence {
		list = append(list, r.quoting[q.Post]...)
	}
	return list
}
