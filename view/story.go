package view

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"
)

func compareQuotations(a, b Quotation) int {
	return cmp.Or(cmp.Compare(a.Evidence.Post, b.Evidence.Post), cmp.Compare(a.Evidence.Start, b.Evidence.Start),
		cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.Claim.ID, b.Claim.ID), cmp.Compare(a.Evidence.End, b.Evidence.End))
}

// ThreadSpan is a thread with its scenes. Under a limit, Last is the last scene within it.
type ThreadSpan struct {
	annotator.Thread
	First, Last int // the numbers of scenes
}

// anyScene is behind every scene.
const anyScene annotator.Order = 1<<63 - 1

// lastScene returns the order of the last scene within the limit.
func (v *View) lastScene() annotator.Order {
	if v.m.IsZero() {
		return anyScene
	}
	return v.m.reach.Order()
}

// hasText is a condition on scenes s: the source has text of them.
const hasText = `s.state <> 'withdrawn' AND (NOT EXISTS (SELECT 1 FROM scene_post WHERE former = 1)
	OR EXISTS (SELECT 1 FROM json_each(s.posts) j JOIN scene_post p ON p.post_id = j.value WHERE p.former = 0))`

// Threads returns the threads with scenes, in story order. Those whose text the source no longer has are left out.
func (v *View) Threads(ctx context.Context) ([]ThreadSpan, error) {
	return readAll(ctx, v, "read the threads", scanThreadSpan, threadSpans+` AND EXISTS (SELECT 1 FROM scene s
		WHERE s.thread_id = thread_state.thread_id AND `+hasText+`) ORDER BY ord`, v.spanBounds()...)
}

// Titles returns the titles of all threads within the limit, by their ids.
func (v *View) Titles(ctx context.Context) (Titles, error) {
	threads, err := readAll(ctx, v, "read the threads", scanThreadSpan, threadSpans+` ORDER BY ord`, v.spanBounds()...)
	titles := make(Titles, len(threads))
	for i := range threads {
		titles[threads[i].ID] = threads[i].Title
	}
	return titles, err
}

// Thread returns the thread with an id; NotFound if it has no scene within the limit.
func (v *View) Thread(ctx context.Context, id int64) (ThreadSpan, error) {
	missing := annotator.Errorf(annotator.NotFound, "the story has no thread %d", id)
	return storage.First(ctx, v.r, "read a thread", missing, scanThreadSpan, threadSpans+` AND thread_id = ?4`,
		append(v.spanBounds(), id)...)
}

// The limit is in a scene ?3 of a thread ?2, with which this thread ends.
const threadSpans = `SELECT thread_id, title, ord, first_scene, iif(thread_id = ?2, ?3, last_scene) FROM thread_state
	WHERE ord <= ?1`

func (v *View) spanBounds() []any { return []any{v.lastScene(), v.m.thread, v.m.last} }

func scanThreadSpan(rows *sql.Rows, t *ThreadSpan) error {
	return rows.Scan(&t.ID, &t.Title, &t.Order, &t.First, &t.Last)
}

// Scene returns the scene with a number; NotFound if there is none within the limit.
func (v *View) Scene(ctx context.Context, n int) (*annotator.SceneRow, error) {
	scene, err := v.db.Scenes.Get(ctx, n)
	if err == nil && scene.Order > v.lastScene() || annotator.KindOf(err) == annotator.NotFound {
		return nil, annotator.Errorf(annotator.NotFound, "the story has no scene %d", n)
	}
	if err == nil {
		v.cut(scene)
	}
	return scene, err
}

// Neighbors returns the numbers of the scenes before and after one, within the limit; 0 for none.
func (v *View) Neighbors(ctx context.Context, scene *annotator.SceneRow) (before, after int, err error) {
	err = v.r.Row(ctx, `SELECT coalesce((SELECT n FROM scene WHERE ord < ?1 ORDER BY ord DESC LIMIT 1), 0),
		coalesce((SELECT n FROM scene WHERE ord > ?1 AND ord <= ?2 ORDER BY ord LIMIT 1), 0)`,
		scene.Order, v.lastScene()).Scan(&before, &after)
	return before, after, sqlite.Wrap(err, "read scenes in %s", v.db.Path())
}

// Next returns the first scene after the limit and the last scene of its thread, as a reader goes on. Both are as the
// story has them. NotFound if the story ends with the limit, or there is none.
func (v *View) Next(ctx context.Context) (first, last *annotator.SceneRow, err error) {
	if first, err = v.db.Scenes.Neighbor(ctx, v.lastScene(), 0); err != nil {
		return nil, nil, err
	}
	if first.Order == v.lastScene() && v.m.reach.Rank() >= len(first.Posts)-1 {
		if first, err = v.db.Scenes.Neighbor(ctx, v.lastScene(), 1); err != nil {
			return nil, nil, err
		}
	}
	thread, err := v.db.Threads.Get(ctx, first.Thread.ID)
	if err == nil {
		last, err = v.db.Scenes.Get(ctx, thread.Last)
	}
	return first, last, err
}

// CountScenes returns the number of scenes of a thread within the limit, as Scenes returns them.
func (v *View) CountScenes(ctx context.Context, thread int64) (n int, err error) {
	err = v.r.Row(ctx, `SELECT count(*) FROM scene s WHERE thread_id = ? AND ord <= ? AND `+hasText, thread,
		v.lastScene()).Scan(&n)
	return n, sqlite.Wrap(err, "count the scenes in %s", v.db.Path())
}

// Scenes returns the scenes of a thread, in story order. Those whose text the source no longer has are left out.
func (v *View) Scenes(ctx context.Context, thread int64) ([]annotator.SceneRow, error) {
	return v.ScenesFrom(ctx, thread, 0, -1)
}

// ScenesFrom returns the scenes of a thread in story order. It skips the first scenes, offset in number, and returns at
// most limit; all if it is less than 0.
func (v *View) ScenesFrom(ctx context.Context, thread int64, offset, limit int) ([]annotator.SceneRow, error) {
	scenes, err := readAll(ctx, v, fmt.Sprintf("read the scenes of thread %d", thread), storage.ScanScene,
		storage.SceneQuery+` WHERE s.thread_id = ? AND s.ord <= ? AND `+hasText+` ORDER BY s.ord LIMIT ? OFFSET ?`,
		thread, v.lastScene(), limit, offset)
	for i := range scenes {
		v.cut(&scenes[i])
		scenes[i].Last = false // it tells of scenes after the limit
	}
	return scenes, err
}

// cut removes what a scene has after the limit: posts, and what is known of all its posts together.
func (v *View) cut(s *annotator.SceneRow) {
	if s.Order != v.lastScene() || v.m.reach.Rank() >= len(s.Posts)-1 {
		return
	}
	s.Posts = s.Posts[:v.m.reach.Rank()+1]
	s.Words, s.Hash, s.Ends, s.Reason, s.Fault = 0, [len(s.Hash)]byte{}, false, "", ""
}

// PlaceOf returns the place of a post; NotFound for one that no scene has within the limit.
func (v *View) PlaceOf(ctx context.Context, post int64) (annotator.Place, error) {
	place, err := v.db.Scenes.PlaceOf(ctx, post)
	if err == nil && !v.Shows(place) {
		return 0, annotator.Errorf(annotator.NotFound, "post %d is in no scene of the story", post)
	}
	return place, err
}

// FormerPosts returns the posts of the story whose text the source no longer has.
func (v *View) FormerPosts(ctx context.Context) (map[int64]bool, error) {
	ids, err := readAll(ctx, v, "read the former posts", storage.ScanValue[int64],
		`SELECT post_id FROM scene_post WHERE former = 1`)
	former := map[int64]bool{}
	for _, id := range ids {
		former[id] = true
	}
	return former, err
}

// Snapshots returns the snapshots that a query finds, newest first: those that were taken before anything after the
// limit was read.
func (v *View) Snapshots(ctx context.Context, query storage.SnapshotQuery) ([]annotator.Snapshot, error) {
	within, bound := `id < coalesce((SELECT min(l.id) FROM snapshot l WHERE l.scene IN (`+beyond("?4")+`)), 1 << 62)`,
		int64(v.wholeScene())
	if v.m.snapshot != 0 {
		within, bound = `id <= ?4`, v.m.snapshot
	}
	return readAll(ctx, v, "read the snapshots", storage.ScanSnapshot, storage.SnapshotRows+`
		WHERE (?1 = '' OR type = ?1) AND (?2 = 0 OR thread_id = ?2)
		AND id < ?5 AND `+within+` ORDER BY id DESC LIMIT iif(?3 > 0, ?3, -1)`,
		query.Kind, query.Thread, query.Limit, bound, storage.RowOrLast(query.Before))
}

// beginnings are the rows of the journal that begin scenes: those of turns, and the steps of a join. A step is found by
// its checkpoint, since the journal has no index of kinds.
const beginnings = `(SELECT id, scene FROM trace INDEXED BY trace_opening WHERE turn > 0 AND seq = 0
	UNION ALL SELECT t.id, s.scene FROM snapshot s JOIN trace t ON t.id = s.trace_id
	WHERE ` + storage.IsJoin + ` AND s.type = 'checkpoint' AND t.kind = 'join')`

// beyond is a query for the numbers of the scenes after the order that an argument gives.
func beyond(argument string) string { return `SELECT n FROM scene WHERE ord > ` + argument }

// wholeScene returns the order up to which scenes are within the limit to their ends.
func (v *View) wholeScene() annotator.Order {
	if v.m.IsZero() {
		return anyScene
	}
	return v.m.whole
}

// Story returns the newest story so far that was made before anything after the limit was read; nil for none. A model
// that tells none does not replace what another one told.
func (v *View) Story(ctx context.Context) (*annotator.Episode, error) {
	return first(v.episodes(ctx, annotator.EpisodeCumulative, 0))
}

// SummaryOf returns the newest summary of a thread that was made before anything after the limit was read; nil for
// none.
func (v *View) SummaryOf(ctx context.Context, thread int64) (*annotator.Episode, error) {
	return first(v.episodes(ctx, annotator.EpisodeThread, thread))
}

func first(found []annotator.Episode, err error) (*annotator.Episode, error) {
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Summaries returns the newest summaries of the threads that were made before anything after the limit was read, in
// story order.
func (v *View) Summaries(ctx context.Context) ([]annotator.Episode, error) {
	return v.episodes(ctx, annotator.EpisodeThread, 0)
}

// episodes returns the newest episode of each thread that a model told. What a rule made of names is for the model's
// context only.
func (v *View) episodes(ctx context.Context, kind annotator.EpisodeKind, thread int64) ([]annotator.Episode, error) {
	within, bound := v.writtenWithin(`?3`)
	return readAll(ctx, v, "read the summaries", storage.ScanEpisode, `SELECT `+storage.EpisodeColumns+` FROM episode
		WHERE id IN
		(SELECT max(id) FROM episode WHERE kind = ?1 AND (?2 = 0 OR thread_id = ?2)
		   AND author <> 'rule' AND instr(summary, ?4) <> 1 AND `+within+` GROUP BY thread_id)
		ORDER BY (SELECT ord FROM scene WHERE n = from_scene), id`, kind, thread, bound, annotator.NoStory)
}

// writtenWithin is a condition on episodes: they were made before anything after the limit was read. It has one
// argument.
func (v *View) writtenWithin(argument string) (condition string, bound int64) {
	if v.m.snapshot != 0 {
		return `trace_id <= ` + argument, v.m.trace
	}
	return `trace_id < coalesce((SELECT min(id) FROM ` + beginnings + `
		WHERE scene IN (` + beyond(argument) + `)), 1 << 62)`, int64(v.wholeScene())
}

// Totals are counts of what is within the limit.
type Totals struct {
	Threads int
	Scenes  int
	Entries map[annotator.Status]int
}

// Totals returns them.
func (v *View) Totals(ctx context.Context) (Totals, error) {
	t := Totals{Entries: map[annotator.Status]int{}}
	err := v.r.Row(ctx, `SELECT count(DISTINCT thread_id), count(*) FROM scene WHERE ord <= ?
		AND state <> 'withdrawn'`, v.lastScene()).Scan(&t.Threads, &t.Scenes)
	if err != nil {
		return t, sqlite.Wrap(err, "count the scenes in %s", v.db.Path())
	}
	statuses := [...]annotator.Status{annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged}
	var counts [len(statuses)]int
	count := func(condition string) string {
		return `(SELECT count(*) FROM value v WHERE ` + condition + ` AND ` + v.r.Limit.InForce("v") + `)`
	}
	var entries int
	err = v.r.Row(ctx, `SELECT `+count(`v.field = 'term'`)+`, `+count(`v.field = 'status' AND v.key = 'confirmed'`)+
		`, `+count(`v.field = 'status' AND v.key = 'retired'`)+
		`, `+count(`v.field = 'status' AND v.key = 'merged'`), v.r.Limit.Bound()).
		Scan(&entries, &counts[1], &counts[2], &counts[3])
	counts[0] = entries - counts[1] - counts[2] - counts[3]
	for i, n := range counts {
		if n > 0 {
			t.Entries[statuses[i]] = n
		}
	}
	return t, sqlite.Wrap(err, "count the entries in %s", v.db.Path())
}
