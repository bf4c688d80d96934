// Package identity decides which names are names of one thing. It knows names only: evidence that two are of one, and
// vetoes that keep two apart, whatever the evidence. A Set joins names by the strongest evidence first, and never two
// that have a veto, nor two through a third.
package identity

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator/codex"
)

// Name is a written name taken apart.
type Name struct {
	Words  []string // folded, without title, epithets, particles and generation: "villefort" of "M. de Villefort"
	Title  string   // folded; of several the last that has a gender, one form for all: "mister" is "mr"
	Gender Gender   // that the title tells, else the first name
	Office bool     // the title is an office of what follows: "King of Bohemia", whom "Bohemia" does not name

	stage      stage  // that the title tells
	rank       bool   // the title is one of nobility
	generation string // "jr", "elder", "ii"
	numbers    []string
	several    bool // it names more than one: "Mr. and Mrs. Bennet"
	proper     bool // no word but particles is in lower case
	key        string
}

// Gender is what a title or pronouns tell of a person.
type Gender int8

// The genders. Unknown agrees with both.
const (
	Unknown Gender = iota
	Man
	Woman
)

// agrees reports whether two names may be of one person.
func (g Gender) agrees(other Gender) bool { return g == other || g == Unknown || other == Unknown }

// Read takes a name apart. A disambiguator in parentheses is left out.
func Read(text string) *Name {
	text, _ = codex.SplitName(text)
	n := &Name{proper: isProper(text)}
	words := fold(text)
	words = n.takeTitles(words)
	words = n.takeGeneration(n.takeWife(words))
	for i, word := range words {
		switch {
		case i > 0 && (word == "and" || word == "&" || word == "et" || word == "und" || word == "и"):
			n.several = true
		case particles[word] && len(words) > 1:
			continue
		}
		if isNumber(word) {
			n.numbers = append(n.numbers, word)
		}
		n.Words = append(n.Words, word)
	}
	if len(n.Words) == 0 {
		n.Words = []string{strings.Join(words, " ")}
	}
	if n.Gender == Unknown && !n.Office && !n.several {
		n.Gender = tables().given[n.Words[0]]
	}
	n.key = strings.Join(append([]string{n.Title, n.generation}, n.Words...), " ")
	return n
}

// isProper reports whether a name is no description, which has words in lower case: "the man in the coat".
func isProper(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if r, _ := utf8.DecodeRuneInString(word); unicode.IsLower(r) && !particles[strings.ToLower(word)] {
			return strings.ContainsAny(word, "'’") // d'Artagnan
		}
	}
	return true
}

// takeTitles takes the titles and epithets before a name. A title alone is the name.
func (n *Name) takeTitles(words []string) []string {
	t := tables()
	for len(words) > 1 {
		title, isTitle := t.titles[words[0]]
		switch {
		case words[1] == "and" || words[1] == "et" || words[1] == "&":
			return words
		case isTitle:
			n.Office = words[1] == "of"
			if n.Title == "" || title.gender != Unknown || n.Gender == Unknown {
				n.Title, n.rank = title.form, title.rank
			}
			if title.gender != Unknown {
				n.Gender, n.stage = title.gender, title.stage
			}
		case ages[words[0]]: // old Marrow, young Marrow
			n.generation = generations[words[0]]
		case words[0] == "the" || epithets[words[0]] || n.Title != "" && particles[words[0]]:
		default:
			return words
		}
		words = words[1:]
	}
	return words
}

// takeWife takes a title of wives behind a name: Hamidullah Begum.
func (n *Name) takeWife(words []string) []string {
	last := len(words) - 1
	if last < 1 || n.Title != "" || !tables().wives[words[last]] {
		return words
	}
	n.Title, n.Gender, n.stage = words[last], Woman, wife
	return words[:last]
}

// takeGeneration takes a mark of generation behind a name.
func (n *Name) takeGeneration(words []string) []string {
	if last := len(words) - 1; last > 0 && generations[words[last]] != "" {
		n.generation, words = generations[words[last]], words[:last]
		if last := len(words) - 1; last > 0 && words[last] == "the" {
			words = words[:last]
		}
	}
	return words
}

// particles are words inside a name that some forms of it leave out.
var particles = setOf("de d di da del della dei du des la le les von van der den zu zum zur of the")

// epithets precede a name without meaning.
var epithets = setOf("dear poor little good great honest brave my")

// generations are marks that tell bearers of one name apart.
var generations = map[string]string{
	"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr", "fils": "jr", "pere": "sr", "young": "jr", "younger": "jr",
	"old": "sr", "elder": "sr", "jungere": "jr", "altere": "sr", "ii": "ii", "iii": "iii", "iv": "iv", "vi": "vi",
	"vii": "vii", "viii": "viii", "ix": "ix", "xi": "xi", "xii": "xii", "xiii": "xiii", "xiv": "xiv", "xv": "xv",
	"xvi": "xvi", "xvii": "xvii", "xviii": "xviii",
}

// numeral reports whether a name has a number that tells it from others of the name: Charles II.
func (n *Name) numeral() bool {
	return n.generation != "" && n.generation != "jr" && n.generation != "sr"
}

// ages are those that also stand before a name.
var ages = setOf("old young elder younger")

// regions tell a part of a place from the whole.
var regions = setOf("north south east west northern southern eastern western new upper lower central")

// isNumber reports whether a word is a number: of digits, or an English word.
func isNumber(word string) bool {
	return numerals[word] || strings.IndexFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

var numerals = setOf("one two three four five six seven eight nine ten eleven twelve first second third fourth fifth " +
	"sixth seventh eighth ninth tenth")

// fold returns the words of a text in lower case, without accents, points and quotation marks. Joined initials are
// taken apart.
func fold(text string) []string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '’' || r == 'ʼ':
			return '\''
		case r == '.' || r == ',':
			return ' '
		}
		return r
	}, codex.Normalize(text))
	words := strings.Fields(folded)
	kept := words[:0]
	for _, word := range words {
		word = strings.TrimSuffix(strings.Trim(word, "\"'“”«»()!?;:-"), "'s")
		if article, rest, cut := strings.Cut(word, "'"); cut && (article == "d" || article == "l") {
			word = rest
		}
		if word != "" {
			kept = append(kept, word)
		}
	}
	return kept
}

// OwnName reports whether the words are those of the person without the title, too: not of Mrs. Robert Marrow, nor of
// the Duke of Balmoral.
func (n *Name) OwnName() bool { return n.stage != wife && !n.Office }

// OfFamily reports whether a name is a title with one word that several of a family may bear: Mr. Marrow, Miss Marrow,
// Captain Marrow.
func (n *Name) OfFamily() bool {
	return len(n.Words) == 1 && (n.stage == mister || n.stage == maiden || n.high())
}

// OfFather reports whether a name is a man's title with one word, which may be the father's of others of the name.
func (n *Name) OfFather() bool { return n.OfFamily() && n.stage == mister }

// Key returns a form that is the same for names that are equal but for case, accents, points and the form of a title.
func (n *Name) Key() string { return n.key }

// initial reports whether a word is the first letter of a name only.
func initial(word string) bool { return utf8.RuneCountInString(word) == 1 }

// last returns the last word, which of most people is that of the family.
func (n *Name) last() string { return n.Words[len(n.Words)-1] }

// initials counts the words that are only initials.
func (n *Name) initials() (count int) {
	for _, word := range n.Words {
		if initial(word) {
			count++
		}
	}
	return count
}
