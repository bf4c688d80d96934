package review

import (
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/mention"
)

// maxMissing is how many phrases are suggested.
const maxMissing = 100

// findMissing suggests phrases that the story uses as names, and that are nobody's.
func (r *reader) findMissing() (found []Suggestion) {
	if len(r.scenes) == 0 {
		return nil
	}
	r.told = r.toldIn()
	none := func(string) bool { return false }
	for i, p := range r.index.Recurring(r.texts(), r.usage, none, maxMissing) {
		often := annotator.Quantity(p.Count, "occurrence") + " in " + annotator.Quantity(p.Scenes, "scene")
		s := Suggestion{
			Kind: Missing, Asks: fmt.Sprintf("Whose name is %q?", p.Text), Mentions: p.Count, Why: often,
			Score: float64(maxMissing - i), // the most name-like first
		}
		if isProper(p.Text) { // a name, and not what things are called
			s.Score += maxMissing
		}
		at := &r.scenes[p.Scene]
		quote := quoteAt(at, p.Start)
		s.Sides = []Side{{Name: p.Text, Count: p.Count, Place: quote.Place, Quotes: []Quote{quote}}}
		e := r.owner(p.Text)
		if s.weak = e == nil && !isProper(p.Text); e != nil {
			s.Sides = append(s.Sides, r.side(e))
			s.Choices = append(s.Choices, Choice{
				Letter: LetterYes, Does: "it is a name of " + named(e), Operations: operations(
					annotator.Operation{Do: annotator.DeedAdd, Entry: e.ID, Name: p.Text}),
			})
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

// owner returns the entry that a phrase may be a short name of; nil for none. Its name ends with the words of the
// phrase, as "Lampwright Hall" with "Hall", or begins with them. A scene that has the phrase names or quotes the entry.
// Of several, one whose name ends so counts most, and then that on which most rests.
func (r *reader) owner(phrase string) (found *annotator.Entry) {
	best := 0
	for _, e := range r.entries {
		if fit := shortens(phrase, e.Names()) * r.weight(e); fit > best && r.together(phrase, e) {
			found, best = e, fit
		}
	}
	return found
}

// How well a phrase fits as a short name.
const (
	isBegin = 1
	isHead  = 1 << 20 // more than the weight of any entry
)

// shortens says how well a phrase fits as a short name of what has some names.
func shortens(phrase string, names []string) (fit int) {
	short := strings.Fields(mention.PhraseKey(phrase))
	for _, name := range names {
		words := strings.Fields(name)
		isLink := func(word string) bool { return isLower(word) && !isCommon(word) }
		if link := slices.IndexFunc(words, isLink); link > 0 { // "space on the wall" is a space
			words = words[:link]
		}
		for i := 0; i+len(short) <= len(words); i++ {
			end := i + len(short)
			switch {
			case strings.ToLower(strings.Join(words[i:end], " ")) != strings.Join(short, " "):
			case end == len(words) || isLower(words[end]):
				fit = isHead
			case i == 0:
				fit = max(fit, isBegin)
			}
		}
	}
	return fit
}

// together reports whether a scene that has a phrase names an entry, or facts that are quoted from it do.
func (r *reader) together(phrase string, e *annotator.Entry) bool {
	index := mention.New()
	index.SetNames(e.ID, e.Names())
	phrase = strings.ToLower(phrase)
	return slices.ContainsFunc(r.scenes, func(s scene) bool {
		return strings.Contains(strings.ToLower(s.text), phrase) && (len(index.Find(s.text)) > 0 ||
			slices.ContainsFunc(s.posts, func(p annotator.Post) bool { return r.told[p.ID][e.ID] }))
	})
}

// toldIn returns the entries that the facts name which are quoted from each post.
func (r *reader) toldIn() map[int64]map[int64]bool {
	told := map[int64]map[int64]bool{}
	for _, e := range r.entries {
		for _, c := range open(e) {
			for _, id := range append(r.named(c), e.ID) {
				for _, q := range c.Evidence {
					if told[q.Post] == nil {
						told[q.Post] = map[int64]bool{}
					}
					told[q.Post][id] = true
				}
			}
		}
	}
	return told
}
