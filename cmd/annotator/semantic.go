package main

import (
	"context"
	"fmt"
	"iter"

	"annotator"
	"annotator/exporters"
	"annotator/storage"
)

// fact is a claim as `memory semantic` prints it.
type fact struct {
	ID       string               `json:"id"`       // the entry's, and the claim's within it: 12.3
	Time     float64              `json:"ts"`       // unix seconds of its last change
	Turns    []int64              `json:"turn_ids"` // it was made in
	Entry    int64                `json:"entry"`
	Term     string               `json:"term"`
	Status   annotator.Status     `json:"status"` // of the entry
	Tags     []string             `json:"tags"`
	Fact     string               `json:"fact"`
	Kind     annotator.ClaimKind  `json:"kind"`
	From     annotator.Position   `json:"from"`
	Until    *annotator.Position  `json:"until"` // null while it holds
	Evidence []exporters.Evidence `json:"evidence"`
}

func semanticItems(ctx context.Context, db *storage.DB, o *memoryOptions) iter.Seq2[memoryItem, error] {
	return func(yield func(memoryItem, error) bool) {
		makings, err := db.History.ClaimProvenance(ctx)
		places := newPlaces(ctx, db)
		for e, read := range db.Glossary.All(ctx) {
			if err == nil {
				err = read
			}
			if err != nil {
				yield(memoryItem{}, err)
				return
			}
			if !o.all && !e.Status.Live() {
				continue
			}
			for _, f := range facts(e, places, makings) {
				if err = places.err; f.Until != nil && !o.all {
					continue
				}
				if !yield(f.item(), err) {
					return
				}
			}
		}
	}
}

func facts(e *annotator.Entry, places *places, makings map[storage.ClaimKey]storage.Provenance) []fact {
	shaped := places.export([]annotator.Entry{*e})[0]
	list := make([]fact, len(e.Claims))
	for i := range e.Claims {
		c, m := &shaped.Claims[i], makings[storage.ClaimKey{Entry: e.ID, Claim: e.Claims[i].ID}]
		list[i] = fact{
			ID: fmt.Sprintf("%d.%d", e.ID, e.Claims[i].ID), Time: unixSeconds(m.Changed), Turns: append([]int64{}, m.Turns...),
			Entry: e.ID, Term: e.Name(), Status: e.Status, Tags: shaped.Tags,
			Fact: c.Text, Kind: c.Kind, From: c.From, Until: c.Until, Evidence: c.Evidence,
		}
	}
	return list
}

func (f *fact) item() memoryItem {
	return memoryItem{*f, []string{f.ID, shortened(f.Term, 28), string(f.Kind), fmt.Sprintf("scene %d", f.From.Scene), shortened(f.Fact, 100)}}
}
