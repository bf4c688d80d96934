package mention

import (
	"math"
	"slices"
)

// Terms are what is distinctive of a text. These are words that are not common in the story, and runs of characters
// where spaces do not separate words. The rarer a word is, the more it weighs.
type Terms struct {
	words   [][]rune
	weights []float64 // of the words
	runs    []string
}

// Terms returns what is distinctive of a text outside of the names in it.
func (u *Usage) Terms(text string, names []Occurrence) Terms {
	var t Terms
	at := 0
	add := func(piece string) {
		words, runs := u.distinctive(piece)
		t.runs = append(t.runs, runs...)
		for _, word := range words {
			if !slices.ContainsFunc(t.words, func(known []rune) bool { return slices.Equal(known, word) }) {
				t.words, t.weights = append(t.words, word), append(t.weights, u.weight(string(word)))
			}
		}
	}
	for _, name := range names {
		if name.Start >= at {
			add(text[at:name.Start])
		}
		at = max(at, name.End)
	}
	add(text[at:])
	return t
}

// Count returns how many words and runs there are.
func (t *Terms) Count() int { return len(t.words) + len(t.runs) }

// weight is how much a word says of what a text is about (inverse document frequency).
func (u *Usage) weight(folded string) float64 {
	return math.Log(float64(2+u.scenes) / float64(1+u.of(folded).scenes))
}

// Shared returns the weight of the words that two texts share, in any form of them, and of the runs.
func (t *Terms) Shared(other *Terms) (weight float64) {
	for i, word := range t.words {
		for k, same := range other.words {
			if sameStem(word, same) {
				weight += min(t.weights[i], other.weights[k])
				break
			}
		}
	}
	for _, run := range t.runs {
		if slices.Contains(other.runs, run) {
			weight++
		}
	}
	return weight
}
