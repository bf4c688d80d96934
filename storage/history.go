package storage

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"annotator"
	"annotator/internal/sqlite"
)

// PointKind says what names a point of the story or of the run.
type PointKind string

// The kinds of points.
const (
	PointScene    PointKind = "scene" // its end
	PointPost     PointKind = "post"
	PointThread   PointKind = "thread" // its end
	PointSnapshot PointKind = "snapshot"
)

// Point is a point of the story or of the run, as users name it.
type Point struct {
	Kind PointKind
	ID   int64 // of a scene: its number
}

// String returns the point in the form that ParsePoint reads.
func (p Point) String() string { return string(p.Kind) + ":" + strconv.FormatInt(p.ID, 10) }

// ParsePoint reads scene:N, post:ID, thread:ID or snapshot:N; a bare number is a scene's. Anything else is Misused.
func ParsePoint(text string) (Point, error) {
	kind, number, named := strings.Cut(strings.TrimSpace(text), ":")
	if !named {
		kind, number = string(PointScene), kind
	}
	p := Point{Kind: PointKind(kind)}
	id, err := strconv.ParseInt(number, 10, 64)
	switch p.Kind {
	case PointScene, PointPost, PointThread, PointSnapshot:
		if p.ID = id; err == nil && id > 0 {
			return p, nil
		}
	}
	return Point{}, annotator.Errorf(annotator.Misused, "%q names no point of the story", text).
		WithAdvice("name one as scene:12, post:3456, thread:78 or snapshot:9")
}

// Moment is a point up to which the story was read. The glossary as of a moment is the sum of the revisions until it.
// The zero Moment is no limit.
type Moment struct {
	Place annotator.Place // of the last post that was read
	reach annotator.Place // the furthest one that was; of a snapshot it may be after Place, when a refused scene was read late
	whole int             // the last scene that was read to its end: what was written with more of the story known comes after it

	snapshot int64 // its id; 0 for a moment of the story
	revision int64 // of a snapshot: the newest revision
	trace    int64 // of a snapshot: the newest row of the journal
}

// IsZero reports whether the moment is no limit.
func (m *Moment) IsZero() bool { return m.reach == 0 }

// Holds reports whether a revision had been made by then.
func (m *Moment) Holds(r *annotator.Revision) bool {
	if m.snapshot != 0 {
		return r.ID <= m.revision
	}
	return r.Seen <= m.whole
}

// Within reports whether a view of this moment shows nothing that one of the limit does not. Nothing is within a snapshot
// but earlier snapshots: what the story tells up to a place may have been learned later.
func (m *Moment) Within(limit *Moment) bool {
	if limit.IsZero() {
		return true
	}
	if limit.snapshot != 0 && (m.snapshot == 0 || m.revision > limit.revision) {
		return false
	}
	return !m.IsZero() && m.reach <= limit.reach
}

// Moment finds a point in the story; NotFound, with advice, for one that does not exist or is not read yet.
func (s *History) Moment(ctx context.Context, p Point) (Moment, error) { return s.moment(ctx, p, true) }

// Limit is Moment for a point that need not be read yet, as a reader sets who waits for a run.
func (s *History) Limit(ctx context.Context, p Point) (Moment, error) { return s.moment(ctx, p, false) }

func (s *History) moment(ctx context.Context, p Point, mustBeRead bool) (Moment, error) {
	n, rank := int(p.ID), -1
	var err error
	switch p.Kind {
	case PointSnapshot:
		snapshot, err := s.db.Snapshots.Get(ctx, p.ID)
		if err != nil {
			return Moment{}, err
		}
		return s.MomentOf(ctx, &snapshot)
	case PointPost:
		var place annotator.Place
		place, err = s.db.Scenes.PlaceOf(ctx, p.ID)
		n, rank = place.Scene(), place.Rank()
	case PointThread:
		n, err = s.db.Threads.LastScene(ctx, p.ID)
	}
	if err != nil {
		return Moment{}, err
	}
	return s.placeMoment(ctx, n, rank, mustBeRead)
}

// MomentOf returns the moment of a snapshot.
func (s *History) MomentOf(ctx context.Context, snapshot *annotator.Snapshot) (Moment, error) {
	scene, err := s.db.Scenes.Get(ctx, snapshot.Scene)
	if err != nil {
		return Moment{}, err
	}
	reach, err := readValue[annotator.Place](ctx, s.db, "read the snapshots", `SELECT n * 1000000 + json_array_length(posts) - 1 FROM scene
		WHERE n = (SELECT max(scene) FROM snapshot WHERE id <= ?)`, snapshot.ID)
	return Moment{
		Place: annotator.PlaceAt(scene.N, len(scene.Posts)-1), reach: reach, whole: reach.Scene(),
		snapshot: snapshot.ID, revision: snapshot.Revision, trace: snapshot.Trace,
	}, err
}

// placeMoment returns the moment of the post with a rank in a scene; a negative rank is the scene's last post.
func (s *History) placeMoment(ctx context.Context, n, rank int, mustBeRead bool) (Moment, error) {
	scene, err := s.db.Scenes.Get(ctx, n)
	if err != nil {
		return Moment{}, err
	}
	if mustBeRead && scene.State != annotator.SceneRecorded && scene.State != annotator.SceneQuarantined {
		return Moment{}, annotator.Errorf(annotator.NotFound, "scene %d is not read yet", n).WithReason(annotator.ReasonUnreadScene)
	}
	if rank < 0 {
		rank = len(scene.Posts) - 1
	}
	whole := n
	if rank < len(scene.Posts)-1 {
		whole--
	}
	place := annotator.PlaceAt(n, rank)
	return Moment{Place: place, reach: place, whole: whole}, nil
}

// Between returns the entries that changed between two snapshots, as they were at each. New ones are only in after.
func (s *History) Between(ctx context.Context, from, to *annotator.Snapshot) (before, after []annotator.Entry, err error) {
	ids, err := readAll(ctx, s.db, "read the revisions", scanValue[int64], `SELECT DISTINCT entry_id FROM revision WHERE id > ? AND id <= ? ORDER BY 1`,
		from.Revision, to.Revision)
	if err != nil {
		return nil, nil, err
	}
	if before, err = s.entriesAt(ctx, from, ids); err == nil {
		after, err = s.entriesAt(ctx, to, ids)
	}
	return before, after, err
}

func (s *History) entriesAt(ctx context.Context, snapshot *annotator.Snapshot, ids []int64) ([]annotator.Entry, error) {
	m, err := s.MomentOf(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	entries, err := s.db.View(m).EntriesByID(ctx, ids)
	return inOrder(ids, entries), err
}

// Provenance is how a claim, with its evidence, came about.
type Provenance struct {
	Turns   []int64 // in order, each once
	Changed int64   // unix milliseconds
}

// ClaimKey identifies a claim by the entry's id and the claim's id within it.
type ClaimKey struct{ Entry, Claim int64 }

// ClaimProvenance returns the provenance of every claim.
func (s *History) ClaimProvenance(ctx context.Context) (map[ClaimKey]Provenance, error) {
	provenance := map[ClaimKey]Provenance{}
	err := sqlite.Each(ctx, s.db.read, func(rows *sql.Rows) error {
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
	return provenance, sqlite.Wrap(err, "read the revisions in %s", s.db.path)
}
