package review

import (
	"fmt"

	"annotator"
)

// openFor is for how many later facts of its entry a state is open before a person is asked about it.
const openFor = 3

// related is how much two facts share that are about the same, as a rare word or another entry. A later state that
// shares nothing may have ended an earlier one, but seldom has.
const related = 1.0

// findStates suggests states that have been open for long: their entries have several later facts. The one is shown
// that shares most with the state, or else the latest.
func (r *reader) findStates() (found []Suggestion) {
	for _, e := range r.entries {
		facts := open(e)
		for _, c := range facts {
			if !c.State || locked(e, c) {
				continue
			}
			if s := r.state(e, c, facts); s != nil {
				found = append(found, *s)
			}
		}
	}
	return found
}

// state returns the suggestion that a state has ended; nil for none.
func (r *reader) state(e *annotator.Entry, c *annotator.Claim, facts []*annotator.Claim) *Suggestion {
	own := r.about(e, c)
	var by *annotator.Claim
	later, most := 0, 0.0
	for _, newer := range facts {
		if newer.From.Order() <= c.From.Order() || newer.Earlier {
			continue
		}
		later++
		other := r.about(e, newer)
		score := own.shared(&other)
		if score < related {
			score = 0
		} else if newer.State {
			score += related
		}
		if score >= most {
			by, most = newer, score
		}
	}
	if later < openFor {
		return nil
	}
	s := &Suggestion{
		Kind: State, Asks: "Has this ended?", Why: annotator.Quantity(later, "later fact"),
		Sides: []Side{r.factSide(e, c), r.factSide(e, by)},
	}
	s.Choices = append(factChoices(e, c)[1:], Choice{
		Letter: LetterYes, Does: fmt.Sprintf("fact %d:%d has ended, where %d:%d is told", e.ID, c.ID, e.ID, by.ID),
		Operations: operations(annotator.Operation{
			Do: annotator.DeedEnd, Entry: e.ID, Fact: c.ID, From: by.From.Order(), Was: c.Text,
		}),
	})
	s.concern(r, e)
	s.Score, s.weak = (1+most)*s.rests(), most == 0 || !by.State
	s.seal(e.ID, c.ID)
	return s
}

// shared says how much two facts of an entry have in common: the other entries that both name, and the words of both.
func (a *about) shared(b *about) float64 {
	score := a.terms.Shared(&b.terms)
	for _, id := range a.names {
		for _, other := range b.names {
			if id == other && id != a.entry.ID {
				score++
				break
			}
		}
	}
	return score
}
