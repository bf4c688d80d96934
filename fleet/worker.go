package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"time"

	"annotator/fleet/store"
)

// worker takes stories and has the program read them, one at a time.
type worker struct {
	store   *store.Store
	dir     string
	program string
	name    string
	flags   []string // of annotator run
	grace   time.Duration
	look    time.Duration
	watch   func(scene, scenes int, endpoint string) // is told how far the run has come; nil: nobody
}

// work is what a worker does with a story, or a part of one, that it has taken; before is the manifest as it was.
type work func(ctx context.Context, name string, lease *store.Lease, before *store.Manifest) error

// run reads stories until none is left, or the one with an index from 0.
func (w *worker) run(ctx context.Context, index int) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	return w.claim(ctx, index, w.work)
}

// claim takes stories and works on them until none is left.
func (w *worker) claim(ctx context.Context, index int, work work) error {
	ended := map[string]store.State{}
	for ctx.Err() == nil {
		stories, err := w.store.Stories(ctx)
		if err != nil {
			return err
		}
		if index >= 0 {
			stories = stories[min(index, len(stories)):min(index+1, len(stories))]
		}
		worked, open, err := w.takeOne(ctx, stories, ended, work)
		if err != nil || !open {
			return err
		}
		if worked {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.store.TTL / 5):
		}
	}
	return errDrained
}

// prepare fails for what would fail for each story.
func (w *worker) prepare(ctx context.Context) (err error) {
	if w.dir, err = filepath.Abs(w.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", errMisuse, err)
	}
	_, err = w.ask(ctx, append([]string{"run", "--print-config"}, w.flags...)...)
	if err != nil {
		return fmt.Errorf("%w: the program and its flags: %w", errMisuse, err)
	}
	return nil
}

// takeOne works on the first story that is free. Open says that a story has not ended yet. Each worker begins to look
// at another story.
func (w *worker) takeOne(
	ctx context.Context, stories []string, ended map[string]store.State, work work,
) (worked, open bool, err error) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(w.name))
	for i := range stories {
		story := stories[(hash.Sum64()%uint64(len(stories))+uint64(i))%uint64(len(stories))]
		if ended[story] != "" {
			continue
		}
		name, lease, before, err := w.take(ctx, story)
		switch {
		case err == nil:
			return true, true, work(ctx, name, lease, &before)
		case errors.Is(err, store.ErrHeld):
			open = true
		case !errors.Is(err, store.ErrFinished):
			return false, true, err
		case before.State == store.Done:
			ended[story] = store.Done
		default: // it may have failed at this moment
			ended[story] = store.Failed
		}
	}
	if !open {
		for _, state := range ended {
			if state == store.Failed {
				return false, false, errFailed
			}
		}
	}
	return false, open, nil
}

// take takes a story, or the first of its parts that is free. The error is ErrHeld as long as others have parts. After
// that it is ErrFinished, with the manifest of the part, if one has failed.
func (w *worker) take(ctx context.Context, story string) (string, *store.Lease, store.Manifest, error) {
	lease, before, err := w.store.Acquire(ctx, story, w.name)
	if !errors.Is(err, store.ErrParts) {
		return story, lease, before, err
	}
	err = store.ErrHeld // if all are read now, the next look takes the join
	held := false
	for _, name := range store.Parts(story, before.Parts) {
		lease, m, failed := w.store.Acquire(ctx, name, w.name)
		switch {
		case errors.Is(failed, store.ErrHeld):
			held = true
		case !errors.Is(failed, store.ErrFinished):
			return name, lease, m, failed
		case m.State != store.Done:
			before, err = m, failed
		}
	}
	if held {
		err = store.ErrHeld
	}
	return story, nil, before, err
}

// Exit statuses of annotator run.
const (
	runDone        = 0
	runMisused     = 2
	runQuarantined = 5
	runNoCalls     = 6
	runInterrupted = 130
)

// work reads one story or part, as far as it can, and gives the lease back.
func (w *worker) work(ctx context.Context, name string, lease *store.Lease, before *store.Manifest) error {
	w.say("%s: taken with fence %d, %d scenes were read", name, lease.Manifest().Fence, before.Scene)
	files, err := w.open(ctx, name, lease, before)
	if err != nil {
		return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
	}
	u := &uploads{worker: w, files: files, lease: lease, last: time.Now()}
	stop := every(w.look, func() {
		if err := u.whenDue(ctx); err != nil && ctx.Err() == nil {
			w.say("%s: %v", name, err)
		}
	})
	status, reason, err := w.read(ctx, lease, files)
	stop()
	if lease.Context().Err() != nil {
		return fmt.Errorf("%s: %w; the database stays in %s", name, context.Cause(lease.Context()), files.dir)
	}
	ctx = context.WithoutCancel(ctx)
	if _, missing := os.Stat(files.db); missing == nil {
		err = errors.Join(err, u.upload(ctx))
	}
	if err != nil {
		return errors.Join(err, lease.Abandon(ctx, printable(err.Error())))
	}
	w.say("%s: the run has ended with %d", name, status)
	switch status {
	case runDone, runQuarantined, runNoCalls:
		return lease.Finish(ctx, status)
	case runInterrupted:
		return cmp.Or(lease.Release(ctx), errDrained)
	case runMisused:
		return lease.Fail(ctx, reason)
	}
	return cmp.Or(lease.Abandon(ctx, reason), fmt.Errorf("%w: %s: %s", errHalted, name, reason))
}

// say prints a line of progress.
func (w *worker) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "annotator-fleet: %s\n", fmt.Sprintf(format, args...))
}

// uploads decides when a copy of the database is uploaded. All its methods are called one after another.
type uploads struct {
	worker *worker
	files  files
	lease  *store.Lease
	last   time.Time
}

// Bounds of what a lost worker loses, and of the bytes for that.
const (
	lostScenes = 10
	lostTime   = 10 * time.Minute
	copies     = 9 // times the size of the next one that all copies together may have
)

// isDue reports whether a copy is to be uploaded. Its size is estimated from that of the last.
func isDue(m *store.Manifest, scene int, since time.Duration) bool {
	gained := scene - m.Scene
	if gained < lostScenes && (gained < 1 || since < lostTime) {
		return false
	}
	next := m.Bytes * int64(scene) / int64(max(m.Scene, 1))
	return m.Uploaded <= (copies-1)*next
}

func (u *uploads) whenDue(ctx context.Context) error {
	if _, err := os.Stat(u.files.db); err != nil {
		return nil //nolint:nilerr // the run has not made it yet
	}
	scene, _, err := u.worker.progress(ctx, u.files.db)
	if err != nil {
		return err
	}
	m := u.lease.Manifest()
	if !isDue(&m, scene, time.Since(u.last)) {
		return nil
	}
	return u.upload(ctx)
}

// upload uploads a consistent copy of the database, also while it is written.
func (u *uploads) upload(ctx context.Context) error {
	path := u.files.db + ".copy"
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := u.worker.ask(ctx, "backup", "--db", u.files.db, path); err != nil {
		return err
	}
	scene, scenes, err := u.worker.progress(ctx, path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := u.lease.Commit(ctx, data, scene, scenes); err != nil {
		return err
	}
	u.last = time.Now()
	m := u.lease.Manifest()
	u.worker.say("%s: %d of %d scenes, %d bytes uploaded", u.files.name, scene, scenes, m.Bytes)
	return os.Remove(path)
}

// progress returns how many scenes of a database are done, and how many the story has.
func (w *worker) progress(ctx context.Context, db string) (done, total int, err error) {
	text, err := w.ask(ctx, "status", "--json", "--db", db)
	if err != nil {
		return 0, 0, err
	}
	var status struct {
		Scenes   struct{ Total, Recorded, Quarantined int }
		Endpoint string
	}
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		return 0, 0, fmt.Errorf("annotator status: %w", err)
	}
	done = status.Scenes.Recorded + status.Scenes.Quarantined
	if w.watch != nil {
		w.watch(done, status.Scenes.Total, status.Endpoint)
	}
	return done, status.Scenes.Total, nil
}

// every calls a function at an interval. Stop waits for a call under way.
func every(interval time.Duration, call func()) (stop func()) {
	turn := make(chan bool, 1) // whether to go on
	var timer *time.Timer
	timer = time.AfterFunc(interval, func() {
		goesOn := <-turn
		if goesOn {
			call()
			timer.Reset(interval)
		}
		turn <- goesOn
	})
	turn <- true
	return func() {
		<-turn
		timer.Stop()
		turn <- false
	}
}

// lastWords returns the last lines of a text: an error and its advice.
func lastWords(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return printable(strings.Join(lines[max(0, len(lines)-3):], "; "))
}
