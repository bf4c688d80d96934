package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/model/openai"
	"annotator/runner"
	"annotator/storage"
	"annotator/tools"
)

// walkJob is a run to be measured.
type walkJob struct {
	Corpus, DB, Endpoint string
	ContextBudget        int
	ListOnly             bool // stop before the first scene
	Profile              string
}

// walked is what a run cost.
type walked struct {
	Scenes     int
	Start      time.Duration // from opening the database to the first state behind INIT, on the wall clock
	Processor  time.Duration // of all scenes
	Tenths     []time.Duration
	Objects    uint64 // allocated, over all scenes
	Allocated  uint64 // bytes
	PeakMemory int64
}

// walk runs the program as the command does, and measures the scenes: what lies between the start of the walk and its last
// checkpoint. What listing the scenes costs is left out.
func walk(ctx context.Context, job walkJob) (walked, error) {
	m := meter{began: time.Now()}
	config := runner.Defaults()
	config.ContextBudget, config.Endpoint = job.ContextBudget, job.Endpoint
	store, err := storage.OpenWriter(ctx, job.DB, fmt.Sprintf("measure %d", os.Getpid()), time.Now)
	if err != nil {
		return walked{}, err
	}
	defer func() { _ = store.Close() }()
	source, err := corpus.Open(ctx, job.Corpus)
	if err != nil {
		return walked{}, err
	}
	defer func() { _ = source.Close() }()
	wire, err := openai.New(openai.Options{BaseURL: job.Endpoint})
	if err != nil {
		return walked{}, err
	}
	defer wire.Close()
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		return walked{}, err
	}
	var bus annotator.Bus
	bus.Subscribe(m.see)
	r := runner.New(config, store, source, wire, registry, &bus)
	if job.ListOnly {
		r.Stop()
	}
	if err := r.Run(ctx); err != nil && !(job.ListOnly && errors.Is(err, annotator.Interrupted)) {
		return walked{}, err
	}
	return m.result()
}

// meter reads the clocks at the start of the walk and at each scene's end.
type meter struct {
	began  time.Time
	start  time.Duration
	first  runtime.MemStats
	marks  []time.Duration // processor time at the start and behind each scene
	failed error
}

func (m *meter) see(n annotator.Notice) {
	switch n.Kind {
	case annotator.NoticeRun:
		m.begin()
	case annotator.NoticeScene:
		m.mark()
	}
}

func (m *meter) begin() {
	m.start = time.Since(m.began)
	runtime.ReadMemStats(&m.first)
	m.mark()
}

func (m *meter) mark() {
	used, err := processorTime()
	if err != nil {
		m.failed = err
	}
	m.marks = append(m.marks, used)
}

func (m *meter) result() (walked, error) {
	if m.failed != nil {
		return walked{}, m.failed
	}
	var last runtime.MemStats
	runtime.ReadMemStats(&last)
	peak, err := peakMemory()
	w := walked{
		Scenes: len(m.marks) - 1, Start: m.start, Processor: m.marks[len(m.marks)-1] - m.marks[0],
		Objects: last.Mallocs - m.first.Mallocs, Allocated: last.TotalAlloc - m.first.TotalAlloc, PeakMemory: peak,
	}
	for tenth := range 10 {
		from, to := w.Scenes*tenth/10, w.Scenes*(tenth+1)/10
		w.Tenths = append(w.Tenths, m.marks[to]-m.marks[from])
	}
	return w, err
}
