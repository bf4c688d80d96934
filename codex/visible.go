package codex

import (
	"strings"
	"unicode"
)

// joined are the scripts in which a zero-width joiner or non-joiner between two letters is spelling: it chooses their
// shapes, as in Persian and Hindi.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// The zero-width non-joiner and joiner.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// Invisible reports whether a character has no shape of its own. Such characters are zero-width characters, direction
// controls, byte order marks, tags, variation selectors and fillers.
func Invisible(r rune) bool {
	if r < '\u00ad' { // the soft hyphen is the first
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Visible removes the invisible characters of a name, so that names that look the same are equal. Joiners stay where
// they are spelling.
func Visible(name string) string {
	if !strings.ContainsFunc(name, Invisible) {
		return name
	}
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		spelling := (r == nonJoiner || r == joiner) && 0 < i && i+1 < len(runes) &&
			unicode.In(runes[i-1], joined...) && unicode.In(runes[i+1], joined...)
		if spelling || !Invisible(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// CleanName prepares an external name for storage and comparison: Clean, without invisible characters, with white space
// collapsed.
func CleanName(name string) string { return strings.Join(strings.Fields(Visible(Clean(name))), " ") }
