package storage

import (
	"context"
	"slices"
	"sync"

	"annotator"
	"annotator/codex"
)

// View reads the codex and the story up to a limit. It returns nothing that comes later: no entry, claim, name,
// revision, scene, thread, count, snapshot or post. Everything that shows a codex to people reads it through a View.
type View struct {
	db *DB
	m  Moment

	entries func() ([]annotator.Entry, error) // all, by id
}

// View returns the view up to a moment. The zero Moment is no limit.
func (db *DB) View(ctx context.Context, m Moment) *View {
	v := &View{db: db, m: m}
	v.entries = sync.OnceValues(func() ([]annotator.Entry, error) {
		if m.IsZero() {
			return db.History.sum(ctx, `true`)
		}
		return db.History.AsOf(ctx, m)
	})
	return v
}

// Moment returns the limit of the view.
func (v *View) Moment() Moment { return v.m }

// Shows reports whether the post at a place is within the limit.
func (v *View) Shows(place annotator.Place) bool { return v.m.IsZero() || place <= v.m.reach }

// Entry returns the entry with an id, live or not; NotFound if there is none within the limit.
func (v *View) Entry(ctx context.Context, id int64) (*annotator.Entry, error) {
	found, err := v.EntriesByID(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if found[id] == nil {
		return nil, annotator.Errorf(annotator.NotFound, "there is no entry %d", id)
	}
	return found[id], nil
}

// EntriesByID returns the entries with the given ids, by id. Ids without an entry within the limit are left out.
func (v *View) EntriesByID(_ context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	all, err := v.entries()
	found := map[int64]*annotator.Entry{}
	for id, e := range byID(all) {
		if slices.Contains(ids, id) {
			found[id] = e
		}
	}
	return found, err
}

// Named returns the entries that a name stands for, by id, live or not: entries with that full name, else those of
// which it is an alias; live ones, else the others.
func (v *View) Named(_ context.Context, name string) ([]annotator.Entry, error) {
	all, err := v.entries()
	keys := []string{codex.Normalize(name), codex.Normalize(codex.CleanName(name))}
	var best []annotator.Entry
	bestRank := 0
	for i := range all {
		rank := 0
		if slices.Contains(keys, codex.Normalize(all[i].Name())) {
			rank = 2
		} else if slices.ContainsFunc(all[i].Aliases, func(a annotator.Alias) bool { return slices.Contains(keys, codex.Normalize(a.Name)) }) {
			rank = 1
		}
		if rank > 0 && all[i].Status.Live() {
			rank += 2
		}
		if rank > bestRank {
			best, bestRank = nil, rank
		}
		if rank > 0 && rank == bestRank {
			best = append(best, all[i])
		}
	}
	return best, err
}

// Page is a part of the entries that a query finds.
type Page struct {
	Entries []annotator.Entry // best match first; of a query without words, by name
	Total   int               // how many the query finds without offset and limit
}

// Find returns the entries that a query finds, as Glossary.Search does. Nothing that comes after the limit affects what
// is found, or its order.
func (v *View) Find(ctx context.Context, query annotator.Query) (Page, error) {
	whole := query
	whole.Offset, whole.Limit = 0, 0
	var found []annotator.Entry
	var err error
	if v.m.IsZero() {
		found, err = v.db.Glossary.Search(ctx, whole)
	} else {
		found, err = v.db.History.Search(ctx, v.m, whole)
	}
	page := Page{Total: len(found), Entries: found[min(query.Offset, len(found)):]}
	if query.Limit > 0 {
		page.Entries = page.Entries[:min(query.Limit, len(page.Entries))]
	}
	return page, err
}

// Revisions returns the history of an entry within the limit, oldest first.
func (v *View) Revisions(ctx context.Context, entry int64) ([]annotator.Revision, error) {
	revisions, err := v.db.Glossary.Revisions(ctx, entry)
	return slices.DeleteFunc(revisions, func(r annotator.Revision) bool { return !v.m.IsZero() && !v.m.Holds(&r) }), err
}

// Quotation is evidence that stands in a post, with the claim that it supports.
type Quotation struct {
	Entry    int64
	Claim    annotator.Claim
	Evidence annotator.Evidence
}

// Quotations returns the evidence that stands in posts, by post, start, entry and claim.
func (v *View) Quotations(_ context.Context, posts []int64) ([]Quotation, error) {
	all, err := v.entries()
	var found []Quotation
	for i := range all {
		for k := range all[i].Claims {
			c := &all[i].Claims[k]
			for _, q := range c.Evidence {
				if slices.Contains(posts, q.Post) {
					found = append(found, Quotation{all[i].ID, *c, q})
				}
			}
		}
	}
	slices.SortFunc(found, compareQuotations)
	return found, err
}
