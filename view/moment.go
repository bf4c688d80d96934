package view

import (
	"context"
	"database/sql"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// Moment is a point up to which the story was read. The glossary as of a moment is the sum of the revisions until it.
// The zero Moment is no limit.
type Moment struct {
	Place annotator.Place // of the last post that was read
	Scene int             // the number of its scene

	// reach is the place of the furthest post that was read. For a snapshot it may be after Place, because a refused
	// scene may be read late.
	reach annotator.Place

	last   int   // the number of the scene of reach
	thread int64 // of that scene

	// whole is the order up to which scenes were read to their ends. Revisions made with more of the story known are
	// not within it.
	whole annotator.Order

	snapshot int64 // its id; 0 for a moment of the story
	revision int64 // of a snapshot: the newest revision
	trace    int64 // of a snapshot: the newest row of the journal
}

// IsZero reports whether the moment is no limit.
func (m *Moment) IsZero() bool { return m.reach == 0 }

// Order returns the order of the furthest scene that was read, in part or whole; 0 for no limit.
func (m *Moment) Order() annotator.Order { return m.reach.Order() }

func (m *Moment) limit() storage.Limit {
	if m.snapshot != 0 {
		return storage.Limit{ByRevision: true, Last: m.revision, Reach: m.reach.Order()}
	}
	return storage.Limit{Last: int64(m.whole), Reach: m.reach.Order()}
}

// Holds reports whether a revision had been made by then.
func (m *Moment) Holds(r *annotator.Revision) bool {
	if m.snapshot != 0 {
		return r.ID <= m.revision
	}
	return r.Seen <= m.whole
}

// Within reports whether a view of this moment shows nothing that a view of the limit does not show. Only earlier
// snapshots are within a snapshot: a refused scene before it may be read after it.
func (m *Moment) Within(limit *Moment) bool {
	if limit.IsZero() {
		return true
	}
	if limit.snapshot != 0 && (m.snapshot == 0 || m.revision > limit.revision) {
		return false
	}
	return !m.IsZero() && m.reach <= limit.reach
}

// MomentAt finds a point in the story; NotFound, with advice, for one that does not exist or is not read yet.
func MomentAt(ctx context.Context, db *storage.DB, p Point) (Moment, error) {
	return At(db, Moment{}).MomentAt(ctx, p)
}

// LimitAt is MomentAt for a point that need not be read yet. A reader may set such a limit while a run goes on.
func LimitAt(ctx context.Context, db *storage.DB, p Point) (Moment, error) {
	return At(db, Moment{}).LimitAt(ctx, p)
}

// MomentAt finds a point within the limit of the view. The error for a point after the limit is that for one that does
// not exist, and names no chapter after the limit.
func (v *View) MomentAt(ctx context.Context, p Point) (Moment, error) { return v.within(ctx, p, true) }

// LimitAt is MomentAt for a point that need not be read yet.
func (v *View) LimitAt(ctx context.Context, p Point) (Moment, error) { return v.within(ctx, p, false) }

func (v *View) within(ctx context.Context, p Point, mustBeRead bool) (Moment, error) {
	found, err := v.Resolve(ctx, p)
	if err != nil {
		return Moment{}, err
	}
	m, err := moment(ctx, v.db, found, mustBeRead)
	if v.m.IsZero() || err == nil && m.Within(&v.m) {
		return m, err
	}
	if kind := annotator.KindOf(err); err != nil && kind != annotator.NotFound {
		return Moment{}, err
	}
	return Moment{}, annotator.Errorf(annotator.NotFound, "%s is not in the story up to the limit", p).
		WithAdvice("name an earlier point")
}

// startOrder is less than the order of any scene. It is not 0, which is no limit.
const startOrder annotator.Order = 1

func moment(ctx context.Context, db *storage.DB, p Point, mustBeRead bool) (Moment, error) {
	n := int(p.ID)
	var err error
	switch p.Kind {
	case PointStart:
		return Moment{reach: annotator.PlaceAt(startOrder, 0)}, nil
	case PointSnapshot:
		snapshot, err := db.Snapshots.Get(ctx, p.ID)
		if err != nil {
			return Moment{}, err
		}
		return MomentOf(ctx, db, &snapshot)
	case PointPost:
		place, err := db.Scenes.PlaceOf(ctx, p.ID)
		if err != nil {
			return Moment{}, err
		}
		scene, err := db.Scenes.At(ctx, place.Order())
		if err != nil {
			return Moment{}, err
		}
		return sceneMoment(scene, place.Rank(), mustBeRead)
	case PointThread:
		var thread storage.ThreadRow
		thread, err = db.Threads.Get(ctx, p.ID)
		n = thread.Last
	}
	if err != nil {
		return Moment{}, err
	}
	scene, err := db.Scenes.Get(ctx, n)
	if err != nil {
		return Moment{}, err
	}
	return sceneMoment(scene, len(scene.Posts)-1, mustBeRead)
}

// MomentOf returns the moment of a snapshot.
func MomentOf(ctx context.Context, db *storage.DB, snapshot *annotator.Snapshot) (Moment, error) {
	scene, err := db.Scenes.Get(ctx, snapshot.Scene)
	if err != nil {
		return Moment{}, err
	}
	last, err := storage.First(ctx, db.Reader(storage.Limit{}), "read the snapshots", nil, storage.ScanScene,
		storage.SceneQuery+` WHERE n IN (SELECT scene FROM snapshot WHERE id <= ?) ORDER BY s.ord DESC LIMIT 1`,
		snapshot.ID)
	return Moment{
		Place: endOf(scene), Scene: scene.N, reach: endOf(&last), last: last.N, thread: last.Thread.ID,
		whole:    last.Order,
		snapshot: snapshot.ID, revision: snapshot.Revision, trace: snapshot.Trace,
	}, err
}

// endOf returns the place of the last post of a scene.
func endOf(s *annotator.SceneRow) annotator.Place { return annotator.PlaceAt(s.Order, len(s.Posts)-1) }

// sceneMoment returns the moment of the post with a rank in a scene.
func sceneMoment(scene *annotator.SceneRow, rank int, mustBeRead bool) (Moment, error) {
	if mustBeRead && scene.State != annotator.SceneRecorded && scene.State != annotator.SceneQuarantined {
		return Moment{}, annotator.Errorf(annotator.NotFound, "scene %d is not read yet", scene.N).
			WithReason(annotator.ReasonUnreadScene)
	}
	whole := scene.Order
	if rank < len(scene.Posts)-1 {
		whole-- // all scenes before it
	}
	place := annotator.PlaceAt(scene.Order, rank)
	return Moment{Place: place, Scene: scene.N, reach: place, last: scene.N, thread: scene.Thread.ID, whole: whole}, nil
}

// Between returns the entries that changed between two snapshots, as they were at each. New ones are only in after.
func Between(ctx context.Context, db *storage.DB,
	from, to *annotator.Snapshot,
) (before, after []annotator.Entry, err error) {
	ids, err := storage.Rows(ctx, db.Reader(storage.Limit{}), "read the revisions", storage.ScanValue[int64],
		`SELECT DISTINCT entry_id FROM revision WHERE id > ? AND id <= ? ORDER BY 1`,
		from.Revision, to.Revision)
	if err != nil {
		return nil, nil, err
	}
	if before, err = entriesAt(ctx, db, from, ids); err == nil {
		after, err = entriesAt(ctx, db, to, ids)
	}
	return before, after, err
}

func entriesAt(ctx context.Context, db *storage.DB, snapshot *annotator.Snapshot,
	ids []int64,
) ([]annotator.Entry, error) {
	m, err := MomentOf(ctx, db, snapshot)
	if err != nil {
		return nil, err
	}
	entries, err := At(db, m).EntriesByID(ctx, ids)
	return storage.InOrder(ids, entries), err
}

// Provenance is how a claim, with its evidence, came about.
type Provenance struct {
	Turns   []int64 // in order, each once
	Changed int64   // unix milliseconds
}

// ClaimKey identifies a claim by the entry's id and the claim's id within it.
type ClaimKey struct{ Entry, Claim int64 }

// ClaimProvenance returns the provenance of every claim.
func ClaimProvenance(ctx context.Context, db *storage.DB) (map[ClaimKey]Provenance, error) {
	provenance := map[ClaimKey]Provenance{}
	err := db.Reader(storage.Limit{}).Each(ctx, func(rows *sql.Rows) error {
		var key ClaimKey
		var turn, changed int64
		if err := rows.Scan(&key.Entry, &key.Claim, &turn, &changed); err != nil {
			return err
		}
		m := provenance[key]
		if n := len(m.Turns); n == 0 || m.Turns[n-1] != turn {
			m.Turns = append(m.Turns, turn)
		}
		m.Changed = changed
		provenance[key] = m
		return nil
	}, `SELECT r.entry_id, CAST(v.key AS INTEGER), r.turn, r.changed_at FROM value v JOIN revision r ON r.id = v.set_by
		WHERE v.field IN ('claim', 'evidence') ORDER BY r.id`)
	return provenance, sqlite.Wrap(err, "read the revisions in %s", db.Path())
}
