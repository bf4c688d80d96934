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
	Quotes      QuoteCount
	Calls       map[string]int // by outcome: ok, open, lost or the kind of failure; probes aside
	Probes      int            // that ended
	ProbeUsage  annotator.Usage
	CallTime    time.Duration    // of all calls that ended
	Compactions []TierCount      // by tier; the removal of a quarantined scene's turns does not count
	SceneTime   time.Duration    // from one scene's end to the next: see SceneTime; 0 before the second
	Unasked     []ReasonCount    // scenes that cost no request, by the reason, most first
	FollowUps   map[FollowUp]int // scenes by the result of their follow-ups; those without one are left out
	Silent      time.Time        // since when the server does not answer; zero if it does
	Silence     string           // how the newest call of that time failed
}

// Report counts in one read transaction: a run may go on meanwhile.
func (s *Run) Report(ctx context.Context) (Report, error) {
	r := Report{Entries: map[annotator.Status]int{}, Calls: map[string]int{}, FollowUps: map[FollowUp]int{}}
	t, err := s.db.read.BeginTx(ctx, nil)
	if err != nil {
		return r, sqlite.Wrap(err, "report on %s", s.db.path)
	}
	defer func() { _ = t.Rollback() }()
	for _, count := range []func(context.Context, querier) error{
		r.countRows, r.countCompactions, r.countEntries,
		r.countQuotes, r.countScenes, r.countCalls, r.countProbes, r.time, r.silence,
	} {
		if err := count(ctx, t); err != nil {
			return r, sqlite.Wrap(err, "report on %s", s.db.path)
		}
	}
	return r, nil
}

func (r *Report) countRows(ctx context.Context, q querier) error {
	return q.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM thread_state WHERE status = 'completed'),
		(SELECT coalesce(max(id), 0) FROM revision)`).Scan(&r.ThreadsDone, &r.Revisions)
}

// TierCount counts the compactions of a tier.
type TierCount struct {
	Tier   string `json:"tier"`
	Count  int    `json:"count"`
	Before int    `json:"tokens_before"` // of the window, on average
	After  int    `json:"tokens_after"`
}

func (r *Report) countCompactions(ctx context.Context, q querier) (err error) {
	scan := func(rows *sql.Rows, t *TierCount) error { return rows.Scan(&t.Tier, &t.Count, &t.Before, &t.After) }
	r.Compactions, err = collect(ctx, q, scan,
		`SELECT tier, count(*), sum(tokens_before) / count(*), sum(tokens_after) / count(*)
		FROM compaction WHERE tier <> 'quarantine' GROUP BY tier ORDER BY tier`)
	return err
}

func (r *Report) countEntries(ctx context.Context, q querier) error {
	return sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var status annotator.Status
		var n int
		err := rows.Scan(&status, &n)
		r.Entries[status] = n
		return err
	}, `SELECT status, count(*) FROM entry GROUP BY status`)
}

// QuoteCount counts the quotations of entries that are neither retired nor merged.
type QuoteCount struct {
	Total int `json:"total"`
	Weak  int `json:"weak"` // those that lack words of their fact

	Former int `json:"former,omitempty"` // those of text that the source no longer has
}

func (r *Report) countQuotes(ctx context.Context, q querier) error {
	return q.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(v.json ->> 'weak'), 0), (SELECT count(*)
		  FROM scene_post p
		  JOIN value f ON f.field = 'evidence' AND f.json ->> 'post' = p.post_id AND f.ended_by IS NULL
		  JOIN entry o ON o.id = f.entry_id AND o.name IS NOT NULL WHERE p.former = 1)
		FROM entry e JOIN value v ON v.entry_id = e.id AND v.field = 'evidence' AND v.ended_by IS NULL
		WHERE e.name IS NOT NULL`).Scan(&r.Quotes.Total, &r.Quotes.Weak, &r.Quotes.Former)
}

// ReasonCount counts scenes that have a reason in common.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

func (r *Report) countScenes(ctx context.Context, q querier) (err error) {
	scan := func(rows *sql.Rows, c *ReasonCount) error { return rows.Scan(&c.Reason, &c.Count) }
	r.Unasked, err = collect(ctx, q, scan, `SELECT reason, count(*) FROM scene WHERE state = 'recorded' AND turn = 0
		AND reason <> '' GROUP BY reason ORDER BY 2 DESC, 1`)
	if err != nil {
		return err
	}
	return sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var f FollowUp
		var n int
		err := rows.Scan(&f, &n)
		r.FollowUps[f] = n
		return err
	}, `SELECT follow_up, count(*) FROM scene WHERE follow_up <> '' GROUP BY follow_up`)
}

func (r *Report) countProbes(ctx context.Context, q querier) error {
	u := &r.ProbeUsage
	return q.QueryRowContext(ctx,
		`SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(told_tokens), 0),
			coalesce(sum(cached_tokens), 0),
		  coalesce(sum(completion_tokens), 0) FROM call WHERE purpose = 'probe' AND outcome NOT IN ('open', 'lost')`).
		Scan(&r.Probes, &u.Prompt, &u.Told, &u.Cached, &u.Completion)
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

func (r *Report) time(ctx context.Context, q querier) error {
	ends, err := recentEnds(ctx, q)
	r.SceneTime = SceneTime(ends)
	return err
}

// silence reads the calls for which the run waits.
func (r *Report) silence(ctx context.Context, q querier) error {
	return sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var began int64
		err := rows.Scan(&began, &r.Silence)
		if r.Silent.IsZero() {
			r.Silent = time.UnixMilli(began)
		}
		return err
	}, `SELECT started_at, fault FROM call WHERE decision = 'wait' AND id >
		(SELECT coalesce(max(id), 0) FROM call WHERE decision <> 'wait' AND outcome <> 'open') ORDER BY id`)
}

// RecentEnds returns when the newest scenes ended, newest first.
func (s *Run) RecentEnds(ctx context.Context) ([]time.Time, error) {
	ends, err := recentEnds(ctx, s.db.read)
	return ends, sqlite.Wrap(err, "read the newest scenes of %s", s.db.path)
}

// EstimatedScenes is the number of scenes by which the time of the next ones is estimated.
const EstimatedScenes = 30

func recentEnds(ctx context.Context, q querier) ([]time.Time, error) {
	millis, err := collect(ctx, q, ScanValue[int64],
		`SELECT recorded_at FROM scene WHERE recorded_at IS NOT NULL ORDER BY ord DESC LIMIT ?`, EstimatedScenes+1)
	ends := make([]time.Time, len(millis))
	for i := range millis {
		ends[i] = time.UnixMilli(millis[i])
	}
	return ends, err
}

// SceneTime estimates the time of a scene as the mean of the newest, by their ends, newest first. A pause between two
// runs counts as at most five times the median. The estimate is 0 for less than two scenes.
func SceneTime(ends []time.Time) time.Duration {
	var gaps []time.Duration
	for i := 1; i < min(len(ends), EstimatedScenes+1); i++ {
		if gap := ends[i-1].Sub(ends[i]); gap >= 0 { // else a scene was read late, or the clock was set back
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	longest, sum := 5*gaps[len(gaps)/2], time.Duration(0)
	for _, gap := range gaps {
		sum += min(gap, longest)
	}
	return sum / time.Duration(len(gaps))
}
