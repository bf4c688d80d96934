package storage

import (
	"context"
	"database/sql"
	"fmt"

	"annotator"
)

// All returns the threads with scenes, in story order.
func (s *Threads) All(ctx context.Context) ([]annotator.Thread, error) {
	scan := func(rows *sql.Rows, t *annotator.Thread) error { return rows.Scan(&t.ID, &t.Title, &t.Order) }
	return readAll(ctx, s.db, "read the threads", scan, `SELECT thread_id, title, ord FROM thread_state ORDER BY ord`)
}

// ThreadRow is a thread of the story.
type ThreadRow struct {
	Order annotator.Order
	Last  int // the number of its last scene
}

// Get returns a thread; NotFound where the story has no scene of it.
func (s *Threads) Get(ctx context.Context, thread int64) (ThreadRow, error) {
	missing := annotator.Errorf(annotator.NotFound, "the story has no thread %d, or thread %[1]d has no scene", thread).
		WithReason(annotator.ReasonUnknownThread)
	scan := func(rows *sql.Rows, t *ThreadRow) error { return rows.Scan(&t.Order, &t.Last) }
	return readFirst(ctx, s.db, fmt.Sprintf("read thread %d", thread), missing, scan,
		`SELECT ord, last_scene FROM thread_state WHERE thread_id = ?`, thread)
}

// lastTurn is the newest turn of a row of thread_state in which the model has read the thread; NULL for none.
const lastTurn = `(SELECT max(s.turn) FROM scene s WHERE s.thread_id = thread_state.thread_id AND s.state = 'recorded')`

// summarised is a condition on rows of thread_state: the thread has a summary, and has not grown at its end since.
const summarised = `EXISTS (SELECT 1 FROM episode e WHERE e.kind = 'thread' AND e.thread_id = thread_state.thread_id
	AND e.to_turn >= coalesce((SELECT turn FROM scene z WHERE z.n = thread_state.last_scene AND z.state = 'recorded'
	  AND z.n NOT IN (SELECT scene FROM refusal)), 0))`

// summaryDue is a condition on rows of thread_state, which sets the column summary_due. The thread has ended, the model
// has read it, it is not summarised, and SkipSummaries has not been called since.
const summaryDue = `EXISTS (SELECT 1 FROM scene l
	WHERE l.n = thread_state.last_scene AND l.state IN ('recorded', 'quarantined'))
	AND NOT ` + summarised + `
	AND coalesce((SELECT max(id) FROM trace WHERE turn > 0
	  AND turn = ` + lastTurn + `) > (SELECT summaries_after FROM run_state), 0)`

// endedThreads reads threads that are in the window, by a turn or by a chunk, or whose summary is due, and no other.
const endedThreads = `WITH
	near (thread_id) AS (
	  SELECT s.thread_id FROM trace o CROSS JOIN scene s ON s.n = o.scene
	    WHERE o.turn > coalesce((SELECT through_turn FROM compaction ORDER BY trace_id DESC LIMIT 1), 0) AND o.seq = 0
	  UNION SELECT thread_id FROM episode WHERE kind = 'chunk' AND entered IS NOT NULL AND gone IS NULL
	  UNION SELECT thread_id FROM thread_state WHERE summary_due = 1),
	ended AS (
	  SELECT thread_state.thread_id, thread_state.ord, unanswered, summary_due, ` + lastTurn + ` AS last_turn,
	    ` + summarised + ` AS summarised
	  FROM near CROSS JOIN thread_state ON thread_state.thread_id = near.thread_id
	    CROSS JOIN scene l ON l.n = last_scene AND l.state IN ('recorded', 'quarantined'))
	SELECT thread_id, summarised, unanswered, last_turn FROM ended
	WHERE last_turn > coalesce((SELECT through_turn FROM compaction ORDER BY trace_id DESC LIMIT 1), 0)
	  OR EXISTS (SELECT 1 FROM episode e WHERE e.kind = 'chunk' AND e.thread_id = ended.thread_id AND e.gone IS NULL)
	  OR summary_due = 1
	ORDER BY ord`

// Ended returns threads whose last scene has an outcome and that the model has read, in story order. They have no
// summary, or are in the window.
func (s *Threads) Ended(ctx context.Context) ([]annotator.EndedThread, error) {
	scan := func(rows *sql.Rows, t *annotator.EndedThread) error {
		return rows.Scan(&t.ID, &t.Summarised, &t.Unanswered, &t.LastTurn)
	}
	return readAll(ctx, s.db, "read the threads", scan, endedThreads)
}

// ScenesAfter returns the number of scenes of the thread after a place in story order; 0 where there is none.
func (s *Threads) ScenesAfter(ctx context.Context, order annotator.Order) (int, error) {
	return readValue[int](ctx, s.db, "read the threads", `SELECT count(*) FROM scene
		WHERE thread_id = (SELECT thread_id FROM thread_state WHERE ord > ? ORDER BY ord LIMIT 1)`, order)
}

// SkipSummaries records that the threads that have ended by now need no summary.
func (s *Threads) SkipSummaries(ctx context.Context) error {
	return s.db.update(ctx, "skip the summary of a thread", func(tx *tx) {
		tx.exec(`UPDATE run_state SET summaries_after = (SELECT coalesce(max(id), 0) FROM trace WHERE turn > 0)`)
		tx.exec(`UPDATE thread_state SET summary_due = 0 WHERE summary_due = 1`)
	})
}
