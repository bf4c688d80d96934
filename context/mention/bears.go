package mention

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// Bears reports whether a quotation may support a fact of an entry, as far as its words show. Either it shares a word
// that is not common in the story with the fact or the names of the entry. Or it names, whole or in part, the entry or
// another one that the fact names.
func (x *Index) Bears(quote, fact string, e *annotator.Entry, usage *Usage) bool {
	if usage.share(quote, fact) || usage.share(quote, e.Name()) {
		return true
	}
	own := New() // an entry of the present call is not in the index yet
	own.SetNames(e.ID, e.Names())
	if len(own.Named(quote, usage)) > 0 {
		return true
	}
	ofFact := x.Named(fact, usage)
	return slices.ContainsFunc(x.Named(quote, usage), func(m Match) bool {
		return slices.ContainsFunc(ofFact, func(other Match) bool { return other.ID == m.ID })
	})
}

// The share of the scenes above which a word does not show what a text is about.
const commonShare, leastCommon = 2, 3

// Texts share a word that is not common in the story, or two words with the same beginning. It has at least stemLetters
// and half of the longer word. Where spaces do not separate words, they share runLength consecutive characters.
const (
	stemLetters = 4
	runLength   = 4
)

// share reports whether two texts share a word that the story does not use everywhere.
func (u *Usage) share(a, b string) bool {
	words, runs := u.distinctive(a)
	others, otherRuns := u.distinctive(b)
	for _, word := range words {
		if slices.ContainsFunc(others, func(other []rune) bool { return sameStem(word, other) }) {
			return true
		}
	}
	return slices.ContainsFunc(runs, func(run string) bool { return slices.Contains(otherRuns, run) })
}

// distinctive returns the words of a text that are not common, and the runs of characters where spaces do not separate
// words.
func (u *Usage) distinctive(text string) (words [][]rune, runs []string) {
	var ends []int // of the newest characters that are attached to each other; the first is where they begin
	for s := (scanner{text: text}); s.next(); {
		first, _ := utf8.DecodeRuneInString(text[s.start:])
		folded := bare(s.folded)
		character := annotator.Unspaced(first)
		if letters := utf8.RuneCount(folded); (letters > 1 && !character || unicode.Is(unicode.Han, first)) &&
			!u.common(string(folded)) {
			words = append(words, []rune(string(folded)))
		}
		if !character || !s.attached || ends == nil {
			ends = []int{s.start}
		}
		if ends = append(ends, s.end); character && len(ends) > runLength {
			runs = append(runs, text[ends[len(ends)-runLength-1]:s.end])
		}
	}
	return words, runs
}

// common reports whether most scenes have a word.
func (u *Usage) common(folded string) bool { return !u.few(u.of(folded), commonShare, leastCommon) }

// sameStem reports whether two words are the same, or have the same beginning as forms of one word do.
func sameStem(a, b []rune) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n == len(a) && n == len(b) || n >= stemLetters && 2*n >= max(len(a), len(b))
}
