package offline

import (
	"slices"
	"strings"
)

// The tags that the model assigns.
const (
	tagPerson  = "person"
	tagPlace   = "place"
	tagGroup   = "group"
	tagThing   = "object"
	tagUnknown = "unknown"
)

// tag returns the tag of a name, by its last word and by the words around its mentions.
func (r *reader) tag(n *name) string {
	if t := r.typeOf(n.tokens); t != tagUnknown {
		return t
	}
	if n.titled > 0 {
		return tagPerson
	}
	votes := map[string]int{}
	for _, m := range n.mentions {
		votes[r.cue(m)]++
	}
	delete(votes, tagUnknown)
	best := tagUnknown
	for _, t := range []string{tagPerson, tagPlace, tagGroup, tagThing} {
		if votes[t] > votes[best] {
			best = t
		}
	}
	return best
}

// typeOf returns the tag of the word that is a type: the last one, or in "Order of the Lamp" the first.
func (r *reader) typeOf(tokens []string) string {
	if len(tokens) == 1 {
		return tagUnknown
	}
	head := tokens[len(tokens)-1]
	if of := slices.Index(tokens, "of"); of > 0 {
		head = tokens[of-1]
	}
	switch {
	case r.lex.titles[head]:
		return tagPerson
	case r.lex.places[head]:
		return tagPlace
	case r.lex.groups[head]:
		return tagGroup
	case r.lex.things[head]:
		return tagThing
	case r.lex.places[tokens[0]]:
		return tagPlace
	}
	return tagUnknown
}

// cue returns the tag that the words just before and after a mention suggest.
func (r *reader) cue(m mention) string {
	t := r.texts[m.text]
	before, after := r.neighbours(t, m)
	switch {
	case r.lex.speech[after] || r.lex.speech[before]:
		return tagPerson
	case r.lex.places[after]:
		return tagPlace
	case m.definite && m.hi-m.lo == 1 && plural(t.words[m.lo].lower):
		return tagGroup
	}
	switch before {
	case "in", "at", "into", "through", "near", "towards", "toward", "across", "around", "outside", "inside", "beyond",
		"reached", "left":
		return tagPlace
	}
	return tagUnknown
}

// neighbours returns the words before and after a mention in its sentence, without an article.
func (r *reader) neighbours(t *text, m mention) (before, after string) {
	first := m.lo - 1
	if m.definite {
		first--
	}
	if first >= 0 && t.words[first].sentence == m.sentence {
		before = t.words[first].lower
	}
	if m.hi < len(t.words) && t.words[m.hi].sentence == m.sentence {
		after = t.words[m.hi].lower
	}
	return before, after
}

func plural(lower string) bool {
	return strings.HasSuffix(lower, "s") && !endsWithAny(lower, "ss", "us", "is", "as")
}
