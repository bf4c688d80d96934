package web

import (
	"context"
	"sync"

	"annotator"
	"annotator/view"
)

// servedDatabase is a served database with its state in memory.
type servedDatabase struct {
	*Database
	server  *Server
	live    *live
	kinds   kinds
	verify  *sync.Mutex
	editing *sync.Mutex
	review  *reviewQueue
}

// bounded reports whether the server has a limit.
func (d *servedDatabase) bounded() bool { return !d.Limit.IsZero() }

// all returns the view of everything that the server shows.
func (d *servedDatabase) all() *view.View { return view.At(d.DB, d.Limit) }

// codexView is a view.View with the positions of places.
type codexView struct {
	*view.View
	db *servedDatabase
	at *view.Positions
}

func newView(ctx context.Context, d *servedDatabase, m view.Moment) *codexView {
	return &codexView{View: view.At(d.DB, m), db: d, at: view.NewPositions(ctx, d.DB)}
}

// limited reports whether there is a limit.
func (v *codexView) limited() bool {
	m := v.Moment()
	return !m.IsZero()
}

// lastScene returns the number of the last scene up to the limit; 0 if there is none.
func (v *codexView) lastScene(ctx context.Context) (int, error) {
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
func (v *codexView) named(ctx context.Context, name string) (*annotator.Entry, error) {
	found, err := v.Named(ctx, name)
	if err != nil || len(found) != 1 || !found[0].Status.Live() {
		return nil, err
	}
	return &found[0], nil
}

// place returns the position of a place; the zero position for one before the story.
func (v *codexView) place(at annotator.Place) annotator.Position { return v.at.At(at) }
