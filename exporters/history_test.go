package exporters_test

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"annotator"
	"annotator/exporters"
)

// memoryHistory is a history in memory.
type memoryHistory struct {
	revisions map[int64][]annotator.Revision
	episodes  []annotator.Episode
	scenes    []annotator.Order
}

func (p *memoryHistory) Histories(context.Context) iter.Seq2[[]annotator.Revision, error] {
	return func(yield func([]annotator.Revision, error) bool) {
		for _, id := range slices.Sorted(maps.Keys(p.revisions)) {
			if !yield(slices.Clone(p.revisions[id]), nil) {
				return
			}
		}
	}
}

func (p *memoryHistory) Episodes(context.Context) ([]annotator.Episode, []annotator.Order, error) {
	return p.episodes, p.scenes, nil
}

func (p *memoryHistory) MentionsOf(_ context.Context, entries []int64) (map[int64]int, error) {
	weights := map[int64]int{}
	for _, id := range entries {
		weights[id] = len(p.revisions[id])
	}
	return weights, nil
}

// historyOf returns a history of the entries of a document, by the dates in it.
func historyOf(doc *exporters.Document) *memoryHistory {
	p := &memoryHistory{revisions: map[int64][]annotator.Revision{}}
	for i := range doc.Entries {
		e := &doc.Entries[i]
		add := func(scene int, field annotator.Field, old, new string) {
			p.revisions[e.ID] = append(p.revisions[e.ID], annotator.Revision{
				Entry: e.ID, Field: field, Old: old, New: new, Seen: annotator.Order(max(scene, e.First.Scene)),
				At: annotator.PlaceAt(annotator.Order(scene), 0),
			})
		}
		named := annotator.Entry{Term: e.Term, Disambiguator: e.Disambiguator}
		add(e.First.Scene, annotator.FieldTerm, "", named.Name())
		add(e.First.Scene, annotator.FieldStatus, "", string(e.Status))
		for _, tag := range e.Tags {
			add(e.First.Scene, annotator.FieldTag, "", tag)
		}
		for _, a := range e.Aliases {
			add(a.From.Scene, annotator.FieldAlias, "",
				annotator.EncodeJSON(annotator.Alias{
					Name: a.Name, From: annotator.PlaceAt(annotator.Order(a.From.Scene), 0),
				}))
		}
		for ord, c := range e.Claims {
			claim := annotator.Claim{
				ID: c.ID, Ord: ord, Text: c.Text, Kind: c.Kind, Speaker: c.Speaker, State: c.State,
				From: annotator.PlaceAt(annotator.Order(c.From.Scene), 0),
			}
			add(c.From.Scene, annotator.FieldClaim, "", annotator.EncodeJSON(claim))
			for _, v := range c.Evidence {
				add(c.From.Scene, annotator.FieldEvidence, "",
					annotator.EncodeJSON(annotator.Evidence{
						Claim: c.ID, Post: v.Post, Start: v.Start, End: v.End,
						Quote: v.Quote,
					}))
			}
			if c.Until != nil {
				open := annotator.EncodeJSON(claim)
				claim.Until, claim.ReplacedBy = annotator.PlaceAt(annotator.Order(c.Until.Scene), 0), c.ReplacedBy
				add(max(c.From.Scene, c.Until.Scene), annotator.FieldClaim, open, annotator.EncodeJSON(claim))
			}
		}
		if e.Present != nil {
			add(e.Present.AsOf.Scene, annotator.FieldPresent, "", e.Present.Text)
		}
	}
	for id := range p.revisions {
		slices.SortStableFunc(p.revisions[id], func(a, b annotator.Revision) int { return cmp.Compare(a.Seen, b.Seen) })
		for i := range p.revisions[id] {
			p.revisions[id][i].ID = int64(i + 1)
		}
	}
	return p
}
