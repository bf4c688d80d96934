package offline

import (
	"embed"
	"strings"
)

//go:embed words/*.txt
var wordFiles embed.FS

// lexicon contains small closed lists of English words, in lower case.
type lexicon struct {
	common    set // ordinary words: no names if capitalised at the start of a sentence
	never     set // no part of a name, whatever its case: pronouns, months, words of a forum
	alone     set // only part of a longer name: forms of address, nationalities, points of the compass
	titles    set // precede a person's name and are no part of it
	epithets  set // precede a name without meaning: old Marrow, poor Marrow
	shortened set // titles with a point that does not end a sentence
	feminine  set // titles of women
	masculine set // titles of men
	ranks     set // join what follows with "of": Count of, Order of the
	particles set // lower-case words inside a name: of, the, de, van
	places    set // end the name of a place
	groups    set // end the name of a group
	things    set // end the name of a thing
	speech    set // verbs after or before the name of a person
}

func newLexicon() *lexicon {
	return &lexicon{
		common: readSet("common"), never: readSet("never"), alone: readSet("alone"), titles: readSet("titles"),
		epithets: readSet("epithets"), shortened: readSet("abbreviations"),
		feminine: readSet("feminine"), masculine: readSet("masculine"),
		ranks: readSet("ranks"), particles: readSet("particles"), places: readSet("places"), groups: readSet("groups"),
		things: readSet("things"), speech: readSet("speech"),
	}
}

type set map[string]bool

// readSet reads one of the embedded lists. A missing list gives an empty set, with which the tests fail.
func readSet(name string) set {
	data, _ := wordFiles.ReadFile("words/" + name + ".txt")
	words := strings.Fields(string(data))
	s := make(set, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}

// generic reports whether a word, in lower case, is no name by itself: a common word, also in the plural, or a form of
// address.
func (l *lexicon) generic(lower string) bool {
	return l.common[lower] || l.common[strings.TrimSuffix(lower, "s")] || l.alone[lower] || l.never[lower]
}

// isNever reports whether a word, in lower case, is no part of a name: also in the plural, or with a contracted "not".
func (l *lexicon) isNever(lower string) bool {
	if l.titles[lower] {
		return false
	}
	return l.never[lower] || l.never[strings.TrimSuffix(lower, "s")] || endsWithAny(lower, "n't", "n’t")
}
