package web

import (
	"context"
	"sync"

	"annotator"
	"annotator/storage"
)

// servedDatabase is a served database with its state in memory.
type servedDatabase struct {
	*Database
	server *Server
	live   live
	verify sync.Mutex
}

// bounded reports whether the server has a limit.
func (d *servedDatabase) bounded() bool { return !d.Limit.IsZero() }

// moment finds the moment of a reader's point. A point after the server's limit gives the same error as one that does
// not exist.
func (d *servedDatabase) moment(ctx context.Context, p storage.Point) (storage.Moment, error) {
	m, err := d.DB.History.Limit(ctx, p)
	if err == nil && !m.Within(&d.Limit) {
		return storage.Moment{}, notFound()
	}
	return m, err
}

// lastChoice returns the last scene that a reader can set as the limit, given the number of scenes. It is 0 if there is
// none: the server's limit may be a snapshot.
func (d *servedDatabase) lastChoice(ctx context.Context, scenes int) (int, error) {
	if !d.bounded() {
		return scenes, nil
	}
	n := d.Limit.Place.Scene()
	for _, last := range []int{n, n - 1} { // the limit may be inside its scene
		if _, err := d.moment(ctx, storage.Point{Kind: storage.PointScene, ID: int64(last)}); !isNotFound(err) {
			return last, err
		}
	}
	return 0, nil
}

// view is a storage.View with the positions of places.
type view struct {
	*storage.View
	db *servedDatabase
	at *storage.Positions
}

func newView(ctx context.Context, d *servedDatabase, m storage.Moment) *view {
	return &view{View: d.DB.View(m), db: d, at: d.DB.Scenes.Positions(ctx)}
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

// idsOf returns the ids of the items of a list.
func idsOf[T any](list []T, id func(*T) int64) []int64 {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = id(&list[i])
	}
	return ids
}

// named returns the live entry with a name; nil if there is none, or several.
func (v *view) named(ctx context.Context, name string) (*annotator.Entry, error) {
	found, err := v.Named(ctx, name)
	if err != nil || len(found) != 1 || !found[0].Status.Live() {
		return nil, err
	}
	return &found[0], nil
}

// place returns the position of a place; the zero position for one before the story.
func (v *view) place(at annotator.Place) annotator.Position { return v.at.At(at) }
