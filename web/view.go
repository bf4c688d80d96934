package web

import (
	"context"
	"sync"

	"annotator"
	"annotator/storage"
)

// book is a database with what the server keeps for it in memory.
type book struct {
	*Database
	server *Server
	live   live
	verify sync.Mutex
}

// bounded reports whether the server has a limit.
func (b *book) bounded() bool { return !b.Limit.IsZero() }

// moment finds the moment of a point that a reader names. A point after the server's limit is as one that the story does not
// have.
func (b *book) moment(ctx context.Context, p storage.Point) (storage.Moment, error) {
	m, err := b.DB.History.Limit(ctx, p)
	if err == nil && !m.Within(&b.Limit) {
		return storage.Moment{}, notFound()
	}
	return m, err
}

// lastChoice returns the number of the last scene that a reader may name as a limit, of a story with so many scenes; 0 for
// none, as where the server's limit is a snapshot.
func (b *book) lastChoice(ctx context.Context, scenes int) (int, error) {
	if !b.bounded() {
		return scenes, nil
	}
	n := b.Limit.Place.Scene()
	for _, last := range []int{n, n - 1} { // the limit may be within its scene
		if _, err := b.moment(ctx, storage.Point{Kind: storage.PointScene, ID: int64(last)}); !isNotFound(err) {
			return last, err
		}
	}
	return 0, nil
}

// view is a view of a database, with the ids of its places.
type view struct {
	*storage.View
	book *book
	at   *storage.Positions
}

func newView(ctx context.Context, b *book, m storage.Moment) *view {
	return &view{View: b.DB.View(m), book: b, at: b.DB.Scenes.Positions(ctx)}
}

// limited reports whether there is a limit.
func (v *view) limited() bool {
	m := v.Moment()
	return !m.IsZero()
}

// lastScene returns the number of the last scene up to the limit; 0 if there is none.
func (v *view) lastScene(ctx context.Context) (int, error) {
	threads, err := v.Threads(ctx)
	if len(threads) == 0 {
		return 0, err
	}
	return threads[len(threads)-1].Last, err
}

// idsOf returns the id that each item of a list has.
func idsOf[T any](list []T, id func(*T) int64) []int64 {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = id(&list[i])
	}
	return ids
}

// named returns the live entry that a name stands for; nil if there is none, or several.
func (v *view) named(ctx context.Context, name string) (*annotator.Entry, error) {
	found, err := v.Named(ctx, name)
	if err != nil || len(found) != 1 || !found[0].Status.Live() {
		return nil, err
	}
	return &found[0], nil
}

// place returns the position of a place; the zero position for one before the story.
func (v *view) place(at annotator.Place) annotator.Position { return v.at.At(at) }
