package offline

import (
	"embed"
	"strings"
)

//go:embed words/*.txt
var wordFiles embed.FS

// lexicon holds what the rules know of English: small closed lists of words, in lower case.
type lexicon struct {
	common    set // ordinary words: a capital at the start of a sentence makes no name of them
	never     set // no part of a name, whatever its case: pronouns, months, words of a forum
	alone     set // part of a longer name, but none alone: forms of address, nationalities, points of the compass
	titles    set // stand before a person's name and are no part of it
	epithets  set // stand before a name and mean nothing: old Marrow, poor Marrow
	shortened set // titles that end in a point which ends no sentence
	feminine  set // titles of women
	masculine set // titles of men
	ranks     set // join what follows with "of": Count of, Order of the
	particles set // lower-case words inside a name: of, the, de, van
	places    set // end the name of a place
	groups    set // end the name of a group
	things    set // end the name of a thing
	speech    set // what persons do just after or before their name
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

// readSet reads one of the embedded lists. A missing list makes an empty set, with which the tests fail.
func readSet(name string) set {
	data, _ := wordFiles.ReadFile("words/" + name + ".txt")
	words := strings.Fields(string(data))
	s := make(set, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}

// generic reports whether a word, in lower case, is no name alone: common, also in the plural, or a form of address.
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
