package offline

import (
	"regexp"
	"slices"
	"strings"

	"annotator/codex/identity"
)

// The tags that the model assigns. An entry of which the story does not show the kind has none of them.
const (
	tagPerson = identity.Person
	tagPlace  = "place"
	tagGroup  = "group"
	tagThing  = "object"
)

// votes are how much the story shows of each kind.
type votes map[string]int

// The weights of what shows a kind, and how much is enough.
const (
	weak, clear, strong = 1, 2, 4
	enoughVotes         = 2
)

// kind returns the kind that most votes are for; none if they are few, or contradict each other.
func (v votes) kind() string {
	best, total := "", 0
	for _, kind := range []string{tagPerson, tagPlace, tagGroup, tagThing} {
		total += v[kind]
		if v[kind] > v[best] {
			best = kind
		}
	}
	if v[best] < enoughVotes || v[best]*5 < total*3 {
		return ""
	}
	return best
}

// kindOf returns the kind of the thing that some names mean.
func (r *reader) kindOf(names []*name) string {
	all := votes{}
	for _, n := range names {
		for kind, weight := range n.kinds {
			all[kind] += weight
		}
		if kind := r.typeOf(n); kind != "" {
			return kind
		}
		if n.titled > 1 && !n.Office {
			return tagPerson // a town of the same name does not count against it
		}
		// Behind the name of a place, pronouns are of somebody who is there.
		pronouns := n.person() && all[tagPlace] < 2*max(all[tagPerson], clear)
		if pronouns || n.titled > 0 && !n.Office || len(n.Words) > 1 && identity.IsFirstName(n.Words[0]) {
			all[tagPerson] += strong
		}
	}
	return all.kind()
}

// typeOf returns the kind of which a word of a name is: the last one, or in "Order of the Lamp" the first.
func (r *reader) typeOf(n *name) string {
	words := strings.Fields(normal(n.written()[0]))
	if len(words) == 1 {
		return ""
	}
	first, head := words[0], words[len(words)-1]
	of := slices.Index(words, "of")
	if of > 0 {
		head = words[of-1]
	}
	switch {
	case r.lex.isTitle(head):
		return tagPerson
	case n.Title != "":
		return ""
	case r.lex.places[head]:
		return tagPlace
	case r.lex.groups[head], slices.Contains(words, "&"):
		return tagGroup
	case r.lex.things[head]:
		return tagThing
	case r.lex.places[first]:
		return tagPlace
	}
	return ""
}

// cues adds the kinds that the words around a mention show.
func (r *reader) cues(m mention, v votes) {
	t := r.texts[m.text]
	at := func(i int) string {
		if i < 0 || i >= len(t.words) || t.words[i].sentence != m.sentence {
			return ""
		}
		return t.words[i].lower
	}
	lo := m.lo
	if m.definite {
		lo--
	}
	before, after := at(lo-1), at(m.hi)
	possessive := t.words[m.hi-1].full != t.words[m.hi-1].end
	switch {
	case possessive && r.lex.owned[after], !possessive && (r.lex.speech[after] || after == "who" || after == "whom"):
		v[tagPerson] += clear
	case r.lex.speech[before] && r.quoteEnds(t, lo-1), r.lex.epithets[before]:
		v[tagPerson] += clear
	case !possessive && strings.HasSuffix(after, "ed") && !m.definite:
		v[tagPerson] += weak
	}
	switch {
	case before == "of" && r.lex.places[at(lo-2)]:
		v[tagPlace] += strong
	case before == "of" && r.lex.kin[at(lo-2)]:
		v[tagPerson] += clear
	case r.lex.within[before], (before == "to" || before == "from") && r.lex.motion[at(lo-2)]:
		v[tagPlace] += clear
	case before == "at" && !r.lex.speech[at(lo-2)]:
		v[tagPlace] += weak
	case r.lex.vessels[before] || before == "board" || before == "aboard":
		v[tagThing] += strong
	case m.definite && m.hi-m.lo == 1 && plural(t.words[m.lo].lower):
		v[tagGroup] += clear
	}
	if r.lex.places[after] && !possessive {
		v[tagPlace] += clear
	}
}

// quoteEnds reports whether a quotation ends before a word: ", said Tobin" after it.
func (r *reader) quoteEnds(t *text, i int) bool {
	return i >= 0 && strings.HasSuffix(strings.TrimRight(t.body[:t.words[i].start], " \n,"), "”") ||
		i >= 0 && strings.HasSuffix(strings.TrimRight(t.body[:t.words[i].start], " \n"), "\"") ||
		i >= 0 && strings.HasSuffix(strings.TrimRight(t.body[:t.words[i].start], " \n,"), "»") ||
		i >= 0 && strings.HasSuffix(strings.TrimRight(t.body[:t.words[i].start], " \n"), "’")
}

func plural(lower string) bool {
	return strings.HasSuffix(lower, "s") && !endsWithAny(lower, "ss", "us", "is", "as")
}

// pronounWords is how far behind a name a pronoun still means it, if no other name is nearer.
const pronounWords = 25

// pronoun returns the gender of the pronoun after a mention, before the next mention and the end of the quotation.
func (b *book) pronoun(mentions []mention, i int) identity.Gender {
	m := mentions[i]
	t := b.texts[m.text]
	end := min(len(t.words), m.hi+pronounWords)
	if i+1 < len(mentions) && mentions[i+1].text == m.text {
		end = min(end, mentions[i+1].lo)
	}
	placed := m.lo > 0 && b.lex.within[t.words[m.lo-1].lower]
	for k := m.hi; k < end; k++ {
		if strings.ContainsAny(t.body[t.words[k-1].end:t.words[k].start], "“”\"«»\n") ||
			placed && t.words[k].sentence != m.sentence {
			return identity.Unknown
		}
		if gender := pronouns[t.words[k].lower]; gender != identity.Unknown {
			return gender
		}
	}
	return identity.Unknown
}

// pronouns of the third person of several languages that are no other word in another one.
var pronouns = map[string]identity.Gender{
	"he": identity.Man, "him": identity.Man, "his": identity.Man, "himself": identity.Man,
	"she": identity.Woman, "her": identity.Woman, "hers": identity.Woman, "herself": identity.Woman,
	"elle": identity.Woman, "él": identity.Man, "ella": identity.Woman, "egli": identity.Man,
	"он": identity.Man, "его": identity.Man, "ему": identity.Man, "она": identity.Woman, "её": identity.Woman,
}

// tellsApart reports whether two neighbouring mentions are of two things: one sentence has them as a pair, or one is
// addressed by the other.
func (b *book) tellsApart(one, other mention) bool {
	t := b.texts[one.text]
	if one.text != other.text || one.end > other.start {
		return false
	}
	gap := t.body[one.end:other.start]
	switch strings.Trim(gap, " ,\n") {
	case "and", "et", "und", "y", "и", "or":
		return true
	}
	const longest = 200
	spoken := strings.LastIndexAny(t.body[:one.start], "“”\"«»")
	return len(gap) < longest && !strings.Contains(gap, "\n") && strings.ContainsAny(gap, "”»") &&
		spoken >= 0 && (strings.HasPrefix(t.body[spoken:], "“") || strings.HasPrefix(t.body[spoken:], "«")) &&
		strings.ContainsAny(gap[:1], ",!?.") && endsWithAny(t.body[:one.start], ", ", "“", "«", " dear ") &&
		other.lo > 0 && b.lex.speech[t.words[other.lo-1].lower] && b.quoteEnds(t, other.lo-1)
}

// otherName matches the words between two names of one thing. A verb of speech or a call is none: "called" needs an
// auxiliary or an adverb, and the French "dit" is left out.
var otherName = regexp.MustCompile(`^(?:[,(] ?)?(?:` +
	`(?:(?:who|which|is|was|had been|also|better|now|formerly|otherwise|once) )*` +
	`(?:known (?:as|to [\p{Ll} ]+ as)|nicknamed|surnamed|alias|née|a\.k\.a\.|whose (?:real|true) name (?:is|was))|` +
	`(?:is |was |also |otherwise |formerly )+called|` +
	`de son vrai nom|surnommée?|genannt|geborene|geb\.|llamad[oa]|conocid[oa] como|apodad[oa]|soprannominat[oa]|` +
	`chiamat[oa]|detto|detta|по прозвищу|урожд[её]нная|настоящее имя которого),?(?: the)?$`)

// statesOne reports whether a sentence says that two neighbouring mentions are of one thing: Andrea, alias Benedetto.
func (b *book) statesOne(one, other mention) bool {
	return one.text == other.text && one.sentence == other.sentence && one.end <= other.start &&
		otherName.MatchString(collapse(b.texts[one.text].body[one.end:other.start]))
}
