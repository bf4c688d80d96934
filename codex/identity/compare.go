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
	case a.Title == commoner && b.noble() || b.Title == commoner && a.noble():
		return Titles
	case sameLast && len(a.Words)+len(b.Words) == 2 &&
		(a.Title == commoner && b.high() || a.high() && b.Title == commoner):
		return Titles
	case sameLast && a.rank && b.rank && a.Title != b.Title && min(len(a.Words), len(b.Words)) == 1:
		return Titles
	case a.generation != b.generation && a.generation != "" && b.generation != "" && sameLast:
		return Generations
	case sameLast && len(a.Words) > 1 && len(b.Words) > 1 && a.proper && b.proper && !shortens(a, b) && !shortens(b, a):
		return FirstNames
	case sameLast && (a.wifeOf(b) || b.wifeOf(a)), addressed(a, b) && !compatible(a.Words[0], b.Words[0]):
		return FirstNames
	}
	return ""
}

// commoner is the title of a man who has no other one in English. Other languages have one for each man.
const commoner = "mr"

// noble reports whether a title is one of nobility or of a knight.
func (n *Name) noble() bool { return n.rank && n.Gender == Man || n.Title == knight }

const knight = "sir"

// high reports whether a title is a rank of an officer who is not called Mr. as well. General Marrow is the father of
// Mr. Marrow.
func (n *Name) high() bool { return tables().titles[n.Title].high }

// wifeOf reports whether a name is that of a wife of the family, told from another wife: Mrs. John Dashwood, and Mrs.
// Dashwood.
func (n *Name) wifeOf(other *Name) bool {
	return n.stage == wife && other.stage == wife && len(n.Words) > 1 && len(other.Words) == 1 &&
		tables().given[n.Words[0]] != Woman
}

// addressed reports whether two names are a title with one word each, by which one person is not addressed if they
// differ. An English family has a Miss Marrow, and a Miss Jane.
func addressed(a, b *Name) bool {
	if len(a.Words) > 1 || len(b.Words) > 1 || a.Title == "" || b.Title == "" {
		return false
	}
	given := tables().given
	formal := func(n *Name) bool { return n.Title == commoner || n.stage == maiden || n.neutral() }
	return formal(a) && formal(b) && (a.Title == b.Title && (a.Title == commoner || a.Title == "miss") ||
		given[a.Words[0]] == Unknown && given[b.Words[0]] == Unknown)
}

// neutral reports whether a title is one of men and women: Dr., Captain.
func (n *Name) neutral() bool { return n.Title != "" && tables().titles[n.Title].gender == Unknown }

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
	case len(a.Words) == 1 && a.generation != b.generation && (a.numeral() || b.numeral()): // Charles, Charles II
		return None
	case slices.Equal(a.Words, b.Words):
		return sameWords(a, b)
	case len(a.Words) == 1:
		return part(a, b)
	case !shortens(a, b):
		return None
	case len(a.Words) == len(b.Words) && (a.noble() != b.noble()) && !initial(a.Words[0]) && !initial(b.Words[0]):
		return None // Tom Bertram is the son of Sir Thomas
	case len(a.Words) == len(b.Words):
		return Nickname
	case tables().given[a.Words[0]] != Unknown && !compatible(a.Words[0], b.Words[0]):
		return None // Walter and William Walter Marrow
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
	case len(a.Words) > 1:
		return Untitled
	case a.stage == maiden && b.neutral(), b.stage == maiden && a.neutral(): // Miss Marrow, and Dr. Marrow
		return None
	case a.high() && b.high(): // General Marrow, and Captain Marrow
		return None
	}
	return Part
}

// namesFirst reports whether a title with a first name may be of the person with the full name. Miss Jane, Lady Jane,
// M. Jean or Captain Jack may, but not Mr. Avery, Mrs. Avery nor Colonel Avery.
func (n *Name) namesFirst(full *Name) bool {
	switch {
	case n.Title == "lady" && full.Title == n.Title:
		return true
	case n.neutral() && tables().given[n.Words[0]] == Unknown:
		return false
	}
	return n.Title != commoner && n.stage != wife && full.stage != wife
}

// doubleFirst reports whether the last word is no surname but another first name of a woman: Flora Jane.
func (n *Name) doubleFirst() bool {
	return tables().given[n.Words[0]] == Woman && tables().given[n.last()] == Woman
}

// part is the evidence of one word with which a longer name begins or ends.
func part(a, b *Name) Evidence {
	word := a.Words[0]
	switch {
	case initial(word) || b.Office || regions[b.Words[0]]:
		return None
	case a.Title == knight && b.Title != knight: // Sir John
		return None
	case word != b.last() && !a.namesFirst(b):
		return None
	case word == b.last() && a.neutral() && b.Gender == Woman && b.Title != a.Title: // Colonel Marrow, and Dolly Marrow
		return None
	case word == b.last() && word != b.Words[0] && a.Title == "" && len(b.Words) == 2 && b.doubleFirst(): // Flora Jane
		return None
	case word == b.Words[0] || word == b.last():
		return Part
	case a.Title == "" && !b.noble() && nickname(word, b.Words[0]):
		return Diminutive
	}
	return None
}
