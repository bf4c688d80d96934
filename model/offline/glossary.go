package offline

import (
	"fmt"
	"slices"
	"strings"

	"annotator/codex/identity"
)

// glossary has the entries that the window shows, by the words of their names.
type glossary struct {
	entries []*entry
	byWord  map[string][]*entry
	byForm  map[string]*entry // a name of an entry, normalised; nil if several have it
	told    map[string]int64  // the entry that has a fact; 0 if several have it
}

func newGlossary(entries []entry) *glossary {
	g := &glossary{byWord: map[string][]*entry{}, byForm: map[string]*entry{}, told: map[string]int64{}}
	for i := range entries {
		e := &entries[i]
		g.entries = append(g.entries, e)
		for _, written := range e.names() {
			for _, word := range identity.Read(written).Words {
				if !slices.Contains(g.byWord[word], e) {
					g.byWord[word] = append(g.byWord[word], e)
				}
			}
			form := normal(written)
			if other, known := g.byForm[form]; known && other != e {
				e = nil
			}
			g.byForm[form] = e
			e = &entries[i]
		}
		for _, f := range e.facts {
			g.tells(f.text, e.ID)
		}
	}
	return g
}

// tells adds a fact of an entry.
func (g *glossary) tells(fact string, entry int64) {
	if other, known := g.told[fact]; known && other != entry {
		entry = 0
	}
	g.told[fact] = entry
}

// free returns the names that no entry has.
func (g *glossary) free(names []string) (free []string) {
	for _, written := range names {
		if _, taken := g.byForm[normal(written)]; !taken {
			free = append(free, written)
		}
	}
	return free
}

// takes reports whether an entry may have a fact. One that another has must tell of both.
func (g *glossary) takes(s *sentence, entry int64) bool {
	other, known := g.told[s.text]
	return !known || other == entry || s.defines()
}

// group is one thing: its names in the book, the names that it shares with others, and the entries that have one of its
// own.
type group struct {
	names   []*name
	shared  []*name
	entries []*entry
	lost    []string // names of its only entry that mean another thing, or several
}

// groups returns the things that a scene names: what the book and the entries have names for. A name that may be of
// several is a shared name of each; with a title, it is of none.
func (b *book) groups(g *glossary, scene int) []*group { return b.groupsOf(g, b.in(scene)) }

// groupsOf returns the things that some names mean. See groups.
func (b *book) groupsOf(g *glossary, present []*name) (all []*group) {
	found, owners := b.resolve(g, present)
	things := map[string]*group{} // by the first of their names
	thing := func(names []string) *group {
		gr := things[names[0]]
		if gr == nil {
			gr = b.group(names, owners)
			if len(gr.entries) == 1 {
				gr.lost = b.lost(gr.entries[0], found)
			}
			things[names[0]] = gr
			all = append(all, gr)
		}
		return gr
	}
	for _, n := range present {
		written := n.written()[0]
		names := found.Of(written)
		if len(names) == 0 {
			continue
		}
		fits := b.bearers(n, g.byForm[normal(written)], found.Fits(written))
		if len(fits) == 0 {
			thing(names)
		}
		for _, names := range fits {
			if n.Title != "" && len(fits) > 1 {
				break // a title with a surname tells more than the surname: it is of one of them
			}
			gr := thing(names)
			gr.shared = append(gr.shared, n)
		}
	}
	return slices.DeleteFunc(all, func(gr *group) bool { return len(gr.names)+len(gr.entries) == 0 })
}

// resolve joins the names of the book and of the entries that share a word with those of a scene. It also returns the
// entries of each name that belongs to one alone, by its key. What a shared name means is decided anew.
func (b *book) resolve(g *glossary, present []*name) (found *identity.Groups, owners map[string][]*entry) {
	set := identity.NewSet()
	owners = map[string][]*entry{}
	entries := g.sharing(present)
	for _, e := range entries {
		names := e.names()
		set.Count(names[0], entryMentions)
		for _, written := range names {
			set.Add(written, e.kind(), identity.Unknown)
			id := identity.Read(written)
			if written == names[0] || g.byForm[normal(written)] != nil && !b.firstNameOfOthers(id, e) && !b.unsure(id) {
				set.Join(names[0], written)
				owners[id.Key()] = append(owners[id.Key()], e)
			}
		}
	}
	for _, n := range b.sharing(present) {
		if !b.accepts(n) || g.glued(n) {
			continue
		}
		b.partDistant(set, owners, n, entries)
		b.partNarrated(set, n, entries)
		for _, written := range n.written() {
			set.Add(written, b.kindOf([]*name{n}), n.gender())
			set.Count(written, n.forms[written])
		}
	}
	partEntries(set, entries)
	for pair := range b.apart {
		set.Part(pair[0], pair[1])
	}
	for pair := range b.stated {
		b.join(set, owners, present, pair)
	}
	return set.Resolve(), owners
}

// partEntries keeps names apart of which a person has said that they are of two things.
func partEntries(set *identity.Set, entries []*entry) {
	for _, e := range entries {
		for _, not := range e.not {
			names := []string{not}
			isIt := func(other *entry) bool { return not == fmt.Sprint(other.ID) }
			if at := slices.IndexFunc(entries, isIt); at >= 0 {
				names = entries[at].names()
			}
			for _, other := range names {
				for _, own := range e.names() {
					if identity.Read(own).Key() != identity.Read(other).Key() {
						set.Part(own, other)
					}
				}
			}
		}
	}
}

// join joins two names that the story says are of one thing, if the scene has one of them. Two that have entries of
// their own are left: their facts stay where they are.
func (b *book) join(set *identity.Set, owners map[string][]*entry, present []*name, pair [2]string) {
	one, other := b.names[identity.Read(pair[0]).Key()], b.names[identity.Read(pair[1]).Key()]
	if slices.Contains(present, one) || slices.Contains(present, other) {
		if b.accepts(one) && b.accepts(other) && (owners[one.Key()] == nil || owners[other.Key()] == nil) {
			set.Join(pair[0], pair[1])
		}
	}
}

// unsure reports whether a name is one that the scenes of the window judge anew: that of a family with a title. The
// story may have told of another one of the family since an entry got it.
func (b *book) unsure(id *identity.Name) bool { return id.OfFamily() && b.names[id.Key()] != nil }

// lost returns the names of an entry that were judged anew and are not its own.
func (b *book) lost(e *entry, found *identity.Groups) (lost []string) {
	own := found.Of(e.names()[0])
	for _, alias := range e.Aliases {
		if b.unsure(identity.Read(alias)) && !slices.Contains(own, alias) {
			lost = append(lost, alias)
		}
	}
	return lost
}

// glued reports whether a name is two names that a sentence has side by side, of two entries.
func (g *glossary) glued(n *name) bool {
	written := strings.Fields(n.written()[0])
	for i := 1; i < len(written); i++ {
		one := g.byForm[normal(strings.Join(written[:i], " "))]
		other := g.byForm[normal(strings.Join(written[i:], " "))]
		if one != nil && other != nil && one != other {
			return true
		}
	}
	return false
}

// partDistant keeps a first name that no entry has apart from the full names that are not near it. Long after Giovanni
// Rossi, a Giovanni is another one.
func (b *book) partDistant(set *identity.Set, owners map[string][]*entry, n *name, entries []*entry) {
	if len(n.Words) > 1 || n.Title != "" || owners[n.Key()] != nil || len(b.scenes) <= nearScenes {
		return
	}
	isNear := func(written string) bool {
		own := b.names[identity.Read(written).Key()]
		return own != nil && own != n && b.near(own, n)
	}
	for _, e := range entries {
		id := identity.Read(e.names()[0])
		if len(id.Words) > 1 && id.Words[0] == n.Words[0] && !slices.ContainsFunc(e.names(), isNear) {
			set.Part(e.names()[0], n.written()[0])
		}
	}
}

// nearScenes is how far a name may be from another form of it, in scenes, unless both are in one thread.
const nearScenes = 10

// near reports whether the last mention of one name is near a mention of the other.
func (b *book) near(one, other *name) bool {
	last := other.places[len(other.places)-1].scene
	return slices.ContainsFunc(one.places, func(p place) bool {
		return last-p.scene <= nearScenes || b.scenes[p.scene].thread == b.scenes[last].thread
	})
}

// entryMentions is how many mentions an entry stands for, since the window may show few of its scenes.
const entryMentions = 40

// ownShare is how much more often a short name is mentioned than all things together that it fits, if it means another
// thing. So Ali is a servant, and neither Ali Pasha nor Ali Baba.
const ownShare = 3

// bearers returns the things that share a name, each with its names; none if it belongs to one alone. A name that one
// entry has stays with it, unless the scenes of the window name only others of them in full.
func (b *book) bearers(n *name, owner *entry, fits [][]string) [][]string {
	total := 0
	var own []string
	for _, names := range fits {
		if owner != nil && slices.Contains(names, owner.names()[0]) {
			own = names
		}
		total += b.count(names, n)
	}
	switch {
	case own != nil && (b.count(own, n) > 0 || total < minMentions || len(n.places) > ownShare*total):
		return [][]string{own}
	case own != nil:
		return fits
	}
	if owner != nil || total > 0 && len(n.places) > ownShare*total {
		return nil
	}
	return fits
}

// firstNameOfOthers reports whether a name is a word with which a full name begins that an entry does not have. One
// that was met once does not count.
func (b *book) firstNameOfOthers(id *identity.Name, e *entry) bool {
	if len(id.Words) > 1 || id.Title != "" {
		return false
	}
	return slices.ContainsFunc(b.byWord[id.Words[0]], func(n *name) bool {
		has := func(written string) bool { return identity.Read(written).Key() == n.Key() }
		return len(n.Words) > 1 && n.Words[0] == id.Words[0] && len(n.places) > 1 && !b.glued(n) &&
			!slices.ContainsFunc(e.names(), has)
	})
}

// count returns how often the book mentions some names, but for one.
func (b *book) count(names []string, except *name) (count int) {
	seen := map[*name]bool{except: true}
	for _, written := range names {
		if n := b.names[identity.Read(written).Key()]; n != nil && !seen[n] {
			seen[n] = true
			count += len(n.places)
		}
	}
	return count
}

// group returns the thing that has some names.
func (b *book) group(names []string, owners map[string][]*entry) *group {
	gr := &group{}
	for _, written := range names {
		key := identity.Read(written).Key()
		if n := b.names[key]; n != nil && !slices.Contains(gr.names, n) {
			gr.names = append(gr.names, n)
		}
		for _, e := range owners[key] {
			if !slices.Contains(gr.entries, e) {
				gr.entries = append(gr.entries, e)
			}
		}
	}
	return gr
}

// sharing returns the entries that share a word with some names.
func (g *glossary) sharing(names []*name) (found []*entry) {
	for _, word := range words(names) {
		for _, e := range g.byWord[word] {
			if !slices.Contains(found, e) {
				found = append(found, e)
			}
		}
	}
	return found
}

// sharing returns the names of the book that share a word with some names.
func (b *book) sharing(names []*name) (found []*name) {
	seen := map[*name]bool{}
	for _, word := range words(names) {
		for _, n := range b.byWord[word] {
			if !seen[n] {
				seen[n] = true
				found = append(found, n)
			}
		}
	}
	return found
}

// words returns the words of some names, with the first names of which they are nicknames, and the plural of families.
func words(names []*name) (all []string) {
	for _, n := range names {
		for _, word := range n.Words {
			all = append(all, word, word+"s", word+"es")
			all = append(all, identity.FullNames(word)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mentions counts the mentions of a thing in the scenes of the window.
func (gr *group) mentions() (count int) {
	for _, n := range gr.names {
		count += len(n.places)
	}
	return count
}

// term returns the name under which a thing is best found: a full name, else one with a title, else the most frequent.
// A full name that has a title throughout is found without it.
func (gr *group) term(b *book) string {
	best, score := "", -1
	for _, n := range gr.names {
		for _, written := range n.written() {
			if s := b.termScore(n, written); s > score {
				best, score = written, s
				if n.Title != "" && len(n.Words) > 1 && n.OwnName() && n.core != "" {
					best = n.core
				}
			}
		}
	}
	return best
}

// termScore rates a form of a name as the term of an entry.
func (b *book) termScore(n *name, written string) int {
	score := min(n.forms[written], 99)
	switch {
	case n.Title == "" && len(n.Words) > 1, n.Office:
		score += 200
	case n.Title != "" && len(n.Words) > 1:
		score += 150
	case n.Title != "":
		score += 100
	}
	if written == strings.ToUpper(written) {
		score -= 99
	}
	return max(score, 0)
}

// forms returns all forms of a thing's names but the term.
func (gr *group) forms(term string) []string {
	forms := []string{}
	for _, n := range gr.names {
		for _, written := range n.written() {
			known := func(f string) bool { return normal(f) == normal(written) }
			if normal(written) != normal(term) && !slices.ContainsFunc(forms, known) {
				forms = append(forms, written)
			}
		}
	}
	slices.Sort(forms)
	return forms
}
