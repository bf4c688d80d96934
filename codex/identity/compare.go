package identity

import "slices"

// Evidence is why two names may be of one thing; the stronger, the greater.
type Evidence int8

// The kinds of evidence that two names carry in themselves.
const (
	None       Evidence = iota
	Place               // the place of an office, which means its holder only if it is a person: Monte Cristo
	Diminutive          // a nickname alone, which only suggests: Lizzy, Elizabeth Bennet
	Part                // one word of a longer name: Watson, John Watson
	Shorter             // several words of a longer name: John Watson, John H. Watson
	Nickname            // an equal last name, and a nickname or an initial for the first: Jack Marrow, John Marrow
	Untitled            // equal but for the title: Captain Ysolde Marrow, Ysolde Marrow
	Equal               // equal but for case, accents, points and the form of the title
)

// Weight returns how likely names with this evidence are of one thing, from 0 to 1.
func (e Evidence) Weight() float64 {
	return [...]float64{
		None: 0, Place: .4, Diminutive: .5, Part: .8, Shorter: .85, Nickname: .9, Untitled: .95, Equal: 1,
	}[e]
}

// Veto is why two names cannot be of one thing. The zero value is no veto.
type Veto string

// The vetoes that two names carry in themselves, and those that a caller learned.
const (
	Titles      Veto = "their titles are of different people"
	FirstNames  Veto = "their first names differ"
	Generations Veto = "they are of different generations"
	Numbers     Veto = "their numbers differ"
	Kinds       Veto = "they are of different kinds"
	Apart       Veto = "they are told apart"
)

// Compare returns the evidence that two names are of one thing, and why they cannot be.
func Compare(a, b *Name) (Evidence, Veto) {
	if a.key == b.key {
		return Equal, ""
	}
	if v := veto(a, b); v != "" {
		return None, v
	}
	return max(evidence(a, b), evidence(b, a)), ""
}

func veto(a, b *Name) Veto {
	sameLast := a.last() == b.last()
	switch {
	case a.several || b.several:
		return ""
	case len(a.numbers) > 0 && len(b.numbers) > 0 && !slices.Equal(a.numbers, b.numbers):
		return Numbers
	case !a.Gender.agrees(b.Gender), sameLast && a.stage != b.stage && a.stage != anyStage && b.stage != anyStage:
		return Titles
	case sameLast && a.rank && b.rank && a.Title != b.Title && min(len(a.Words), len(b.Words)) == 1:
		return Titles
	case a.generation != b.generation && a.generation != "" && b.generation != "" && sameLast:
		return Generations
	case sameLast && len(a.Words) > 1 && len(b.Words) > 1 && a.proper && b.proper && !shortens(a, b) && !shortens(b, a):
		return FirstNames
	}
	return ""
}

// shortens reports whether the words of a are words of b in their order. First names match as compatible does.
func shortens(a, b *Name) bool {
	if len(a.Words) > len(b.Words) {
		return false
	}
	at := 0
	for i, word := range a.Words {
		for at < len(b.Words) && word != b.Words[at] &&
			(i == len(a.Words)-1 || at == len(b.Words)-1 || !compatible(word, b.Words[at])) {
			at++
		}
		if at == len(b.Words) {
			return false
		}
		at++
	}
	return true
}

// evidence returns what shows that a is another form of b, which is as long or longer.
func evidence(a, b *Name) Evidence {
	switch {
	case a.several || b.several || len(a.Words) > len(b.Words) || marries(a, b) || marries(b, a):
		return None
	case slices.Equal(a.Words, b.Words):
		return sameWords(a, b)
	case len(a.Words) == 1:
		return part(a, b)
	case !shortens(a, b):
		return None
	case len(a.Words) == len(b.Words):
		return Nickname
	}
	return Shorter
}

// marries reports whether a may be the wife or the mother of b, since its title goes with another one's name.
// Mrs. Croft need not be Admiral Croft, nor Mrs. Robert Marrow be Robert Marrow.
func marries(a, b *Name) bool {
	family := b.Title == "" && len(b.Words) == 1
	return a.stage == wife && b.stage != wife && !family && (len(a.Words) == 1 || b.Gender != Woman)
}

// sameWords is the evidence of equal words with two titles, or with and without one.
func sameWords(a, b *Name) Evidence {
	switch {
	case a.Office && b.Title == "" || b.Office && a.Title == "":
		return Place
	case len(a.Words) == 1:
		return Part
	}
	return Untitled
}

// part is the evidence of one word that a longer name has.
func part(a, b *Name) Evidence {
	word := a.Words[0]
	switch {
	case initial(word) || b.Office, word != b.last() && (a.stage == mister || a.stage == wife || b.stage == wife):
		return None
	case slices.Contains(b.Words, word):
		return Part
	case a.Title == "" && nickname(word, b.Words[0]):
		return Diminutive
	}
	return None
}
