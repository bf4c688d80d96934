package offline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"annotator/codex/identity"
)

// book is what the scenes of a window tell of names. It is computed from the scenes alone; a model keeps the last one,
// because the next window most often has one scene more.
type book struct {
	*reader
	scenes []scene
	posts  []int64            // the post of each text
	names  map[string]*name   // by the key of its identity
	byWord map[string][]*name // by each word of it
	apart  map[[2]string]bool // written names that a sentence has as two things
	stated map[[2]string]bool // written names that a sentence says are of one thing
	// narrated counts the paragraphs that have a first name and Mr. with a surname in narration, by the keys of both.
	narrated map[[2]string]int
}

// place is a mention with its scene.
type place struct {
	mention
	scene int // index
}

// name is a name with everything that the scenes of the window tell of it.
type name struct {
	*identity.Name
	forms   map[string]int // as it is written, with titles
	core    string         // as it is written, without them
	places  []place
	inside  int // mentions inside a sentence, where a capital is significant
	titled  int // mentions with a title
	family  int // mentions before a noun, as of a family: the Marrow place
	kinds   votes
	genders map[identity.Gender]int
}

// read returns the book of some scenes.
func (m *Model) read(scenes []scene) *book {
	b := m.last
	if b == nil || len(b.scenes) > len(scenes) || !slices.EqualFunc(b.scenes, scenes[:len(b.scenes)], sameScene) {
		b = newBook(m.lex)
	}
	for i := len(b.scenes); i < len(scenes); i++ {
		b.add(scenes[i])
	}
	m.last = b
	return b
}

// newBook returns the book of no scene.
func newBook(lex *lexicon) *book {
	return &book{
		reader: &reader{lex: lex, lower: map[string]int{}, mid: map[string]int{}}, names: map[string]*name{},
		byWord: map[string][]*name{}, apart: map[[2]string]bool{}, stated: map[[2]string]bool{},
		narrated: map[[2]string]int{},
	}
}

func sameScene(a, b scene) bool {
	return a.number == b.number && a.thread == b.thread && slices.Equal(a.posts, b.posts)
}

// add reads a scene.
func (b *book) add(s scene) {
	first := len(b.texts)
	b.scenes = append(b.scenes, s)
	b.reader.add(bodies(s.posts))
	for _, p := range s.posts {
		b.posts = append(b.posts, p.id)
	}
	mentions := b.mentions(first)
	for i, m := range mentions {
		written := collapse(b.texts[m.text].in(m.span))
		n := b.name(written)
		n.forms[written]++
		n.core = collapse(b.texts[m.text].in(m.core))
		n.places = append(n.places, place{m, len(b.scenes) - 1})
		if !m.initial {
			n.inside++
		}
		if m.titled {
			n.titled++
		}
		b.cues(m, n.kinds)
		if b.ofFamily(m) {
			n.family++
		}
		if title := b.titleBefore(m); title.Title != "" {
			n.genders[title.Gender] += minPronouns
			n.kinds[tagPerson] += clear
		}
		if gender := b.pronoun(mentions, i); gender != identity.Unknown {
			n.genders[gender]++
		}
		if i == 0 {
			continue
		}
		former := [2]string{collapse(b.texts[mentions[i-1].text].in(mentions[i-1].span)), written}
		switch {
		case b.tellsApart(mentions[i-1], m):
			b.apart[former] = true
		case b.statesOne(mentions[i-1], m):
			b.stated[former] = true
		}
	}
	b.narrate(mentions)
}

// narrate counts the paragraphs of narration in which both a first name and Mr. with a surname are.
func (b *book) narrate(mentions []mention) {
	var first, formal []string
	flush := func() {
		for _, one := range first {
			for _, other := range formal {
				b.narrated[[2]string{one, other}]++
			}
		}
		first, formal = nil, nil
	}
	text, paragraph := -1, -1
	for _, m := range mentions {
		before := b.texts[m.text].body[:m.start]
		if at := strings.LastIndex(before, "\n\n"); m.text != text || at != paragraph {
			flush()
			text, paragraph = m.text, at
		}
		id := identity.Read(b.texts[m.text].in(m.span))
		switch {
		case len(id.Words) > 1 || spoken(before):
		case id.Title == "" && !slices.Contains(first, id.Key()):
			first = append(first, id.Key())
		case id.OfFather() && !slices.Contains(formal, id.Key()):
			formal = append(formal, id.Key())
		}
	}
	flush()
}

// minNarrated is how many paragraphs of narration have two names of two people. A story calls one man Mr. Marrow or
// Avery, and has him called by the other name.
const minNarrated = 2

// partNarrated keeps Mr. with a surname apart from the full names whose first name the story has near it.
func (b *book) partNarrated(set *identity.Set, n *name, entries []*entry) {
	if !n.OfFather() {
		return
	}
	var written []string
	for _, other := range b.byWord[n.Words[0]] {
		written = append(written, other.written()...)
	}
	for _, e := range entries {
		written = append(written, e.names()...)
	}
	for _, full := range written {
		id := identity.Read(full)
		if len(id.Words) > 1 && id.Words[len(id.Words)-1] == n.Words[0] &&
			b.narrated[[2]string{identity.Read(id.Words[0]).Key(), n.Key()}] >= minNarrated {
			set.Part(n.written()[0], full)
		}
	}
}

// ofFamily reports whether a mention stands between an article and a noun: the old Marrow place.
func (b *book) ofFamily(m mention) bool {
	t := b.texts[m.text]
	if m.hi == len(t.words) || t.words[m.hi].capital || !b.joined(t, m.hi) {
		return false
	}
	before := m.lo - 1
	if before > 0 && b.lex.epithets[t.words[before].lower] {
		before--
	}
	return before >= 0 && t.words[before].lower == "the" && t.words[before].sentence == m.sentence
}

// titleBefore returns the name of a mention with the title without capital in front of it: squire Allworthy. It has no
// title if there is none.
func (b *book) titleBefore(m mention) *identity.Name {
	t := b.texts[m.text]
	if before := m.lo - 1; m.lo > 0 && t.words[before].sentence == m.sentence && b.joined(t, m.lo) &&
		b.lex.isTitle(t.words[before].lower) {
		return identity.Read(t.words[before].lower + " " + t.in(m.core))
	}
	return &identity.Name{}
}

// name returns the name of a written form.
func (b *book) name(written string) *name {
	id := identity.Read(written)
	n := b.names[id.Key()]
	if n == nil {
		n = &name{
			Name: id, forms: map[string]int{}, kinds: votes{}, genders: map[identity.Gender]int{},
		}
		b.names[id.Key()] = n
		for _, word := range id.Words {
			b.byWord[word] = append(b.byWord[word], n)
		}
	}
	return n
}

// in returns the names of a scene, in order.
func (b *book) in(scene int) (all []*name) {
	for _, n := range b.names {
		if n.places[len(n.places)-1].scene == scene {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(x, y *name) int { return cmp.Compare(x.Key(), y.Key()) })
	return all
}

// gender returns the gender of which the pronouns after a name are.
func (n *name) gender() identity.Gender {
	men, women := n.genders[identity.Man], n.genders[identity.Woman]
	switch {
	case men >= minPronouns && men >= 3*women:
		return identity.Man
	case women >= minPronouns && women >= 3*men:
		return identity.Woman
	}
	return identity.Unknown
}

// person reports whether pronouns show that a name is of a person.
func (n *name) person() bool { return n.gender() != identity.Unknown }

// minPronouns is how many pronouns tell a gender, if three quarters of all agree.
const minPronouns = 2

// written returns the forms of a name, the most frequent first.
func (n *name) written() []string {
	return slices.SortedFunc(maps.Keys(n.forms), func(a, b string) int {
		return cmp.Or(n.forms[b]-n.forms[a], cmp.Compare(a, b))
	})
}
