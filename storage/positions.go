package storage

import (
	"context"

	"annotator"
)

// Positions translates places to the ids of threads and posts. It reads each scene once.
type Positions struct {
	db     *DB
	scenes map[int]*annotator.SceneRow
}

// Positions returns an empty one.
func (s *Scenes) Positions() *Positions {
	return &Positions{db: s.db, scenes: map[int]*annotator.SceneRow{}}
}

// At returns the position of a place; the zero position for place 0, before the story.
func (p *Positions) At(ctx context.Context, place annotator.Place) (annotator.Position, error) {
	if place == 0 {
		return annotator.Position{}, nil
	}
	s, ok := p.scenes[place.Scene()]
	if !ok {
		var err error
		if s, err = p.db.Scenes.Get(ctx, place.Scene()); err != nil {
			return annotator.Position{}, err
		}
		p.scenes[place.Scene()] = s
	}
	position := annotator.Position{Thread: s.Thread.ID, Scene: s.N}
	if place.Rank() < len(s.Posts) {
		position.Post = s.Posts[place.Rank()]
	}
	return position, nil
}
