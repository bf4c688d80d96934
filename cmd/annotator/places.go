package main

import (
	"cmp"
	"context"
	"fmt"

	"annotator"
	"annotator/exporters"
	"annotator/storage"
)

// places gives entries the shape of an export, with the positions that a reader of the corpus knows. What goes wrong with that is
// kept until somebody asks.
type places struct {
	ctx       context.Context
	positions *storage.Positions
	err       error
}

func newPlaces(ctx context.Context, db *storage.DB) *places {
	return &places{ctx: ctx, positions: db.Scenes.Positions()}
}

func (p *places) at(place annotator.Place) annotator.Position {
	position, err := p.positions.At(p.ctx, place)
	p.err = cmp.Or(p.err, err)
	return position
}

// export shapes entries in the order in which they are given.
func (p *places) export(entries []annotator.Entry) []exporters.Entry {
	shaped := make([]exporters.Entry, len(entries))
	for i := range entries {
		shaped[i] = exporters.Build(exporters.Story{}, entries[i:i+1], p.at).Entries[0]
	}
	return shaped
}

// where tells a position to people.
func where(p annotator.Position) string {
	if p.Scene == 0 {
		return "before the story"
	}
	return fmt.Sprintf("scene %d, thread %d, post %d", p.Scene, p.Thread, p.Post)
}
