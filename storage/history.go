package storage

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
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
	whole int             // the last scene that was read to its end
	bound string          // the column of table revision that has a bound
	last  int64           // the bound

	snapshot int64 // its id; 0 for a moment of the story
	trace    int64 // of a snapshot: the newest row of the journal
}

// IsZero reports whether the moment is no limit.
func (m *Moment) IsZero() bool { return m.bound == "" }

// Holds reports whether a revision had been made by then.
func (m *Moment) Holds(r *annotator.Revision) bool {
	if m.bound == "id" {
		return r.ID <= m.last
	}
	return int64(r.At) <= m.last
}

// Moment finds a point in the story; NotFound, with advice, for one that does not exist or is not read yet.
func (s *History) Moment(ctx context.Context, p Point) (Moment, error) {
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
	return s.placeMoment(ctx, n, rank)
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
		bound: "id", last: snapshot.Revision, snapshot: snapshot.ID, trace: snapshot.Trace,
	}, err
}

// placeMoment returns the moment of the post with a rank in a scene; a negative rank is the scene's last post.
func (s *History) placeMoment(ctx context.Context, n, rank int) (Moment, error) {
	scene, err := s.db.Scenes.Get(ctx, n)
	if err != nil {
		return Moment{}, err
	}
	if scene.State != annotator.SceneRecorded && scene.State != annotator.SceneQuarantined {
		return Moment{}, annotator.Errorf(annotator.NotFound, "scene %d is not read yet", n).WithAdvice("`annotator status` shows how far the run has come")
	}
	if rank < 0 {
		rank = len(scene.Posts) - 1
	}
	whole := n
	if rank < len(scene.Posts)-1 {
		whole--
	}
	place := annotator.PlaceAt(n, rank)
	return Moment{Place: place, reach: place, whole: whole, bound: "at", last: int64(place)}, nil
}

// AsOf returns the entries as they were at a moment, live or not, by id. The places of an entry's revisions never
// decrease, so its revisions up to a place are the first ones, and add up.
func (s *History) AsOf(ctx context.Context, m Moment) ([]annotator.Entry, error) {
	return s.sum(ctx, m.bound+` <= ?`, m.last)
}

// Between returns the entries that changed between two snapshots, as they were at each. New ones are only in after.
func (s *History) Between(ctx context.Context, from, to *annotator.Snapshot) (before, after []annotator.Entry, err error) {
	const changed = `entry_id IN (SELECT entry_id FROM revision WHERE id > ? AND id <= ?) AND id <= ?`
	before, err = s.sum(ctx, changed, from.Revision, to.Revision, from.Revision)
	if err != nil {
		return nil, nil, err
	}
	after, err = s.sum(ctx, changed, from.Revision, to.Revision, to.Revision)
	return before, after, err
}

// sum adds up the revisions that a condition selects, to entries by id.
func (s *History) sum(ctx context.Context, where string, args ...any) ([]annotator.Entry, error) {
	refuse := func(err error) error {
		return annotator.Errorf(annotator.Violation, "read the entries as of a moment in %s: %w", s.db.path, err).WithAdvice("check the database with `annotator verify`")
	}
	summed, err := replay(ctx, s.db.read, refuse, where, args...)
	if err != nil {
		return nil, sqlite.Wrap(err, "read the entries as of a moment in %s", s.db.path)
	}
	entries := make([]annotator.Entry, 0, len(summed))
	for _, id := range slices.Sorted(maps.Keys(summed)) {
		entries = append(entries, *summed[id])
	}
	return entries, nil
}

// replay adds up the revisions that a condition selects. refused decides whether to go on after one that does not fit.
func replay(ctx context.Context, q querier, refused func(error) error, where string, args ...any) (map[int64]*annotator.Entry, error) {
	entries := map[int64]*annotator.Entry{}
	err := sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var r annotator.Revision
		if err := scanRevision(rows, &r); err != nil {
			return err
		}
		if entries[r.Entry] == nil {
			entries[r.Entry] = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
		}
		if err := codex.Apply(entries[r.Entry], &r); err != nil {
			return refused(err)
		}
		return nil
	}, `SELECT `+revisionColumns+` FROM revision WHERE `+where+` ORDER BY id`, args...)
	return entries, err
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
	}, `SELECT entry_id, coalesce(new_value ->> 'claim', new_value ->> 'id'), turn, changed_at FROM revision
		WHERE field IN ('claim', 'evidence') AND new_value <> '' ORDER BY id`)
	return provenance, sqlite.Wrap(err, "read the revisions in %s", s.db.path)
}
