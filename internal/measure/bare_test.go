package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
	"annotator/runner"
)

// repeat is the loop that the program is compared with, and returns its processor time. It sends the requests of a run
// over net/http and reads the replies to their end. It commits the rows of that run in the same transactions, each row
// by one statement. It reads no database, parses nothing, decides nothing and computes nothing. All data are in memory
// beforehand, recorded from a run of the program in this process.
func repeat(b *testing.B, f files) time.Duration {
	b.Helper()
	copied := f.db + ".bare"
	steps := recordRun(b, f, copied)
	pool, err := sqlite.Open(b.Context(), copied, sqlite.ReadWrite, 1)
	check(b, err)
	l := loop{pool: pool, address: serveApart(b) + "/chat/completions"}
	runtime.GC()
	begun := longtest.ProcessorTime(b)
	for i := range steps {
		if err := l.take(b.Context(), &steps[i]); err != nil {
			b.Fatalf("step %d of %d of the bare loop: %v", i+1, len(steps), err)
		}
	}
	used := longtest.ProcessorTime(b) - begun
	check(b, pool.Close())
	sameRows(b, f.db, copied)
	return used
}

// recordRun reads the story, and leaves in the file named copied the database as it was before the first scene.
func recordRun(b *testing.B, f files, copied string) []step {
	b.Helper()
	ctx := b.Context()
	r := &recorder{path: f.db}
	r.watch()
	config := runner.Defaults()
	config.ContextBudget, config.Endpoint = 32_768, serveApart(b)
	var run *run
	run, err := prepare(ctx, f, config, r, notices(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeRun {
			r.note(run.store.Maintenance.Backup(ctx, copied))
			tables, err := readTables(ctx, f.db)
			r.note(err)
			r.tables, r.steps = tables, nil
			r.record()
		}
	}))
	check(b, err)
	defer func() { _ = run.close() }()
	check(b, run.runner.Run(ctx))
	check(b, r.err)
	if len(r.steps) == 0 {
		b.Fatalf("nothing of the run in %s was recorded", f.db)
	}
	return r.steps
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

func (l *loop) take(ctx context.Context, s *step) error {
	if s.request == nil {
		return l.commit(ctx, s.statements)
	}
	l.last, l.spare = s.request.body(l.last, l.spare), l.last
	return l.post(ctx, l.last)
}

func (l *loop) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.address, bytes.NewReader(body))
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

func (l *loop) commit(ctx context.Context, statements []statement) error {
	tx, err := l.pool.BeginTx(ctx, nil)
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
func sameRows(b *testing.B, x, y string) {
	b.Helper()
	tables, err := readTables(b.Context(), x)
	check(b, err)
	for name := range tables {
		var found [2][][]any
		for i, path := range []string{x, y} {
			found[i], err = query(b.Context(), path, `SELECT * FROM `+name)
			check(b, err)
		}
		same := slices.EqualFunc(found[0], found[1], func(x, y []any) bool {
			return fmt.Sprint(x...) == fmt.Sprint(y...)
		})
		if !same {
			b.Fatalf("the bare loop left other rows in %s than the program (%d and %d)", name, len(found[1]),
				len(found[0]))
		}
	}
}
