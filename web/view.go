package web

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"annotator"
	"annotator/storage"
)

// book is a database with what the server keeps of it in memory.
type book struct {
	*Database
	feed    *feed
	extents sync.Map // by last scene: storage.Extent; only final ones
	verify  sync.Mutex
}

func newBook(s *Server, d *Database) *book {
	b := &book{Database: d}
	b.feed = &feed{poll: s.Poll, book: b, server: s}
	return b
}

// view reads a database up to a moment. It returns nothing that comes later; the zero moment is no limit.
type view struct {
	book   *book
	moment storage.Moment
	extent storage.Extent
	at     *storage.Positions
	past   []annotator.Entry // as of the moment; nil until they are needed
}

func newView(ctx context.Context, b *book, m storage.Moment) *view {
	return &view{book: b, moment: m, at: b.DB.Scenes.Positions(ctx)}
}

func (v *view) limited() bool { return v.moment != (storage.Moment{}) }

// bounds returns what may be shown of the run's records.
func (v *view) bounds(ctx context.Context) (storage.Extent, error) {
	if v.extent != (storage.Extent{}) {
		return v.extent, nil
	}
	if known, ok := v.book.extents.Load(v.moment.Place); ok {
		v.extent = known.(storage.Extent)
		return v.extent, nil
	}
	var err error
	v.extent, err = v.book.DB.Run.Extent(ctx, v.moment)
	if err == nil && v.extent.Final {
		v.book.extents.Store(v.moment.Place, v.extent)
	}
	return v.extent, err
}

// lastScene returns the last scene of which anything may be shown.
func (v *view) lastScene() int {
	if v.limited() {
		return v.moment.Place.Scene()
	}
	return storage.AnyScene
}

// shows reports whether a place may be shown.
func (v *view) shows(p annotator.Place) bool { return !v.limited() || p <= v.moment.Place }

// asOf returns all entries as of the moment.
func (v *view) asOf(ctx context.Context) (err error) {
	if v.past == nil {
		v.past, err = v.book.DB.History.AsOf(ctx, v.moment)
	}
	return err
}

// entry returns an entry, live or not.
func (v *view) entry(ctx context.Context, id int64) (*annotator.Entry, error) {
	if !v.limited() {
		return v.book.DB.Glossary.Entry(ctx, id)
	}
	if err := v.asOf(ctx); err != nil {
		return nil, err
	}
	i, found := slices.BinarySearchFunc(v.past, id, func(e annotator.Entry, id int64) int { return cmp.Compare(e.ID, id) })
	if !found {
		return nil, notFound()
	}
	return &v.past[i], nil
}

// search returns a page of the entries that a query finds, and how many it finds.
func (v *view) search(ctx context.Context, q annotator.Query, offset, limit int) (found []annotator.Entry, total int, err error) {
	if v.limited() {
		found, err = v.book.DB.History.Search(ctx, v.moment, q)
	} else {
		found, err = v.book.DB.Glossary.Search(ctx, q)
	}
	total = len(found)
	return found[min(offset, total):min(offset+limit, total)], total, err
}

// mostRevised returns the live entries with the most revisions.
func (v *view) mostRevised(ctx context.Context, limit int) ([]annotator.Entry, error) {
	if !v.limited() {
		return v.book.DB.Glossary.MostRevised(ctx, limit)
	}
	if err := v.asOf(ctx); err != nil {
		return nil, err
	}
	var live []annotator.Entry
	for i := range v.past {
		if v.past[i].Status.Live() {
			live = append(live, v.past[i])
		}
	}
	slices.SortStableFunc(live, func(a, b annotator.Entry) int { return cmp.Compare(b.Revisions, a.Revisions) })
	return live[:min(limit, len(live))], nil
}

// named returns the live entry with a name; nil if there is none.
func (v *view) named(ctx context.Context, name string) (*annotator.Entry, error) {
	found, _, err := v.search(ctx, annotator.Query{Text: name, Limit: 1}, 0, 1)
	if err != nil || len(found) == 0 || !hasName(&found[0], name) {
		return nil, err
	}
	return &found[0], nil
}

// revisions returns the history of an entry, oldest first.
func (v *view) revisions(ctx context.Context, entry int64) ([]annotator.Revision, error) {
	all, err := v.book.DB.Glossary.Revisions(ctx, entry)
	if v.limited() {
		all = slices.DeleteFunc(all, func(r annotator.Revision) bool { return !v.moment.Holds(&r) })
	}
	return all, err
}

func (v *view) revision(ctx context.Context, id int64) (annotator.Revision, error) {
	r, err := v.book.DB.History.Revision(ctx, id)
	if err == nil && v.limited() && !v.moment.Holds(&r) {
		return annotator.Revision{}, notFound()
	}
	return r, err
}

// scene returns a scene, with the posts of it that may be shown.
func (v *view) scene(ctx context.Context, n int) (*annotator.SceneRow, error) {
	if n > v.lastScene() {
		return nil, notFound()
	}
	s, err := v.book.DB.Scenes.Get(ctx, n)
	if err == nil && v.limited() && n == v.moment.Place.Scene() {
		s.Posts = s.Posts[:min(len(s.Posts), v.moment.Place.Rank()+1)]
	}
	return s, err
}

// scenesRead counts the live entries and, of the scenes that may be shown, those that have an outcome.
func (v *view) counts(ctx context.Context) (entries, recorded, quarantined int, err error) {
	run, err := v.book.DB.Run.Status(ctx)
	if err != nil || !v.limited() {
		return run.Entries, run.Recorded, run.Quarantined, err
	}
	if err := v.asOf(ctx); err != nil {
		return 0, 0, 0, err
	}
	for i := range v.past {
		if v.past[i].Status.Live() {
			entries++
		}
	}
	x, err := v.bounds(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	ends, err := v.book.DB.Scenes.Latest(ctx, x, storage.AnyScene)
	for i := range ends {
		if ends[i].State == annotator.SceneRecorded {
			recorded++
		} else {
			quarantined++
		}
	}
	return entries, recorded, quarantined, err
}
