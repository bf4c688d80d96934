package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
)

// bare is the loop that the program is compared with. It sends the requests of a run over net/http and reads the replies to
// their end, and commits the rows of that run in the same transactions, each row by one statement. It reads nothing from a
// database, parses nothing, decides nothing and computes nothing: all is in its memory beforehand, recorded from a run of
// the program in this process.
func bare(ctx context.Context, job walkJob) (*walked, error) {
	copied := job.DB + ".bare"
	steps, err := recordRun(ctx, job, copied)
	if err != nil {
		return nil, err
	}
	pool, err := sqlite.Open(ctx, copied, sqlite.ReadWrite, 1)
	if err != nil {
		return nil, err
	}
	runtime.GC()
	if job.Profile != "" {
		stop, err := profile(job.Profile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = stop() }()
	}
	m := newMeter()
	m.begin()
	b := loop{pool: pool, address: job.Endpoint + "/chat/completions"}
	for i := range steps {
		if err := b.take(ctx, &steps[i]); err != nil {
			return nil, fmt.Errorf("step %d of %d of the bare loop: %w", i+1, len(steps), err)
		}
		if steps[i].sceneEnds {
			m.mark()
		}
	}
	result, err := m.result()
	return result, errors.Join(err, pool.Close(), sameRows(ctx, job.DB, copied))
}

// recordRun walks the story, and leaves in the file named copied the database as it was before the first scene.
func recordRun(ctx context.Context, job walkJob, copied string) ([]step, error) {
	full, err := filepath.Abs(job.DB)
	if err != nil {
		return nil, err
	}
	r := &recorder{path: full}
	r.watch()
	run, err := prepare(ctx, job, job.config(), r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = run.close() }()
	run.watch.see = func(notice annotator.Notice) {
		switch notice.Kind {
		case annotator.NoticeRun:
			r.note(run.store.Maintenance.Backup(ctx, copied))
			tables, err := readTables(ctx, job.DB)
			r.note(err)
			r.tables, r.steps = tables, nil
			r.record()
		case annotator.NoticeScene:
			if n := len(r.steps); n > 0 {
				r.steps[n-1].sceneEnds = true
			}
		}
	}
	if err := errors.Join(run.runner.Run(ctx), r.err); err != nil {
		return nil, err
	}
	if len(r.steps) == 0 {
		return nil, fmt.Errorf("nothing of the run in %s was recorded", full)
	}
	return r.steps, nil
}

// statement is SQL with its arguments.
type statement struct {
	query string
	args  []any
}

type loop struct {
	pool    *sql.DB
	address string
	last    []byte // the newest request
	spare   []byte
}

func (b *loop) take(ctx context.Context, s *step) error {
	if s.request == nil {
		return b.commit(ctx, s.statements)
	}
	b.last, b.spare = s.request.body(b.last, b.spare), b.last
	return b.post(ctx, b.last)
}

func (b *loop) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the endpoint answers %s", response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func (b *loop) commit(ctx context.Context, statements []statement) error {
	tx, err := b.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s.query, s.args...); err != nil {
			return fmt.Errorf("%s: %w", s.query, err)
		}
	}
	return tx.Commit()
}

// sameRows makes sure that two databases hold the same.
func sameRows(ctx context.Context, a, b string) error {
	tables, err := readTables(ctx, a)
	if err != nil {
		return err
	}
	for name := range tables {
		var found [2][][]any
		for i, path := range []string{a, b} {
			if found[i], err = query(ctx, path, `SELECT * FROM `+name); err != nil {
				return err
			}
		}
		same := slices.EqualFunc(found[0], found[1], func(x, y []any) bool { return fmt.Sprint(x...) == fmt.Sprint(y...) })
		if !same {
			return fmt.Errorf("the bare loop left other rows in %s than the program (%d and %d)", name, len(found[1]), len(found[0]))
		}
	}
	return nil
}

// query reads all rows.
func query(ctx context.Context, path, text string) ([][]any, error) {
	pool, err := sqlite.Open(ctx, path, sqlite.ReadOnly, 1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }()
	rows, err := pool.QueryContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var all [][]any
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		all = append(all, values)
	}
	return all, rows.Err()
}
