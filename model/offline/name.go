package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// gender is the gender of a title; it distinguishes Mr. Bennet from Mrs. Bennet.
type gender int

const (
	unknown gender = iota
	masculine
	feminine
)

func (g gender) agrees(other gender) bool { return g == other || g == unknown || other == unknown }

// gender returns the gender of a title, in lower case.
func (l *lexicon) gender(title string) gender {
	switch {
	case l.feminine[title]:
		return feminine
	case l.masculine[title]:
		return masculine
	}
	return unknown
}

// identity is the key for comparing forms of a name: the normalised words without a title, and the title's gender.
type identity struct {
	tokens []string
	gender gender
}

// identify returns the identity of a written name.
func (l *lexicon) identify(written string) identity {
	id := identity{tokens: strings.Fields(normal(written))}
	for len(id.tokens) > 1 && id.tokens[1] != "of" {
		title := strings.TrimSuffix(id.tokens[0], ".")
		if !l.titles[title] && (!l.particles[title] || id.gender == unknown) {
			break
		}
		id.gender = max(id.gender, l.gender(title))
		id.tokens = id.tokens[1:]
	}
	return id
}

// partOf reports whether a short form probably means the same as the long one: Marrow, but not Baker in Baker Street.
func (l *lexicon) partOf(short, long identity) bool {
	if !short.gender.agrees(long.gender) || slices.Contains(long.tokens, "of") || slices.Contains(long.tokens, "&") {
		return false
	}
	if slices.Equal(short.tokens, long.tokens) {
		return short.gender == unknown
	}
	if len(short.tokens) >= len(long.tokens) || l.typed(long.tokens) ||
		len(short.tokens) == 1 && l.generic(short.tokens[0]) {
		return false
	}
	for i := 0; i+len(short.tokens) <= len(long.tokens); i++ {
		if slices.Equal(short.tokens, long.tokens[i:i+len(short.tokens)]) {
			return true
		}
	}
	return false
}

// typed reports whether the first or last word of a name, as in Rue de Rivoli, shows that it is not a person's.
func (l *lexicon) typed(tokens []string) bool {
	last := tokens[len(tokens)-1]
	return l.places[tokens[0]] || l.places[last] || l.groups[last] || l.things[last]
}

// collapse replaces each run of white space with one blank.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// normal returns the form in which names are compared.
func normal(s string) string {
	s = strings.ToLower(norm.NFC.String(collapse(strings.ReplaceAll(s, "’", "'"))))
	return strings.TrimPrefix(s, "the ")
}

// name is a named thing in a scene, with all forms that probably mean it.
type name struct {
	identity
	term     string   // the term of its entry
	written  []string // the forms in the scene with titles, in order of appearance
	mentions []mention
	inside   int // mentions inside a sentence, where a capital is significant
	titled   int // mentions with a title
}

// names groups the mentions by name: those with the same words, then a short form with the only longer form that
// includes it.
func (r *reader) names(mentions []mention) []*name {
	groups := map[string]*name{}
	var all []*name
	for _, m := range mentions {
		full := collapse(r.texts[m.text].in(m.span))
		id := r.lex.identify(full)
		key := fmt.Sprint(id)
		n := groups[key]
		if n == nil {
			n = &name{identity: id, term: r.term(id, m)}
			groups[key] = n
			all = append(all, n)
		}
		n.add(m, full)
	}
	return r.absorb(all)
}

// term returns the term of an entry. It includes the title if the rest is ambiguous: Mrs. Bennet, Old Man.
func (r *reader) term(id identity, m mention) string {
	s := m.core
	if len(id.tokens) == 1 && (id.gender != unknown || r.lex.common[id.tokens[0]]) {
		s = m.span
	}
	return collapse(r.texts[m.text].in(s))
}

func (n *name) add(m mention, written string) {
	n.mentions = append(n.mentions, m)
	n.write(written)
	if !m.initial {
		n.inside++
	}
	if m.titled {
		n.titled++
	}
}

func (n *name) write(form string) {
	if !slices.ContainsFunc(n.written, func(w string) bool { return normal(w) == normal(form) }) {
		n.written = append(n.written, form)
	}
}

// aliases returns the forms that differ from the term.
func (n *name) aliases() []string {
	return slices.DeleteFunc(append([]string{}, n.written...), func(w string) bool {
		return normal(w) == normal(n.term)
	})
}

// absorb merges each short form into the only longer name that includes it. A short form of two names is dropped.
func (r *reader) absorb(all []*name) []*name {
	fullest := slices.SortedStableFunc(slices.Values(all), func(a, b *name) int {
		return cmp.Or(cmp.Compare(len(b.tokens), len(a.tokens)), cmp.Compare(b.gender, a.gender))
	})
	var roots []*name
	gone := map[*name]bool{}
	for _, n := range fullest {
		owners := r.owners(n, roots)
		switch {
		case len(owners) == 1:
			owners[0].addShort(n)
			gone[n] = true
		case len(owners) > 1 && n.titled == 0:
			gone[n] = true
		default:
			roots = append(roots, n)
		}
	}
	return slices.DeleteFunc(all, func(n *name) bool { return gone[n] })
}

func (r *reader) owners(n *name, roots []*name) []*name {
	var owners []*name
	for _, root := range roots {
		if r.lex.partOf(n.identity, root.identity) && r.accepts(root) {
			owners = append(owners, root)
		}
	}
	return owners
}

// addShort adds a short form of the name. The term is a form without a title, if the story has one.
func (n *name) addShort(short *name) {
	n.mentions = append(n.mentions, short.mentions...)
	if len(short.tokens) == len(n.tokens) {
		n.term = short.term
	}
	for _, form := range short.written {
		n.write(form)
	}
	n.gender = max(n.gender, short.gender)
	n.inside += short.inside
	n.titled += short.titled
}

// accepts reports whether a name has enough evidence to be worth an entry.
func (r *reader) accepts(n *name) bool {
	if len(n.tokens) > 1 {
		return n.inside > 0 || n.titled > 0 || !r.ordinary(n.tokens[0])
	}
	only := n.tokens[0]
	switch {
	case r.lex.alone[only] || r.lex.titles[only] || utf8.RuneCountInString(only) == 1:
		return false
	case n.titled > 0:
		return true
	case n.inside == 0 || r.lower[only] > n.inside:
		return false
	}
	return len(n.mentions) > 1 || r.nameFromOne(n)
}

// nameFromOne reports whether a word that occurs once is a name: it is not common, in capitals, or like an adjective.
func (r *reader) nameFromOne(n *name) bool {
	m := &n.mentions[0]
	only := &r.texts[m.text].words[m.lo]
	return !r.lex.generic(only.lower) && r.lower[only.lower] == 0 && !only.shouted &&
		!endsWithAny(only.lower, "ian", "ean", "ese", "esque", "like")
}
