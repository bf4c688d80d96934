package offline

import "slices"

// glossary indexes the names of the entries that the window shows.
type glossary struct {
	lex   *lexicon
	known []knownEntry
	forms map[string]bool // every name of every entry, normalised
}

type knownEntry struct {
	*entry
	names []identity
}

func newGlossary(lex *lexicon, entries []entry) *glossary {
	g := &glossary{lex: lex, forms: map[string]bool{}}
	for i := range entries {
		k := knownEntry{entry: &entries[i]}
		for _, n := range entries[i].names() {
			g.forms[normal(n)] = true
			k.names = append(k.names, lex.identify(n))
		}
		g.known = append(g.known, k)
	}
	return g
}

// has reports whether a form is a name of some entry.
func (g *glossary) has(form string) bool { return g.forms[normal(form)] }

// find returns the entry that a name of a scene denotes. The entry is nil if several entries share the name.
func (g *glossary) find(n *name) (e *entry, found bool) {
	for _, match := range []func(*knownEntry, *name) bool{g.same, g.shorter, g.longer} {
		for i := range g.known {
			k := &g.known[i]
			if !match(k, n) {
				continue
			}
			if found {
				return nil, true
			}
			e, found = k.entry, true
		}
		if found {
			return e, true
		}
	}
	return nil, false
}

// same reports whether the entry has exactly this name.
func (g *glossary) same(k *knownEntry, n *name) bool {
	return slices.ContainsFunc(k.names, func(id identity) bool {
		return slices.Equal(id.tokens, n.tokens) && id.gender.agrees(n.gender)
	})
}

// shorter reports whether the name is a short form of one of the entry's.
func (g *glossary) shorter(k *knownEntry, n *name) bool {
	return slices.ContainsFunc(k.names, func(id identity) bool { return g.lex.partOf(n.identity, id) })
}

// longer reports whether the name is a fuller form of all of the entry's: Tobin Marrow is not Ysolde Marrow, or Marrow.
func (g *glossary) longer(k *knownEntry, n *name) bool {
	return !slices.ContainsFunc(k.names, func(id identity) bool { return !g.lex.partOf(id, n.identity) })
}
