package review

import (
	"fmt"
	"strings"

	"annotator"
)

// maxMissing is how many phrases are suggested.
const maxMissing = 100

// findMissing suggests phrases that the story uses as names, and that are nobody's.
func (r *reader) findMissing() (found []Suggestion) {
	if len(r.scenes) == 0 {
		return nil
	}
	none := func(string) bool { return false }
	for i, p := range r.index.Recurring(r.texts(), r.usage, none, maxMissing) {
		often := annotator.Quantity(p.Count, "occurrence") + " in " + annotator.Quantity(p.Scenes, "scene")
		s := Suggestion{
			Kind: Missing, Asks: fmt.Sprintf("Whose name is %q?", p.Text), Mentions: p.Count, Why: often,
			Score: float64(maxMissing - i), // the most name-like first
		}
		if strings.ToLower(p.Text) != p.Text { // a name, and not what things are called
			s.Score += maxMissing
		}
		at := &r.scenes[p.Scene]
		quote := quoteAt(at, p.Start)
		s.Sides = []Side{{Name: p.Text, Count: p.Count, Place: quote.Place, Quotes: []Quote{quote}}}
		for _, id := range r.index.Similar(0, []string{p.Text}, 1) {
			if e := r.byID[id]; e != nil {
				s.Sides = append(s.Sides, r.side(e))
				s.Choices = append(s.Choices, Choice{
					Letter: LetterYes, Does: "it is a name of " + named(e), Operations: operations(
						annotator.Operation{Do: annotator.DeedAdd, Entry: id, Name: p.Text}),
				})
			}
		}
		s.Choices = append(s.Choices, Choice{
			Letter: LetterEdit, Does: "it is a name of the entry that you type", Input: InputEntry,
			Operations: operations(annotator.Operation{Do: annotator.DeedAdd, Name: p.Text}),
		})
		s.seal(p.Key)
		found = append(found, s)
	}
	return found
}
