package mention

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/codex"

	"golang.org/x/text/unicode/norm"
)

// scanner reads the words of a text one by one. A word is a run of letters, marks and digits, with the apostrophes and
// hyphens inside it. Scripts without spaces between words leave open where one ends; there every character, with its
// marks, is a word.
type scanner struct {
	text       string
	start, end int    // of the word, in bytes
	folded     []byte // the word as it is compared; overwritten by next
	attached   bool   // nothing is between this word and the one before
	paragraph  bool   // a blank line is between them
	inside     bool   // only a space, or a comma and a space, is between them
	decomposed []byte // scratch of fold
}

// next goes to the next word, or returns false at the end of the text.
func (s *scanner) next() bool {
	gap, lines := s.end, 0
	for at := gap; at < len(s.text); {
		class, size := classAt(s.text, at)
		if class == letter || class == character {
			s.attached, s.paragraph = at == gap && gap > 0, lines > 1
			between := s.text[gap:at]
			s.inside = gap > 0 && (between == " " || between == ", ")
			s.start, s.end = at, wordEnd(s.text, at+size, class)
			s.fold(s.text[s.start:s.end])
			return true
		}
		if s.text[at] == '\n' {
			lines++
		}
		at += size
	}
	return false
}

// wordEnd returns where the word ends whose first character, of the given class, ends at the offset at.
func wordEnd(text string, at int, first class) int {
	for at < len(text) {
		class, size := classAt(text, at)
		switch {
		case class == mark, class == letter && first == letter:
			at += size
		case class == joiner && first == letter && letterAt(text, at+size):
			at += size
		default:
			return at
		}
	}
	return at
}

func letterAt(text string, at int) bool {
	if at == len(text) {
		return false
	}
	class, _ := classAt(text, at)
	return class == letter
}

// fold sets the folded word: decomposed (NFD), in lower case, with one kind of apostrophe and of hyphen. It has no
// invisible characters, which a text may have inside a name. Otherwise words are equal where codex.Normalize makes them
// equal; it is not called here because it allocates.
func (s *scanner) fold(word string) {
	s.folded = s.folded[:0]
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			s.foldUnicode(word)
			return
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.folded = append(s.folded, c)
	}
}

// foldUnicode decomposes before it lowers, so that composed and decomposed spellings are equal in any case.
func (s *scanner) foldUnicode(word string) {
	s.folded = s.folded[:0]
	if s.foldHangul(word) {
		return
	}
	s.decomposed = norm.NFD.AppendString(s.decomposed[:0], word)
	for rest := s.decomposed; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if !codex.Invisible(r) {
			s.folded = utf8.AppendRune(s.folded, lower(r))
		}
		rest = rest[size:]
	}
}

// foldHangul folds a word of composed syllables of Hangul alone, by arithmetic; norm allocates for each such word.
func (s *scanner) foldHangul(word string) bool {
	const first, last, initials, vowels, finals = '가', '힣', '\u1100', '\u1161', '\u11a7'
	const perInitial, perVowel = 21 * 28, 28
	for _, r := range word {
		if r < first || r > last {
			s.folded = s.folded[:0]
			return false
		}
		n := r - first
		s.folded = utf8.AppendRune(s.folded, initials+n/perInitial)
		s.folded = utf8.AppendRune(s.folded, vowels+n%perInitial/perVowel)
		if n%perVowel > 0 {
			s.folded = utf8.AppendRune(s.folded, finals+n%perVowel)
		}
	}
	return true
}

func lower(r rune) rune {
	switch r {
	case '\u2019', '\u02bc': // apostrophes
		return '\''
	case '\u2010', '\u2011': // hyphens
		return '-'
	}
	return unicode.ToLower(r)
}

// capitalised reports whether the word begins with a capital letter.
func (s *scanner) capitalised() bool {
	r, _ := utf8.DecodeRuneInString(s.text[s.start:s.end])
	return unicode.IsUpper(r) || unicode.IsTitle(r)
}

// class is the effect of a character on a word.
type class uint8

const (
	other  class = iota // ends it
	letter              // or digit: begins it or goes on with it
	// or invisible: goes on with it; a stray one, such as an emoji's variation selector, begins none
	mark
	joiner    // goes on with it before a letter
	character // of a script without word boundaries: a word of its own
)

// classAt returns the class of the character at an offset, and its size in bytes.
func classAt(text string, at int) (class, int) {
	if c := text[at]; c < utf8.RuneSelf {
		return asciiClass(c), 1
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	return unicodeClass(r), size
}

func asciiClass(c byte) class {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return letter
	case c == '\'', c == '-':
		return joiner
	default:
		return other
	}
}

func unicodeClass(r rune) class {
	switch {
	case strings.ContainsRune("\u2019\u2010\u2011", r):
		return joiner
	case unicode.IsMark(r):
		return mark
	case unicode.IsLetter(r) && annotator.Unspaced(r):
		return character
	case unicode.In(r, unicode.L, unicode.Nd, unicode.Nl):
		return letter
	case codex.Invisible(r):
		return mark
	default:
		return other
	}
}
