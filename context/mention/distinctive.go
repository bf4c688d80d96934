package mention

import (
	"unicode"
	"unicode/utf8"

	"annotator"
)

// The share of the scenes above which a word does not show what a text is about.
const commonShare, leastCommon = 2, 3

// Texts share a word that is not common in the story, or two words with the same beginning. It has at least stemLetters
// and half of the longer word. Where spaces do not separate words, they share runLength consecutive characters.
const (
	stemLetters = 4
	runLength   = 4
)

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
