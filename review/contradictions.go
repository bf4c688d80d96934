package review

import (
	"slices"
	"strings"

	"annotator"
	"annotator/context/mention"
)

// How much of the words of two facts of an entry that may contradict each other is the same.
const (
	sameTopic   = 2.5 // the weight of the words
	sameWording = 0.6 // if one denies: also the share of the words of the shorter one
)

// findContradictions suggests pairs of facts of an entry that may contradict each other. They are a guess and a
// later fact on the same, or one denies what the other says.
func (r *reader) findContradictions() (found []Suggestion) {
	for _, e := range r.entries {
		facts := open(e)
		abouts := make([]about, len(facts))
		for i, c := range facts {
			abouts[i] = r.about(e, c)
		}
		for i := range facts {
			for k := range i {
				a, b := &abouts[k], &abouts[i]
				if locked(e, a.claim) && locked(e, b.claim) {
					continue
				}
				isGuess := guessAndFact(a.claim, b.claim) || guessAndFact(b.claim, a.claim)
				denies := negated(a.claim.Text) != negated(b.claim.Text)
				share := a.terms.Shared(&b.terms) / max(1, min(a.terms.Shared(&a.terms), b.terms.Shared(&b.terms)))
				if score := a.shared(b); score >= sameTopic && (isGuess || denies && share >= sameWording) {
					found = append(found, r.contradiction(e, a.claim, b.claim, score, isGuess))
				}
			}
		}
	}
	return onceEach(found)
}

// guessAndFact reports whether a claim is a guess, and another one a later fact.
func guessAndFact(guess, fact *annotator.Claim) bool {
	return guess.Kind == annotator.Inferred && fact.Kind != annotator.Inferred && !fact.Earlier &&
		guess.From.Order() < fact.From.Order()
}

// onceEach leaves out contradictions with a fact that a likelier one has.
func onceEach(list []Suggestion) []Suggestion {
	slices.SortFunc(list, func(a, b Suggestion) int { return compareScores(&a, &b) })
	type fact struct{ entry, fact int64 }
	seen := map[fact]bool{}
	return slices.DeleteFunc(list, func(s Suggestion) bool {
		a, b := fact{s.Sides[0].Entry, s.Sides[0].Fact}, fact{s.Sides[1].Entry, s.Sides[1].Fact}
		was := seen[a] || seen[b]
		seen[a], seen[b] = true, true
		return was
	})
}

// contradiction returns the suggestion that two facts contradict each other.
func (r *reader) contradiction(e *annotator.Entry, a, b *annotator.Claim, score float64,
	isGuess bool,
) Suggestion {
	s := Suggestion{
		Kind: Contradiction, Asks: "Do both hold?", Why: "one of them denies",
		Sides: []Side{r.factSide(e, a), r.factSide(e, b)},
	}
	wrong := a
	if isGuess {
		s.Why = "a guess, and a later fact on the same"
		if b.Kind == annotator.Inferred {
			wrong = b
		}
	}
	s.Choices = append(factChoices(e, wrong)[1:], Choice{
		Letter: LetterYes, Does: "both hold, and are locked", Operations: operations(lockOf(e, a), lockOf(e, b)),
	})
	s.Choices = append(s.Choices, r.splits(e)...)
	s.concern(r, e)
	s.Score, s.weak = score*s.rests(), !isGuess
	s.seal(e.ID, a.ID, b.ID)
	return s
}

// negations are words that deny, of several languages.
const negations = " not no never none nobody nothing neither nor without cannot " +
	"nicht kein keine nie niemand ohne ne pas jamais personne aucun sans nunca nadie sin não ninguém sem " +
	"non mai nessuno senza не нет никогда никто без "

// negated reports whether a text denies.
func negated(text string) bool {
	for _, word := range mention.Words(text) {
		if strings.Contains(negations, " "+word+" ") || strings.HasSuffix(strings.ReplaceAll(word, "’", "'"), "n't") {
			return true
		}
	}
	return false
}
