package curator

import (
	"context"
	"maps"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/codex/identity"
	"annotator/context/mention"
	"annotator/context/tokens"
)

// maxShortForms is how many short forms are compared with entries at a thread's end.
const maxShortForms = 24

// shortForm is a short form of a name that the story uses.
type shortForm struct {
	mention.ShortForm
	At annotator.Place // of its first occurrence
}

// nameShortForms gives people the short forms of their names that the story uses, by rule: those that fit one entry.
func (c *Curator) nameShortForms(ctx context.Context) error {
	if c.Tasks&Names == 0 {
		return nil
	}
	forms, named, err := c.shortForms(ctx)
	if err != nil || len(forms) == 0 {
		return err
	}
	var ids []int64
	for i := range forms {
		ids = append(ids, forms[i].Holders...)
	}
	slices.Sort(ids)
	entries, err := c.entries(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	var given []string
	revisions := map[int64][]annotator.Revision{}
	for i := range forms {
		e := owner(&forms[i], entries, named)
		if e == nil {
			continue
		}
		changed, err := revised(e, codex.Edit{
			Actor: annotator.ActorRule, At: max(forms[i].At, e.First), Aliases: []string{forms[i].Text},
		})
		if err == nil && len(changed) > 0 {
			revisions[e.ID] = append(revisions[e.ID], changed...)
			given = append(given, forms[i].Text+" ("+e.Name()+")")
		}
	}
	if len(given) == 0 {
		return nil
	}
	var all []annotator.Revision
	for _, id := range slices.Sorted(maps.Keys(revisions)) {
		all = append(all, revisions[id]...)
	}
	text := "Names without a question, because they fit nobody else: " + strings.Join(given, ", ") + "."
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.EstimateMessage(text)}
	if err := c.Records.Decide(ctx, nil, note, all, nil); err != nil {
		return err
	}
	c.Names.Invalidate(slices.Collect(maps.Keys(revisions))...)
	return nil
}

// shortForms returns the short forms of names in the scenes of the thread that has ended, or in the newest ones if
// these are few. They do not depend on what was asked before: a form that has become a name is none of them. A form
// that was taken from an entry which it fits is not given back.
func (c *Curator) shortForms(ctx context.Context) (list []shortForm, named map[int64]int, err error) {
	scenes, err := c.recentScenes(ctx, c.Scene.Thread.Order-1)
	if err != nil {
		return nil, nil, err
	}
	index, usage, err := c.Names.Words(ctx, c.Scene.Order)
	if err != nil {
		return nil, nil, err
	}
	found, named := index.ShortForms(textsOf(scenes), usage, maxShortForms)
	for _, f := range found {
		if !slices.ContainsFunc(f.Holders, func(id int64) bool { return named[id] > 0 }) {
			continue // see owner
		}
		former, err := c.Records.Former(ctx, f.Text)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(f.Holders, func(id int64) bool { return slices.Contains(former, id) }) {
			continue
		}
		scene := &scenes[f.Scene]
		list = append(list, shortForm{
			ShortForm: f, At: annotator.PlaceAt(scene.Order, rankAt(scene.Posts, f.Start)),
		})
	}
	return list, named, nil
}

// owner returns the entry of which a form is a short form; nil unless it is exactly one. The scenes must name it
// otherwise, too: long after Giovanni Rossi, a Giovanni is another one. A place that has the word in its name may be
// meant by it, too.
func owner(f *shortForm, entries map[int64]*annotator.Entry, named map[int64]int) *annotator.Entry {
	set, form := identity.NewSet(), identity.Read(f.Text)
	set.Add(f.Text, "", identity.Unknown)
	var former []string // names of other entries
	for _, id := range f.Holders {
		kind, own := kindOf(entries[id]), ownNames(entries[id])
		if kind == placeTag && !strings.Contains(f.Text, " ") {
			return nil
		}
		own = slices.DeleteFunc(slices.Clone(own), func(name string) bool {
			return slices.ContainsFunc(own, func(full string) bool { return sameTitle(f.Text, name, full) })
		})
		for _, name := range own {
			set.Add(name, kind, identity.Unknown)
			set.Join(own[0], name)
			for _, other := range former {
				set.Part(name, other)
			}
		}
		former = append(former, own...)
		if len(own) > 0 {
			set.Count(own[0], named[id])
		}
	}
	group := set.Resolve().Of(f.Text)
	var found *annotator.Entry
	for _, id := range f.Holders {
		if !slices.ContainsFunc(ownNames(entries[id]), func(name string) bool { return slices.Contains(group, name) }) {
			continue
		}
		kind := kindOf(entries[id])
		if found != nil || named[id] == 0 || !isPart(form, entries[id]) || kind != identity.Person && kind != "" {
			return nil
		}
		found = entries[id]
	}
	return found
}

// isPart reports whether a name of an entry has all words of a form. Miss Marrow may be Ada Marrow, but whoever calls
// her so introduces a name.
func isPart(form *identity.Name, e *annotator.Entry) bool {
	return slices.ContainsFunc(ownNames(e), func(name string) bool {
		words := identity.Read(name).Words
		return !slices.ContainsFunc(form.Words, func(word string) bool { return !slices.Contains(words, word) })
	})
}

// sameTitle reports whether two names are one title with different words of a full name: Miss Katrine and Miss Dulany
// of Katrine Dulany. They are of one person, although two sisters may be called so.
func sameTitle(a, b, full string) bool {
	one, other, words := mention.Words(a), mention.Words(b), mention.Words(full)
	return len(one) == 2 && len(other) == 2 && one[0] == other[0] && one[1] != other[1] &&
		!slices.Contains(words, one[0]) && slices.Contains(words, one[1]) && slices.Contains(words, other[1])
}

// ownNames returns the names of an entry, the one of most words first. Without those that say whose it is: "Orrin's
// wife" is no name of an Orrin.
func ownNames(e *annotator.Entry) []string {
	own := slices.DeleteFunc(names(e), func(name string) bool {
		return strings.Contains(name, "'s ") || strings.Contains(name, "’s ")
	})
	slices.SortStableFunc(own, func(a, b string) int { return len(strings.Fields(b)) - len(strings.Fields(a)) })
	return own
}

// placeTag is the tag of a place.
const placeTag = "place"

// kindOf returns what kind of thing an entry is, by its tags; empty if they do not say.
func kindOf(e *annotator.Entry) string {
	switch {
	case slices.Contains(e.Tags, identity.Person), slices.Contains(e.Tags, "character"):
		return identity.Person
	case len(e.Tags) == 0:
		return ""
	}
	return e.Tags[0]
}
