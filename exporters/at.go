package exporters

import (
	"cmp"
	"context"
	"slices"

	"annotator/codex"
)

// datedName is a name of an entry with the scene from which it is known.
type datedName struct {
	Name string `json:"name"`
	From int    `json:"from"`
}

// datedNames returns the names that an entry goes by over the story, oldest first: the term where it is known, before
// that the newest of the other names.
func datedNames(e *Entry) []datedName {
	var names []datedName
	known := e.First.Scene
	for _, a := range e.Aliases {
		if codex.Normalize(a.Name) == codex.Normalize(e.Term) {
			known = a.From.Scene
		} else {
			names = append(names, datedName{a.Name, a.From.Scene})
		}
	}
	names = slices.DeleteFunc(names, func(n datedName) bool { return n.From >= known })
	slices.SortStableFunc(names, func(a, b datedName) int { return cmp.Compare(a.From, b.From) })
	return append(names, datedName{nameOf(e), known})
}

// entriesAt returns the entries as the story knows them at the end of a scene: their names, the claims that hold, and
// the quotations. It derives them from the dates of the document, so that a format can have many such states.
func (c *Codex) entriesAt(ctx context.Context, scene int) ([]Entry, error) {
	var list []Entry
	for i := range c.Entries {
		e := c.Entries[i]
		name := ""
		for _, n := range datedNames(&e) {
			if n.From <= scene {
				name = n.Name
			}
		}
		if name == "" || e.First.Scene > scene {
			continue
		}
		if name != nameOf(&e) {
			e.Term, e.Disambiguator = name, ""
		}
		e.Aliases = slices.DeleteFunc(slices.Clone(e.Aliases), func(a Alias) bool { return a.From.Scene > scene })
		if e.Present != nil && e.Present.AsOf.Scene > scene {
			e.Present = nil
		}
		var claims []Claim
		for _, claim := range e.Claims {
			if claim.From.Scene > scene || claim.Until != nil && claim.Until.Scene <= scene {
				continue
			}
			var err error
			if claim.Evidence, err = c.evidenceAt(ctx, claim.Evidence, scene); err != nil {
				return nil, err
			}
			claim.Until, claim.ReplacedBy = nil, 0
			claims = append(claims, claim)
		}
		e.Claims = claims
		list = append(list, e)
	}
	return list, nil
}

// evidenceAt returns the quotations of posts up to a scene.
func (c *Codex) evidenceAt(ctx context.Context, evidence []Evidence, scene int) ([]Evidence, error) {
	var list []Evidence
	for _, v := range evidence {
		n, err := c.SceneOf(ctx, v.Post)
		if err != nil {
			return nil, err
		}
		if n <= scene {
			list = append(list, v)
		}
	}
	return list, nil
}
