package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"time"

	"annotator"
	"annotator/batch"
)

// fleet is several runs in one process: stories, or the parts of one. Each has a place at a server.
type fleet struct {
	*runOptions
	say       func(string)
	admission *batch.Admission
	stopping  context.Context // ends at the first signal

	mu   sync.Mutex
	open int // runs
}

// storyMemory is what each further run adds to the memory limit, in bytes.
const storyMemory = 25 << 20

// openFleet connects to the servers. unknown is how many runs a server gets that does not tell its room. The second
// signal ends the context that it returns. The caller calls end.
func (o *runOptions) openFleet(ctx context.Context, unknown int, say func(string)) (
	f *fleet, within context.Context, end func(), err error,
) {
	wire, err := o.connect(ctx, o.app, say) // a wrong address is reported before anything begins
	if err != nil {
		return nil, nil, nil, err
	}
	f = &fleet{runOptions: o, say: say, admission: batch.NewAdmission(1, o.endpoints()...)}
	within, end = f.untilSignals(ctx)
	watch, err := o.watch(within, wire, unknown)
	if err != nil {
		end()
		return nil, nil, nil, err
	}
	context.AfterFunc(f.stopping, f.admission.Stop)
	go f.admission.Follow(within, watch)
	return f, within, end, nil
}

// untilSignals returns a context that the second signal cancels. The first ends f.stopping.
func (f *fleet) untilSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopping, stop := context.WithCancel(ctx)
	f.stopping = stopping
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	go func() {
		select {
		case <-signals:
			stop()
			go f.say("finishing the scenes at hand, then stopping; interrupt again to quit at once")
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			cancel(annotator.Errorf(annotator.Interrupted, "stopped at once").WithAdvice("run again to resume"))
			time.AfterFunc(quitTimeout, func() { f.exit(exitInterrupted) })
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil); stop() }
}

// read does something for each run at the same time, given by the database. Each has asked for a place, in this order.
func (f *fleet) read(databases []string, read func(i int, place *batch.Place) error) []error {
	places := make([]*batch.Place, len(databases))
	for i := range places {
		places[i] = f.admission.Queue(i, sessionOf(databases[i]))
	}
	return batch.Run(len(places), func(i int) error { return read(i, places[i]) })
}

// enter waits for the place of a run.
func (f *fleet) enter(ctx context.Context, place *batch.Place) (leave func(), err error) {
	if err := place.Enter(ctx); err != nil {
		return nil, err
	}
	f.opened(1)
	return func() { f.opened(-1); place.Leave() }, nil
}

// opened counts the runs that are open, and sets the memory limit by it.
func (f *fleet) opened(change int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open += change
	if f.getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit + int64(max(0, f.open-1))*storyMemory)
	}
}
