package storage

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// Figures are what is watched of a run.
type Figures struct {
	Run    RunStatus
	Report Report // of its fields ThreadsDone, Revisions, Entries, Compactions, SceneTime, Silent and Silence
	Calls  []CallFigures
	Window int   // tokens of the prompt of the newest call for a scene that was answered
	Bytes  int64 // of the database, without its log
}

// CallFigures are the calls of a purpose with an outcome.
type CallFigures struct {
	Purpose   annotator.CallPurpose
	Outcome   string
	Count     int
	Usage     annotator.Usage
	Duration  Durations // until the end
	FirstByte Durations // until the first byte of the reply
}

// Durations are how long calls took. Within has the number of those that took no longer than each of Bounds.
type Durations struct {
	Sum    time.Duration
	Within []int
}

// Bounds returns the bounds of Durations. A call of a large model with a long prompt takes minutes.
func Bounds() []time.Duration {
	return []time.Duration{
		100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second,
		30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	}
}

// Figures reads what is watched of a run in one transaction; NotFound where none has begun. Unlike Report, it reads
// neither values of entries nor scenes.
func (s *Run) Figures(ctx context.Context) (f Figures, err error) {
	if f.Run, err = s.Status(ctx); err != nil {
		return f, err
	}
	f.Report.Entries = map[annotator.Status]int{}
	t, err := s.db.read.BeginTx(ctx, nil)
	if err != nil {
		return f, sqlite.Wrap(err, "read the figures of %s", s.db.path)
	}
	defer func() { _ = t.Rollback() }()
	r := &f.Report
	for _, count := range []func(context.Context, querier) error{
		r.countRows, r.countCompactions, r.countEntries, r.time, r.silence, f.countCalls, f.size,
	} {
		if err := count(ctx, t); err != nil {
			return f, sqlite.Wrap(err, "read the figures of %s", s.db.path)
		}
	}
	return f, nil
}

// countCalls counts all calls that ended, in one pass.
func (f *Figures) countCalls(ctx context.Context, q querier) (err error) {
	var columns strings.Builder
	for _, column := range []string{"total_ms", "first_byte_ms"} {
		fmt.Fprintf(&columns, ", sum(%s)", column)
		for _, bound := range Bounds() {
			fmt.Fprintf(&columns, ", sum(%s <= %d)", column, bound.Milliseconds())
		}
	}
	f.Calls, err = collect(ctx, q, scanCalls, `SELECT purpose, outcome, count(*), sum(prompt_tokens), sum(told_tokens),
		sum(cached_tokens), sum(completion_tokens)`+columns.String()+
		` FROM call WHERE outcome NOT IN ('open', 'lost') GROUP BY purpose, outcome ORDER BY purpose, outcome`)
	return err
}

func scanCalls(rows *sql.Rows, c *CallFigures) error {
	u := &c.Usage
	into := []any{&c.Purpose, &c.Outcome, &c.Count, &u.Prompt, &u.Told, &u.Cached, &u.Completion}
	var sums [2]int64
	for i, d := range []*Durations{&c.Duration, &c.FirstByte} {
		into = append(into, &sums[i])
		d.Within = make([]int, len(Bounds()))
		for k := range d.Within {
			into = append(into, &d.Within[k])
		}
	}
	err := rows.Scan(into...)
	c.Duration.Sum = time.Duration(sums[0]) * time.Millisecond
	c.FirstByte.Sum = time.Duration(sums[1]) * time.Millisecond
	return err
}

// size reads the size of the file, and that of the newest prompt.
func (f *Figures) size(ctx context.Context, q querier) error {
	return q.QueryRowContext(ctx, `SELECT coalesce((SELECT prompt_tokens FROM call
		  WHERE purpose = 'annotate' AND outcome = 'ok' ORDER BY id DESC LIMIT 1), 0),
		(SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)`).
		Scan(&f.Window, &f.Bytes)
}
