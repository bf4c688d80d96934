package view

import (
	"cmp"
	"context"
	"slices"

	"annotator"
	"annotator/storage"
)

// Positions translates places to the ids of threads and posts. It reads each scene once.
type Positions struct {
	Err error // the first

	ctx    context.Context
	db     *storage.DB
	scenes map[annotator.Order]*annotator.SceneRow
}

// NewPositions returns an empty one.
func NewPositions(ctx context.Context, db *storage.DB) *Positions {
	return &Positions{ctx: ctx, db: db, scenes: map[annotator.Order]*annotator.SceneRow{}}
}

// Read reads the scenes of places at once, for a page with many.
func (p *Positions) Read(places []annotator.Place) {
	var scenes []annotator.Order
	for _, place := range places {
		if order := place.Order(); p.scenes[order] == nil {
			scenes = append(scenes, order)
		}
	}
	slices.Sort(scenes)
	found, err := storage.Rows(p.ctx, p.db.Reader(storage.Limit{}), "read scenes", storage.ScanScene,
		storage.SceneQuery+` WHERE s.ord IN (SELECT value FROM json_each(?))`, storage.List(slices.Compact(scenes)))
	p.Err = cmp.Or(p.Err, err)
	for i := range found {
		p.scenes[found[i].Order] = &found[i]
	}
}

// At returns the position of a place; the zero position for a place before the story, and where Err is set.
func (p *Positions) At(place annotator.Place) (position annotator.Position) {
	if place.Order() == 0 {
		return position
	}
	s, ok := p.scenes[place.Order()]
	if !ok {
		var err error
		if s, err = p.db.Scenes.At(p.ctx, place.Order()); err != nil {
			p.Err = cmp.Or(p.Err, err)
			return position
		}
		p.scenes[place.Order()] = s
	}
	position.Thread, position.Scene = s.Thread.ID, s.N
	if place.Rank() < len(s.Posts) {
		position.Post = s.Posts[place.Rank()]
	}
	return position
}

// Named returns the position of a place as At does, with the name of its chapter.
func (p *Positions) Named(place annotator.Place) annotator.Position {
	position := p.At(place)
	if s := p.scenes[place.Order()]; s != nil && position.Scene != 0 {
		position.Chapter = ChapterLabel(&s.Thread)
	}
	return position
}
