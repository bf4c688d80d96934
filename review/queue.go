package review

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/view"
)

// Queue is what of a codex is uncertain, in the order in which a person is asked.
type Queue struct {
	Suggestions []Suggestion
	Left        int // live entries that were not looked at, because the others are mentioned more
}

// Read computes the queue of a view. Without a story, what needs its text is left out.
func Read(ctx context.Context, v *view.View, story Story) (*Queue, error) {
	r, err := read(ctx, v, story)
	if err != nil {
		return nil, err
	}
	q := &Queue{Left: r.left}
	for _, find := range []func() []Suggestion{
		r.findDoubles, r.findContradictions, r.findStates, r.findMissing, r.findQuotations, r.findTentative,
		r.findSlight,
	} {
		q.Suggestions = append(q.Suggestions, find()...)
	}
	asked, err := r.asked(ctx, v)
	if err != nil {
		return nil, err
	}
	q.Suggestions = append(q.Suggestions, asked...)
	for i := range q.Suggestions {
		sortChoices(q.Suggestions[i].Choices)
	}
	order(q.Suggestions)
	return q, nil
}

// perTurn is how many suggestions of a kind have a turn together, if more than one. Of these kinds most are right, by a
// reader's judgement of a codex: see docs/review.md.
var perTurn = map[Kind]int{Quotation: 3, Missing: 2}

// order sorts suggestions. The kinds take turns, each with what is likeliest and has most resting on it. So the
// beginning of the queue shows what is wrong with a codex, whatever it has most of. Weak suggestions follow in the same
// order.
func order(list []Suggestion) {
	slices.SortFunc(list, func(a, b Suggestion) int { return compareScores(&a, &b) })
	const afterAll = 1 << 30
	type group struct {
		kind Kind
		weak bool
	}
	turn, of := make(map[string]int, len(list)), map[group]int{}
	for i := range list {
		g := group{list[i].Kind, list[i].weak}
		turn[list[i].Key] = of[g] / max(1, perTurn[g.kind])
		if of[g]++; g.weak {
			turn[list[i].Key] += afterAll
		}
	}
	kinds := Kinds()
	slices.SortFunc(list, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(turn[a.Key], turn[b.Key]),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), compareScores(&a, &b))
	})
}

// sortChoices puts choices in the order of the letters of the prompt.
func sortChoices(choices []Choice) {
	const letters = LetterYes + LetterNever + LetterEdit + LetterSplit + LetterReject
	slices.SortStableFunc(choices, func(a, b Choice) int {
		return strings.Index(letters, a.Letter) - strings.Index(letters, b.Letter)
	})
}

// compareScores puts the higher scores first.
func compareScores(a, b *Suggestion) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
}

// quoteAt returns the words around an offset of a scene's text.
func quoteAt(s *scene, offset int) Quote {
	const around = 120
	start, end := max(0, offset-around), min(len(s.text), offset+around)
	for start > 0 && !utf8.RuneStart(s.text[start]) {
		start--
	}
	for end < len(s.text) && !utf8.RuneStart(s.text[end]) {
		end++
	}
	rank, left := 0, offset
	for rank < len(s.posts)-1 && left >= len(s.posts[rank].Body)+len("\n\n") {
		left -= len(s.posts[rank].Body) + len("\n\n")
		rank++
	}
	return Quote{s.posts[rank].ID, annotator.PlaceAt(s.order, rank), s.text[start:end]}
}
