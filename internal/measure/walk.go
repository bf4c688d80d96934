package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/pprof"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/model/endpoint"
	"annotator/model/openai"
	"annotator/runner"
	"annotator/storage"
	"annotator/tools"
)

// walkJob is a run to be made.
type walkJob struct {
	Corpus, DB, Endpoint string
	ContextBudget        int    // tokens
	ListOnly             bool   // stop before the first scene
	CuratorOff           bool   // nothing happens at the ends of threads
	Profile              string // where the processor's profile goes; empty for none
}

// run is a run with all that it needs open.
type run struct {
	store  *storage.DB
	runner *runner.Runner
	watch  watch
	open   []func() error
}

// watch observes a run at each notice, on the run's own goroutine, and passes the notice on as the program does.
type watch struct {
	annotator.Bus
	see func(annotator.Notice)
}

// Publish implements runner.Publisher.
func (w *watch) Publish(n annotator.Notice) {
	w.see(n)
	w.Bus.Publish(n)
}

func (r *run) close() error {
	var errs []error
	for i := len(r.open) - 1; i >= 0; i-- {
		errs = append(errs, r.open[i]())
	}
	return errors.Join(errs...)
}

// config is the configuration of a job's run.
func (j *walkJob) config() runner.Config {
	c := runner.Defaults()
	c.ContextBudget, c.Endpoint, c.Curator.Off = j.ContextBudget, j.Endpoint, j.CuratorOff
	return c
}

// prepare opens what the command opens for a run. A transport of nil is the client's own.
func prepare(ctx context.Context, job walkJob, config runner.Config, transport http.RoundTripper) (*run, error) {
	r := &run{}
	r.watch.see = func(annotator.Notice) {} // until it is replaced
	r.watch.Subscribe(annotator.Subscriber{Notice: func(annotator.Notice) {}})
	var err error
	if r.store, err = storage.OpenWriter(ctx, job.DB, fmt.Sprintf("measure %d", os.Getpid()), time.Now); err != nil {
		return nil, err
	}
	r.open = append(r.open, r.store.Close)
	source, err := corpus.Open(ctx, job.Corpus)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.open = append(r.open, source.Close)
	wire, err := openai.New(endpoint.Options{BaseURL: job.Endpoint, HTTP: transport})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.runner = runner.New(config, r.store, source, wire, registry, &r.watch)
	return r, nil
}

// walk makes a run and measures its scenes: what lies between the start of the walk and the last checkpoint. What it costs to
// list the scenes is left out.
func walk(ctx context.Context, job walkJob) (*walked, error) {
	m := newMeter()
	r, err := prepare(ctx, job, job.config(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.close() }()
	if job.Profile != "" {
		stop, err := profile(job.Profile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = stop() }()
	}
	r.watch.see = func(n annotator.Notice) {
		m.see(n)
		if job.ListOnly && n.Kind == annotator.NoticeRun {
			r.runner.Stop()
		}
	}
	if err := r.runner.Run(ctx); err != nil && (!job.ListOnly || !errors.Is(err, annotator.Interrupted)) {
		return nil, err
	}
	return m.result()
}

// profile begins a profile of the processor; stop writes it, and beside it one of what was allocated.
func profile(path string) (stop func() error, err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		allocs, err := os.Create(path + ".allocs")
		if err == nil {
			err = errors.Join(pprof.Lookup("allocs").WriteTo(allocs, 0), allocs.Close())
		}
		return errors.Join(err, file.Close())
	}, nil
}
