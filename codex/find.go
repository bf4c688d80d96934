package codex

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"

	"golang.org/x/text/unicode/norm"
)

// Words are the words of a search. They are found where the full-text index finds them: in any case, with or without
// diacritics. A word with signs in it, such as "half-moon", is found as the words between them.
type Words struct{ words [][]string }

// NewWords returns the words of a search.
func NewWords(words []string) *Words {
	w := &Words{}
	for _, word := range words {
		var folded []string
		for _, t := range tokens(word) {
			folded = append(folded, t.folded)
		}
		if folded != nil {
			w.words = append(w.words, folded)
		}
	}
	return w
}

// Span is a part of a text, in code points.
type Span struct {
	Start, End int // End is exclusive
}

// In returns the places of words in a text, in its order and without overlaps, and how many different words there are.
func (w *Words) In(text string) (spans []Span, different int) {
	in := tokens(text)
	for _, word := range w.words {
		found := false
		for i := range len(in) - len(word) + 1 {
			part := in[i : i+len(word)]
			if slices.EqualFunc(part, word, func(t token, folded string) bool { return t.folded == folded }) {
				spans, found = append(spans, Span{part[0].Start, part[len(part)-1].End}), true
			}
		}
		if found {
			different++
		}
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	kept := spans[:0]
	for _, s := range spans {
		if len(kept) == 0 || s.Start >= kept[len(kept)-1].End {
			kept = append(kept, s)
		}
	}
	return kept, different
}

// AllIn reports whether a text has all of the words. It is false if there are none.
func (w *Words) AllIn(text string) bool {
	_, different := w.In(text)
	return different > 0 && different == len(w.words)
}

// ExcerptStart returns where an excerpt of size code points of a text begins that shows the first of some spans. It
// begins at the beginning of the text, or a third of the size before the span, after a space.
func ExcerptStart(text []rune, spans []Span, size int) int {
	if len(text) <= size || len(spans) == 0 || spans[0].Start <= size/3 {
		return 0
	}
	start := min(spans[0].Start-size/3, len(text)-size)
	for i, r := range text[start:spans[0].Start] {
		if unicode.IsSpace(r) {
			return start + i + 1
		}
	}
	return start
}

// Best returns the claim that holds and has the most of the words, in its text or as its speaker. Among equals it is
// the first in the story. It is nil if no claim has any.
func (w *Words) Best(claims []annotator.Claim) *annotator.Claim {
	var best *annotator.Claim
	most := 0
	for i := range claims {
		c := &claims[i]
		_, n := w.In(c.Text + "\n" + c.Speaker)
		earlier := best != nil && cmp.Or(cmp.Compare(c.From, best.From), cmp.Compare(c.Ord, best.Ord)) < 0
		if c.Until == 0 && (n > most || n > 0 && n == most && earlier) {
			best, most = c, n
		}
	}
	return best
}

// token is a run of letters and digits in a text.
type token struct {
	Span
	folded string // in lower case, without marks
}

func tokens(text string) (list []token) {
	var folded strings.Builder
	start, at := 0, 0
	end := func() {
		if folded.Len() > 0 {
			list = append(list, token{Span{start, at}, folded.String()})
			folded.Reset()
		}
	}
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if folded.Len() == 0 {
				start = at
			}
			foldLetter(&folded, r)
		case !unicode.IsMark(r):
			end()
		}
		at++
	}
	end()
	return list
}

// foldLetter appends a letter in lower case, without diacritics.
func foldLetter(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		b.WriteRune(unicode.ToLower(r))
		return
	}
	for _, part := range norm.NFD.String(string(r)) {
		if !unicode.IsMark(part) {
			b.WriteRune(unicode.ToLower(part))
		}
	}
}
