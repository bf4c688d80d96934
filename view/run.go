package view

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// records bounds what a view shows of a run's records. Records within it were made before anything after the limit was
// read. So the model that wrote them knew nothing beyond the limit.
type records struct {
	scene annotator.Order // the last one
	trace int64           // the newest row of the journal
	call  int64           // the newest call
}

// records finds the bounds of a view, once.
func (v *View) records(ctx context.Context) (records, error) {
	v.memo.Lock()
	defer v.memo.Unlock()
	if v.memo.records == nil {
		r, err := v.findRecords(ctx)
		if err != nil {
			return r, err
		}
		v.memo.records = &r
	}
	return *v.memo.records, nil
}

func (v *View) findRecords(ctx context.Context) (records, error) {
	r := records{v.lastWhole(), math.MaxInt64, math.MaxInt64}
	if v.m.IsZero() {
		return r, nil
	}
	const before = `SELECT coalesce((SELECT min(id) - 1 FROM ` + beginnings + `
		WHERE scene IN (SELECT n FROM scene WHERE ord > ?1)), ?2),
		coalesce((SELECT min(id) - 1 FROM call INDEXED BY call_scene
		  WHERE scene IN (SELECT n FROM scene WHERE ord > ?1)), ?2)`
	err := v.r.Row(ctx, before, r.scene, int64(math.MaxInt64)).Scan(&r.trace, &r.call)
	if err == nil && v.m.snapshot != 0 {
		r.trace = min(r.trace, v.m.trace)
		err = v.r.Row(ctx, `SELECT min(?2, coalesce((SELECT max(id) FROM call WHERE trace_id <= ?1), 0))`,
			r.trace, r.call).Scan(&r.call)
	}
	return r, sqlite.Wrap(err, "read the journal in %s", v.db.Path())
}

// lastWhole returns the order of the last scene that is wholly within the limit.
func (v *View) lastWhole() annotator.Order {
	if v.m.IsZero() {
		return anyScene
	}
	return v.m.whole
}

// SceneCost is what the calls for some consecutive scenes have cost.
type SceneCost struct {
	From, To int // scenes, by their place in the story from 1; one that was inserted has that of the one after it
	Calls    int
	Failed   int
	Usage    annotator.Usage
	Millis   int64
}

// grouped is a query for some columns of the rows of a table, for each group of ?3 consecutive scenes up to the order
// ?1.
// The place of a scene in the story follows from its order.
func grouped(columns, table, where string) string {
	at := fmt.Sprintf(`((s.ord - 1) / %d)`, annotator.OrderStep)
	return `SELECT min(` + at + `) + 1, max(` + at + `) + 1, ` + columns + ` FROM ` + table + ` t
		CROSS JOIN scene s ON s.n = t.scene WHERE s.ord <= ?1 AND ` + where + ` GROUP BY ` + at + ` / ?3 ORDER BY 1`
}

// Costs adds up the calls for each group of consecutive scenes, in story order. The argument is the size of a group.
// Probes do not count.
func (v *View) Costs(ctx context.Context, group int) ([]SceneCost, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	scan := func(rows *sql.Rows, c *SceneCost) error {
		return rows.Scan(&c.From, &c.To, &c.Calls, &c.Failed, &c.Usage.Prompt, &c.Usage.Cached, &c.Usage.Completion,
			&c.Millis)
	}
	return readAll(ctx, v, "read the calls", scan,
		grouped(`count(*), sum(outcome NOT IN ('ok', 'open')), sum(prompt_tokens), sum(cached_tokens),
		sum(completion_tokens), sum(total_ms)`, "call", `t.purpose <> 'probe' AND t.id <= ?2`),
		x.scene, x.call, group)
}

// CallRow is a recorded call with its time.
type CallRow struct {
	annotator.Call
	Trace int64 // of its reply in the journal; 0 for none
	At    int64 // unix milliseconds
}

// sceneWithin is a condition on rows of the journal and on calls: their scene is not after the order ?3.
const sceneWithin = `coalesce((SELECT ord FROM scene WHERE n = scene), 0) <= ?3`

// Calls returns the newest calls, newest first: those of a scene, or all where it is 0, with ids below before (0: any).
func (v *View) Calls(ctx context.Context, scene int, before int64, limit int) ([]CallRow, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	scan := func(rows *sql.Rows, c *CallRow) error {
		return rows.Scan(&c.ID, &c.Turn, &c.Scene, &c.Purpose, &c.Attempt, &c.Outcome, &c.Decision, &c.Reason, &c.Fault,
			&c.Model, &c.Finish, &c.Usage.Prompt, &c.Usage.Cached, &c.Usage.Completion, &c.Usage.Exact, &c.Trace, &c.At)
	}
	return readAll(ctx, v, "read the calls", scan,
		`SELECT id, turn, scene, purpose, attempt, outcome, decision, reason, fault, model, finish,
		prompt_tokens, cached_tokens, completion_tokens, exact, coalesce(trace_id, 0), started_at FROM call
		WHERE id <= ?1 AND id < ?2 AND `+sceneWithin+`
		AND (?4 = 0 OR scene = ?4) ORDER BY id DESC LIMIT ?5`,
		x.call, storage.RowOrLast(before), x.scene, scene, limit)
}

// CompactionRow is a compaction as it was recorded.
type CompactionRow struct {
	Trace         int64
	Scene         int // that was read next; 0 where none was yet
	Tier          string
	Before, After int // tokens of the prompt
	Reason        string
}

// Compactions returns the compactions, oldest first. The removal of a quarantined scene's turns does not count.
func (v *View) Compactions(ctx context.Context) ([]CompactionRow, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	const sameAsNext = -1
	scan := func(rows *sql.Rows, c *CompactionRow) error {
		return rows.Scan(&c.Trace, &c.Tier, &c.Before, &c.After, &c.Reason, &c.Scene)
	}
	list, err := readAll(ctx, v, "read the compactions", scan, `SELECT trace_id, tier, tokens_before, tokens_after,
		reason, iif(EXISTS (SELECT 1 FROM compaction n WHERE n.trace_id = c.trace_id + 1 AND n.tier <> 'quarantine'
		    AND n.trace_id <= ?1), ?2,
		  coalesce((SELECT scene FROM trace t WHERE t.id > c.trace_id AND t.id <= ?1 AND t.scene > 0
		    ORDER BY t.id LIMIT 1), 0))
		FROM compaction c WHERE tier <> 'quarantine' AND trace_id <= ?1 ORDER BY trace_id`, x.trace, sameAsNext)
	for i := range slices.Backward(list) {
		if list[i].Scene == sameAsNext {
			list[i].Scene = list[i+1].Scene
		}
	}
	return list, err
}

// WindowSize is the size of the window after some consecutive scenes.
type WindowSize struct {
	From, To    int // scenes, as in SceneCost
	Least, Most int // tokens
}

// WindowSizes returns the size of the window in each group of consecutive scenes, in story order. The argument is the
// size of a group.
func (v *View) WindowSizes(ctx context.Context, group int) ([]WindowSize, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	scan := func(rows *sql.Rows, w *WindowSize) error { return rows.Scan(&w.From, &w.To, &w.Least, &w.Most) }
	return readAll(ctx, v, "read the snapshots", scan,
		grouped(`min(t.tokens), max(t.tokens)`, "snapshot", `t.type = 'checkpoint' AND t.trace_id <= ?2`),
		x.scene, x.trace, group)
}

// SceneEnd is a scene with an outcome, and when it ended.
type SceneEnd struct {
	N      int
	Thread annotator.Thread
	State  annotator.SceneState
	Reason string
	At     int64 // unix milliseconds
}

// LatestScenes returns the scenes with an outcome that are last in story order, the last first.
func (v *View) LatestScenes(ctx context.Context, limit int) ([]SceneEnd, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	scan := func(rows *sql.Rows, e *SceneEnd) error {
		return rows.Scan(&e.N, &e.Thread.ID, &e.Thread.Title, &e.State, &e.Reason, &e.At)
	}
	return readAll(ctx, v, "read the newest scenes", scan, `SELECT n, thread_id, title, state, reason, recorded_at
		FROM scene s JOIN thread_state USING (thread_id) WHERE recorded_at IS NOT NULL AND s.ord <= ?
		ORDER BY s.ord DESC LIMIT ?`, x.scene, limit)
}

// ToolCalls returns the newest tool calls that a filter lets through, newest first, with ids below before (0: any).
func (v *View) ToolCalls(ctx context.Context, f storage.AuditFilter, before int64,
	limit int,
) ([]storage.Audited, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	least, before := int64(0), storage.RowOrLast(before)
	switch { // the view reads all rows of its range
	case f.Scene != 0:
		var last int64
		err = v.r.Row(ctx, `SELECT coalesce(min(id), 0),
			coalesce((SELECT max(id) FROM trace t WHERE t.turn = max(o.turn)), 0)
			FROM trace o WHERE turn > 0 AND seq = 0 AND scene = ?`, f.Scene).Scan(&least, &last)
		before = min(before, last+1)
	case f == (storage.AuditFilter{}):
		err = v.r.Row(ctx, `SELECT coalesce(min(id), 0) FROM (SELECT id FROM trace
			WHERE kind IN ('tool_call', 'update') AND id <= ?1 AND id < ?2 AND `+sceneWithin+`
			ORDER BY id DESC LIMIT ?4)`,
			x.trace, before, x.scene, limit).Scan(&least)
	}
	if err != nil {
		return nil, sqlite.Wrap(err, "read the tool calls in %s", v.db.Path())
	}
	calls, err := readAll(ctx, v, "read the tool calls", storage.ScanAudited, storage.AuditQuery+`
		WHERE call_trace <= ?1 AND call_trace < ?2 AND call_trace >= ?9
		AND `+sceneWithin+` AND `+storage.AuditConditions+` ORDER BY call_trace DESC LIMIT ?8`,
		x.trace, before, x.scene, f.Scene, f.Tool, f.Denied, f.Intent, limit, least)
	for i := range calls {
		if err == nil {
			err = v.db.Journal.RevisionsOf(ctx, &calls[i])
		}
	}
	return calls, err
}

// Revision returns a revision by its id; NotFound if there is none within the limit.
func (v *View) Revision(ctx context.Context, id int64) (annotator.Revision, error) {
	missing := annotator.Errorf(annotator.NotFound, "there is no revision %d", id)
	r, err := storage.First(ctx, v.r, "read a revision", missing, storage.ScanRevision,
		storage.Revisions+` WHERE r.id = ?`,
		id)
	if err == nil && !v.m.IsZero() && !v.m.Holds(&r) {
		return annotator.Revision{}, missing
	}
	return r, err
}

// Turn returns the rows of a turn, in order; none if the turn was begun after something beyond the limit was read.
func (v *View) Turn(ctx context.Context, turn int64) ([]annotator.Trace, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, v, fmt.Sprintf("read turn %d", turn), storage.ScanTrace,
		`SELECT `+storage.TraceColumns+` FROM trace WHERE turn = ? AND id <= ? AND `+sceneWithin+` ORDER BY seq`,
		turn, x.trace, x.scene)
}

// Exchange returns the rows of the turn that a row of the journal belongs to, as Turn does. A reply outside a turn is a
// summary or the curator's. It is returned with the question that it answers. Any other row is returned alone.
func (v *View) Exchange(ctx context.Context, row int64) ([]annotator.Trace, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	var turn int64
	err = v.r.Row(ctx, `SELECT turn FROM trace WHERE id = ? AND id <= ?`, row, x.trace).Scan(&turn)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, sqlite.Wrap(err, "read row %d in %s", row, v.db.Path())
	}
	if turn != 0 {
		return v.Turn(ctx, turn)
	}
	return readAll(ctx, v, fmt.Sprintf("read row %d", row), storage.ScanTrace, `SELECT `+storage.TraceColumns+`
		FROM trace WHERE turn = 0 AND id <= ?1 AND id >= coalesce((
		  SELECT q.id FROM trace r CROSS JOIN trace q ON q.id < r.id
		  WHERE r.id = ?1 AND r.kind = 'reply' AND q.kind = 'note' AND q.turn = 0 ORDER BY q.id DESC LIMIT 1), ?1)
		ORDER BY id`, row)
}

// Snapshot returns the snapshot with an id; NotFound if there is none within the limit.
func (v *View) Snapshot(ctx context.Context, id int64) (annotator.Snapshot, error) {
	found, err := v.Snapshots(ctx, storage.SnapshotQuery{Before: id + 1, Limit: 1})
	if err == nil && (len(found) == 0 || found[0].ID != id) {
		err = annotator.Errorf(annotator.NotFound, "there is no snapshot %d", id)
	}
	if err != nil {
		return annotator.Snapshot{}, err
	}
	return found[0], nil
}

// Outcomes counts the scenes within the limit that are recorded, and those that are quarantined.
func (v *View) Outcomes(ctx context.Context) (recorded, quarantined int, err error) {
	err = v.r.Row(ctx, `SELECT count(*) FILTER (WHERE state = 'recorded'),
		count(*) FILTER (WHERE state = 'quarantined') FROM scene WHERE ord <= ?`, v.lastWhole()).
		Scan(&recorded, &quarantined)
	return recorded, quarantined, sqlite.Wrap(err, "count the scenes in %s", v.db.Path())
}
