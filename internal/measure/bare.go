package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"annotator/internal/sqlite"
)

// bareJob is a finished run to be done again without the program.
type bareJob struct {
	Of       string // the run's database
	Tape     string // its requests
	DB       string // where the story is listed and nothing is read yet
	Endpoint string
}

// bare is the loop that the program is held against: it sends the same requests over net/http and reads the replies to their
// end, and commits the same rows in the same transactions. It reads nothing from a database, decides nothing and
// computes nothing: the rows, and what is new in each request, are there beforehand.
func bare(ctx context.Context, job bareJob) (walked, error) {
	r, err := readRecord(ctx, job.Of)
	if err != nil {
		return walked{}, err
	}
	steps, err := scriptOf(r)
	if err != nil {
		return walked{}, err
	}
	tape, err := openTape(job.Tape)
	if err != nil {
		return walked{}, err
	}
	defer func() { _ = tape.Close() }()
	pool, err := sqlite.Open(ctx, job.DB, sqlite.ReadWrite, 1)
	if err != nil {
		return walked{}, err
	}
	defer func() { _ = pool.Close() }()
	runtime.GC()
	m := meter{began: time.Now()}
	m.begin()
	for i := range steps {
		if err := do(ctx, pool, tape, job.Endpoint, &steps[i]); err != nil {
			return walked{}, fmt.Errorf("step %d of the bare loop: %w", i, err)
		}
		if steps[i].sceneEnds {
			m.mark()
		}
	}
	return m.result()
}

func do(ctx context.Context, pool *sql.DB, tape *tapeReader, endpoint string, s *step) error {
	if !s.request {
		return commit(ctx, pool, s.statements)
	}
	body, err := tape.next()
	if err != nil {
		return err
	}
	return post(ctx, endpoint+"/chat/completions", body)
}

func post(ctx context.Context, address string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
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

func commit(ctx context.Context, pool *sql.DB, statements []statement) error {
	tx, err := pool.BeginTx(ctx, nil)
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
