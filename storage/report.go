package storage

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// Report counts what a run has produced, for display.
type Report struct {
	ThreadsDone int
	Entries     map[annotator.Status]int
	Revisions   int
	Calls       map[string]int // by outcome: ok, open, lost or the kind of failure; probes aside
	CallTime    time.Duration  // of all calls that ended
	Compactions int            // turns that a quarantined scene took with it do not count
	SceneTime   time.Duration  // from one scene's end to the next, the median of the newest; 0 before the second
}

// Report counts in one read transaction: a run may go on meanwhile.
func (s *Run) Report(ctx context.Context) (Report, error) {
	r := Report{Entries: map[annotator.Status]int{}, Calls: map[string]int{}}
	t, err := s.db.read.BeginTx(ctx, nil)
	if err != nil {
		return r, sqlite.Wrap(err, "report on %s", s.db.path)
	}
	defer func() { _ = t.Rollback() }()
	for _, count := range []func(context.Context, querier) error{r.countRows, r.countEntries, r.countCalls, r.time} {
		if err := count(ctx, t); err != nil {
			return r, sqlite.Wrap(err, "report on %s", s.db.path)
		}
	}
	return r, nil
}

func (r *Report) countRows(ctx context.Context, q querier) error {
	return q.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM thread_state WHERE status = 'completed'),
		(SELECT coalesce(max(id), 0) FROM revision), (SELECT count(*) FROM compaction WHERE tier <> 'quarantine')`).
		Scan(&r.ThreadsDone, &r.Revisions, &r.Compactions)
}

func (r *Report) countEntries(ctx context.Context, q querier) error {
	return sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var status annotator.Status
		var n int
		err := rows.Scan(&status, &n)
		r.Entries[status] = n
		return err
	}, `SELECT status, count(*) FROM glossary_entry GROUP BY status`)
}

func (r *Report) countCalls(ctx context.Context, q querier) error {
	return sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var outcome string
		var n int
		var millis int64
		err := rows.Scan(&outcome, &n, &millis)
		r.Calls[outcome] = n
		r.CallTime += time.Duration(millis) * time.Millisecond
		return err
	}, `SELECT outcome, count(*), sum(total_ms) FROM call WHERE purpose <> 'probe' GROUP BY outcome`)
}

// time takes the median, which the pause between two runs does not affect.
func (r *Report) time(ctx context.Context, q querier) error {
	const newest = 21
	ends, err := collect(ctx, q, scanValue[int64],
		`SELECT recorded_at FROM scene WHERE recorded_at IS NOT NULL ORDER BY n DESC LIMIT ?`, newest)
	var gaps []int64
	for i := 1; i < len(ends); i++ {
		if gap := ends[i-1] - ends[i]; gap >= 0 { // else a scene was read late, or the clock was set back
			gaps = append(gaps, gap)
		}
	}
	if err != nil || len(gaps) == 0 {
		return err
	}
	slices.Sort(gaps)
	r.SceneTime = time.Duration(gaps[len(gaps)/2]) * time.Millisecond
	return nil
}
