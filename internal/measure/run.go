package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/internal/longstory"
	"annotator/internal/scripted"
	"annotator/internal/sqlite"
	"annotator/model/endpoint"
	"annotator/model/openai"
	"annotator/runner"
	"annotator/runner/notify"
	"annotator/storage"
	"annotator/tools"
)

// run is a run with all that it needs open.
type run struct {
	store  *storage.DB
	runner *runner.Runner
	open   []func() error
}

func (r *run) close() error {
	var errs []error
	for i := len(r.open) - 1; i >= 0; i-- {
		errs = append(errs, r.open[i]())
	}
	return errors.Join(errs...)
}

// story makes a corpus in the command's folder.
func (o *options) story(ctx context.Context, scenes int) (path string, err error) {
	path = filepath.Join(o.folder, "story.corpus.db")
	return path, longstory.Write(ctx, path, scenes)
}

// files are the databases of a run.
type files struct{ corpus, db string }

// prepare opens what the command opens for a run. A transport of nil is the client's own.
func prepare(ctx context.Context, f files, config runner.Config, transport http.RoundTripper,
	bus runner.Publisher,
) (*run, error) {
	r := &run{}
	var err error
	if r.store, err = storage.OpenWriter(ctx, f.db, fmt.Sprintf("measure %d", os.Getpid()), time.Now); err != nil {
		return nil, err
	}
	r.open = append(r.open, r.store.Close)
	source, err := corpus.Open(ctx, f.corpus)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.open = append(r.open, source.Close)
	wire, err := openai.New(endpoint.Options{BaseURL: config.Endpoint, HTTP: transport})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.runner = runner.New(config, r.store, source, wire, registry, bus)
	return r, nil
}

// inProcess answers requests without a network.
type inProcess struct{ http.Handler }

// RoundTrip calls the handler.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	p.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// withRun reads a story against a scripted server in this process, and then its database. The server never evicts a
// cached prefix, and refuses what does not fit or what a strict template would.
func withRun(ctx context.Context, story string, config runner.Config, script scripted.Script,
	read func(db string) error,
) error {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server := scripted.New(scripted.Options{Strict: true, Script: script, MaxModelLen: config.ContextBudget})
	config.Endpoint = "http://scripted/v1"
	f := files{corpus: story, db: filepath.Join(dir, "story.db")}
	run, err := prepare(ctx, f, config, inProcess{server}, &notify.Bus{})
	if err != nil {
		return err
	}
	err = run.runner.Run(ctx)
	if err = errors.Join(err, run.close()); err != nil && annotator.KindOf(err) != annotator.Quarantined {
		return fmt.Errorf("a window of %d: %w", config.ContextBudget, err)
	}
	if broken := server.Violations(); len(broken) > 0 {
		return fmt.Errorf("a window of %d broke the template: %v", config.ContextBudget, broken[0])
	}
	return read(f.db)
}

// query reads all rows.
func query(ctx context.Context, path, text string) ([][]any, error) {
	pool, err := sqlite.Open(ctx, path, sqlite.ReadOnly, 1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }()
	var all [][]any
	err = sqlite.Each(ctx, pool, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		all = append(all, values)
		return rows.Scan(targets...)
	}, text)
	return all, err
}
