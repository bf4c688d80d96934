package offline

import (
	"embed"
	"strings"

	"annotator/codex/identity"
)

//go:embed words/*.txt
var wordFiles embed.FS

// lexicon contains small closed lists of English words, in lower case.
type lexicon struct {
	common    set // ordinary words: no names if capitalised at the start of a sentence
	never     set // no part of a name, whatever its case: pronouns, months, words of a forum
	months    set // those of them that are also first names
	alone     set // only part of a longer name: forms of address, nationalities, points of the compass
	epithets  set // precede a name without meaning: old Marrow, poor Marrow
	shortened set // titles with a point that does not end a sentence
	ranks     set // join what follows with "of": Count of, Order of the
	particles set // lower-case words inside a name: of, the, de, van
	places    set // end the name of a place
	groups    set // end the name of a group
	things    set // end the name of a thing
	speech    set // verbs of speech, thought and movement, after the name of a person or before it
	owned     set // what a person has: hand, father
	kin       set // nouns before "of" and the name of a person
	within    set // prepositions before the name of a place
	motion    set // verbs and nouns before "to" or "from" and the name of a place
	vessels   set // precede the name of a ship
	roles     set // what somebody is: sailor, widow
	vague     set // those of them that tell little: man, friend
}

func newLexicon() *lexicon {
	return &lexicon{
		common: readSet("common"), never: readSet("never"), months: readWords("april may june august"),
		alone:    readSet("alone"),
		epithets: readSet("epithets"), shortened: readSet("abbreviations"),
		ranks: readSet("ranks"), particles: readSet("particles"), places: readSet("places"), groups: readSet("groups"),
		things: readSet("things"), speech: readSet("speech"), owned: readSet("owned"), kin: readSet("kin"),
		within: readSet("within"), motion: readSet("motion"), vessels: readSet("vessels"),
		roles: readSet("roles"), vague: readSet("vague"),
	}
}

type set map[string]bool

// readSet reads one of the embedded lists. A missing list gives an empty set, with which the tests fail.
func readSet(name string) set {
	data, _ := wordFiles.ReadFile("words/" + name + ".txt")
	return readWords(string(data))
}

// readWords returns the words of a text.
func readWords(text string) set {
	s := set{}
	for word := range strings.FieldsSeq(text) {
		s[word] = true
	}
	return s
}

// isTitle reports whether a word, in lower case, precedes a person's name and is no part of it.
func (l *lexicon) isTitle(lower string) bool { return identity.IsTitle(lower) }

// generic reports whether a word, in lower case, is no name by itself: a common word, also in the plural, or a form of
// address.
func (l *lexicon) generic(lower string) bool {
	return l.common[lower] || l.common[strings.TrimSuffix(lower, "s")] || l.alone[lower] || l.never[lower]
}

// isNever reports whether a word, in lower case, is no part of a name: also in the plural, or with a contracted "not".
func (l *lexicon) isNever(lower string) bool {
	if l.isTitle(lower) {
		return false
	}
	return l.never[lower] || l.never[strings.TrimSuffix(lower, "s")] || endsWithAny(lower, "n't", "n’t")
}
