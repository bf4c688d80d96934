package identity

import (
	"cmp"
	"maps"
	"slices"
)

// Person is the kind of thing of which a Set knows more. Others may be given, too. The empty kind agrees with each.
const Person = "person"

// Set joins names into groups of which each is one thing. What it is told may come in any order.
type Set struct {
	members map[string]*member // by key
	byWord  map[string][]*member
	joins   map[[2]string]bool // of keys
	parts   map[[2]string]bool // of keys, in both orders
}

// member is a name with what a caller knows of it.
type member struct {
	*Name
	texts   map[string]bool
	kinds   map[string]bool // that were learned; only one of them is decisive
	genders map[Gender]bool
	count   int // of its mentions, as far as it was told
	group   *group
	fits    []*group // if they are several
}

// group is a thing. After a union its members have another group.
type group struct{ members []*member }

// NewSet returns a set without names.
func NewSet() *Set {
	return &Set{
		members: map[string]*member{}, byWord: map[string][]*member{},
		joins: map[[2]string]bool{}, parts: map[[2]string]bool{},
	}
}

// Add adds a name. Kind and gender are what else is known of its bearer; the gender that the name itself tells takes
// precedence.
func (s *Set) Add(text, kind string, gender Gender) {
	m := s.member(text)
	m.kinds[kind], m.genders[gender] = true, true
}

// Count adds mentions of a name. Of the groups that a short name fits, one that is named far less often than another
// does not count.
func (s *Set) Count(text string, mentions int) { s.member(text).count += mentions }

// dominance is how much more often a group is named than another one for the other not to count, unless it is named
// often, too.
const (
	dominance = 8
	often     = 20
)

// kind returns what was learned, if it is one kind.
func (m *member) kind() string { return only(m.kinds) }

// learned returns the gender that a caller told, if it is one.
func (m *member) learned() Gender { return only(m.genders) }

// only returns the key that is not zero, if there is exactly one.
func only[T comparable](keys map[T]bool) (found T) {
	var zero T
	for key := range keys {
		switch {
		case key == zero:
		case found != zero:
			return zero
		default:
			found = key
		}
	}
	return found
}

func (s *Set) member(text string) *member {
	n := Read(text)
	m := s.members[n.key]
	if m == nil {
		m = &member{Name: n, texts: map[string]bool{}, kinds: map[string]bool{}, genders: map[Gender]bool{}}
		s.members[n.key] = m
		for _, word := range slices.Compact(slices.Sorted(slices.Values(n.Words))) {
			s.byWord[word] = append(s.byWord[word], m)
		}
	}
	m.texts[text] = true
	return m
}

// Join says that two names are of one thing: an entry has both, or the story says so. A veto takes precedence.
func (s *Set) Join(a, b string) { s.joins[pair(s.member(a).key, s.member(b).key)] = true }

// Part says that two names are of two things: a person says so, or the story names both in one breath. It adds
// neither.
func (s *Set) Part(a, b string) { s.parts[pair(Read(a).key, Read(b).key)] = true }

func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// Groups is what a Set was resolved to.
type Groups struct{ members map[string]*member }

// Resolve joins the names: first those that were given as joined. Then it joins each name, the most specific first,
// with the only group that it fits. A name that fits several groups is alone.
func (s *Set) Resolve() *Groups {
	for _, m := range s.members {
		m.group = &group{[]*member{m}}
		if m.Gender == Unknown {
			m.Gender = m.learned()
		}
	}
	for _, keys := range slices.SortedFunc(maps.Keys(s.joins), func(a, b [2]string) int {
		return slices.Compare(a[:], b[:])
	}) {
		s.union(s.members[keys[0]], s.members[keys[1]])
	}
	specific := slices.SortedFunc(maps.Values(s.members), func(a, b *member) int {
		return cmp.Or(b.specificity()-a.specificity(), s.surname(a)-s.surname(b), cmp.Compare(a.key, b.key))
	})
	for _, least := range []Evidence{Place, Diminutive} {
		for _, m := range specific {
			s.place(m, least)
		}
	}
	for _, m := range specific {
		m.fits = s.fitting(m)
	}
	return &Groups{s.members}
}

// fitting returns the groups that a name by itself may mean, if they are several. That which it belongs to is one of
// them if it has a longer name. A group that is named far less often than another one does not count. Women do not
// where a name without title may be a man's.
func (s *Set) fitting(m *member) (fits []*group) {
	for _, longer := range append(s.candidates(m, Place), s.candidates(m, Diminutive)...) {
		g := longer.group
		if !slices.Contains(fits, g) && (g == m.group || s.mayJoin(&group{[]*member{m}}, g)) {
			fits = append(fits, g)
		}
	}
	fits = dominant(fits)
	if len(fits) < 2 || len(m.group.members) > 1 && !slices.Contains(fits, m.group) {
		return nil
	}
	if m.Title != "" || m.Gender == Woman {
		return fits
	}
	men := s.surname(m) == 1 || slices.ContainsFunc(fits, func(g *group) bool { return g.has(Man) })
	return slices.DeleteFunc(fits, func(g *group) bool { return g.lady(m.last()) || men && g.has(Woman) })
}

// has reports whether a name of a group is of a gender.
func (g *group) has(gender Gender) bool {
	return slices.ContainsFunc(g.members, func(m *member) bool { return m.Gender == gender })
}

// specificity orders names by how much they tell: by their whole words, then initials, then a title.
func (m *member) specificity() int {
	initials := m.initials()
	n := 8*(len(m.Words)-initials) + 2*initials
	if m.Title != "" || m.generation != "" {
		n++
	}
	return n
}

// surname returns 1 for a name with one word that ends longer names, else 0. First names tell more.
func (s *Set) surname(m *member) int {
	if len(m.Words) == 1 && slices.ContainsFunc(s.byWord[m.last()], func(other *member) bool {
		return len(other.Words) > 1 && other.last() == m.last()
	}) {
		return 1
	}
	return 0
}

// place joins a name with the group that it fits, if that is the only one. A nickname alone is the weakest evidence, so
// it has a pass of its own. A family name is not that of a wife alone, as far as one knows.
func (s *Set) place(m *member, pass Evidence) {
	fits := dominant(s.families(m, pass))
	switch {
	case len(fits) != 1 || fits[0] == m.group || !s.mutual(m, fits[0], pass):
	case m.Title != "" || m.Gender == Woman || !fits[0].lady(m.last()):
		s.union(m, fits[0].members[0])
	}
}

// lady reports whether a group has a woman's title with a last name. So the last name alone is not hers.
func (g *group) lady(last string) bool {
	return slices.ContainsFunc(g.members, func(m *member) bool {
		return m.last() == last && m.Title != "" && m.Gender == Woman
	})
}

// dominant returns the groups without those that are named far less often than another one.
func dominant(groups []*group) []*group {
	most := 0
	for _, g := range groups {
		most = max(most, g.count())
	}
	return slices.DeleteFunc(groups, func(g *group) bool {
		n := g.count()
		return n < often && (n+1)*dominance < most
	})
}

// count returns how often the full names of a group are mentioned.
func (g *group) count() (n int) {
	for _, m := range g.members {
		if len(m.Words) > 1 || m.Title != "" {
			n += m.count
		}
	}
	return n
}

// families returns the groups of longer names that a name may be another form of, also the one that it is in.
func (s *Set) families(m *member, pass Evidence) (fits []*group) {
	for _, longer := range s.candidates(m, pass) {
		if longer.group != m.group && (bridges(m.group, longer.group) || !s.mayJoin(m.group, longer.group)) {
			continue
		}
		if !slices.Contains(fits, longer.group) {
			fits = append(fits, longer.group)
		}
	}
	return fits
}

// mutual reports whether a name may join a group. It may not if a name of it with the same word and another title fits
// others as well.
func (s *Set) mutual(m *member, g *group, pass Evidence) bool {
	return !slices.ContainsFunc(s.candidates(m, pass), func(longer *member) bool {
		return longer.group == g && slices.Equal(m.Words, longer.Words) && longer.specificity() == m.specificity() &&
			slices.ContainsFunc(s.candidates(longer, pass), func(other *member) bool {
				return other.group != m.group && other.group != g && s.mayJoin(g, other.group)
			})
	})
}

// bridges reports whether two groups have full names that nothing shows to be of one thing. A short name does not join
// Henry Marrow and Harry Vane.
func bridges(a, b *group) bool {
	for _, one := range a.members {
		for _, other := range b.members {
			if e, _ := Compare(one.Name, other.Name); len(one.Words) > 1 && len(other.Words) > 1 && e == None {
				return true
			}
		}
	}
	return false
}

// candidates returns the names of which a name may be another form, of the same or a higher specificity.
func (s *Set) candidates(m *member, pass Evidence) (found []*member) {
	for _, other := range s.sharing(m) {
		if other != m && other.specificity() >= m.specificity() && s.evidence(m, other) == pass {
			found = append(found, other)
		}
	}
	return found
}

// sharing returns the names that have the last word of a name, or a first name of which it is a nickname.
func (s *Set) sharing(m *member) []*member {
	found := slices.Clone(s.byWord[m.last()])
	if len(m.Words) == 1 {
		for _, full := range tables().full[m.last()] {
			found = append(found, s.byWord[full]...)
		}
	}
	slices.SortFunc(found, func(a, b *member) int { return cmp.Compare(a.key, b.key) })
	return slices.Compact(found)
}

// evidence returns in which pass two names may be joined: Place, Diminutive, or None if they have too little evidence.
func (s *Set) evidence(m, longer *member) Evidence {
	e, _ := Compare(m.Name, longer.Name)
	learned := m.learned()
	switch {
	case e == Part && s.headOfFamily(m, longer):
		return None
	case e == Place && m.kind() != Person, e == Diminutive && (learned == Unknown || learned != longer.learned()):
		return None
	case e == Part || e == Diminutive || e == Shorter: // words of a place or a group mean others as well
		for _, kind := range []string{m.kind(), longer.kind()} {
			if kind != "" && kind != Person {
				return None
			}
		}
	}
	if e > Diminutive {
		return Place
	}
	return e
}

// headOfFamily reports whether a title with a last name may be that of another one of the family than a full name. Then
// the story also has the Marrows or Mrs. Marrow, and for General Marrow also Mr. Marrow or another officer.
func (s *Set) headOfFamily(m, longer *member) bool {
	officer := m.high() && longer.Title != m.Title
	if !m.OfFather() && !officer || len(m.Words) > 1 || len(longer.Words) < 2 || longer.last() != m.last() {
		return false
	}
	if s.byWord[m.last()+"s"] != nil || s.byWord[m.last()+"es"] != nil {
		return true
	}
	return slices.ContainsFunc(s.byWord[m.last()], func(other *member) bool {
		switch {
		case other.stage == wife: // Mrs. John Marrow has a husband of that name, Mrs. Marrow some man
			return len(other.Words) == 1 && longer.Gender != Man || slices.Equal(other.Words, longer.Words)
		case officer:
			return len(other.Words) == 1 && other.Title != m.Title && (other.stage == mister || other.high())
		}
		return false
	})
}

// union joins the groups of two names, unless two of their names have a veto.
func (s *Set) union(a, b *member) {
	if a.group == b.group || !s.mayJoin(a.group, b.group) {
		return
	}
	joined, gone := a.group, b.group
	joined.members = append(joined.members, gone.members...)
	for _, m := range gone.members {
		m.group = joined
	}
}

// mayJoin reports whether no name of one group has a veto against a name of the other.
func (s *Set) mayJoin(a, b *group) bool {
	for _, one := range a.members {
		for _, other := range b.members {
			if s.veto(one, other) != "" {
				return false
			}
		}
	}
	return true
}

// veto returns why two names cannot be of one thing, also by what was learned of them.
func (s *Set) veto(a, b *member) Veto {
	switch {
	case s.parts[pair(a.key, b.key)]:
		return Apart
	case a.kind() != "" && b.kind() != "" && a.kind() != b.kind():
		return Kinds
	}
	_, v := Compare(a.Name, b.Name)
	return v
}

// Of returns the names of the group of a name; none for a name that was not added.
func (g *Groups) Of(text string) []string {
	m := g.members[Read(text).key]
	if m == nil {
		return nil
	}
	return m.group.names()
}

// Fits returns the groups that a name by itself may mean, each with its names. It returns none if the name is a form of
// the names of one group at most.
func (g *Groups) Fits(text string) (fits [][]string) {
	m := g.members[Read(text).key]
	if m == nil {
		return nil
	}
	for _, f := range m.fits {
		fits = append(fits, f.names())
	}
	return fits
}

func (g *group) names() (names []string) {
	for _, m := range g.members {
		names = slices.AppendSeq(names, maps.Keys(m.texts))
	}
	slices.Sort(names)
	return names
}
