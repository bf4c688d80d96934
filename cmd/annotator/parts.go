package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"annotator"
	"annotator/batch"
	"annotator/corpus"
	"annotator/internal/atomicfile"
	"annotator/runner/notify"
	"annotator/storage"
)

// maxPrimer is the most names with which a part begins.
const maxPrimer = 500

// partedRun is a run that reads its story in parts, and joins them.
type partedRun struct {
	*runOptions
	folder string // of the parts
	story  *corpus.DB
	parts  []corpus.Part
	scenes []int                  // of each part
	begins []*annotator.Operation // with which each part begins; nil: with nothing, or it has begun
	limits []int                  // how many scenes each part may read in this run, or a constant
}

// checkParts refuses what a run in parts cannot do.
func (o *runOptions) checkParts() error {
	if o.part > o.numParts || o.part > 0 && o.numParts == 1 {
		return annotator.Errorf(annotator.Misused, "--part %d is none of --parts %d", o.part, o.numParts).
			WithAdvice("say with --parts how many there are, and with --part which one of them to read")
	}
	if o.numParts <= 1 {
		return nil
	}
	const branch = "a branch goes on with the window of a run, and each part has its own"
	for _, flag := range []struct {
		name  string
		given bool
		why   string
	}{
		{"--after", o.after != "", "a next book goes on with the window of a run, and each part has its own"},
		{"--from-db", o.fromDB != "", branch},
		{"--from-snapshot", o.fromSnapshot != 0, branch},
		{"--no-resume", o.noResume, "parts that were read are kept; another --db has other parts"},
		{"--record", o.recording.to != "", "a recording is of one run, and each part is one"},
		{"--replay", o.recording.path != "", "a recording is of one run, and each part is one"},
	} {
		if flag.given {
			return annotator.Errorf(annotator.Misused, "--parts and %s exclude each other: %s", flag.name, flag.why).
				WithAdvice("leave out one of them")
		}
	}
	return nil
}

// annotateParts reads the story in parts at once, and joins them into one database.
func (o *runOptions) annotateParts(ctx context.Context) (err error) {
	o.progress = newProgress(o.app, o.quiet, 0)
	defer o.progress.close()
	defer func() { o.reportHalt(err) }()
	var open closers
	defer func() { err = cmp.Or(err, open.close()) }()
	if o.begin, err = o.readSeed(); err != nil {
		return err
	}
	o.seed = "" // it is read once
	p := &partedRun{runOptions: o, folder: partsOf(o.databasePath())}
	if err := p.prepare(ctx, &open); err != nil {
		return err
	}
	databases := []string{o.databasePath()}
	for i := range p.parts {
		databases = append(databases, p.databaseOf(i+1))
	}
	o.shareBounds(ctx, databases...)
	o.Bounds.Name = databases[0]
	began := o.now()
	f, ctx, end, err := o.openFleet(ctx, o.numParts, o.progress.say)
	if err != nil {
		return err
	}
	defer end()
	p.fleet = f
	readErr := p.read(ctx)
	if readErr != nil && !hasReadAll(annotator.KindOf(readErr)) {
		return readErr
	}
	if slices.ContainsFunc(p.limits, func(n int) bool { return n != allScenes }) {
		return cmp.Or(readErr, p.sayRead(context.WithoutCancel(ctx)))
	}
	joinErr := f.read([]string{o.databasePath()}, func(_ int, place *batch.Place) error {
		return p.join(ctx, place, began, readErr)
	})
	return joinErr[0]
}

// hasReadAll reports whether a run that ended with an error of a kind has read its story to the end.
func hasReadAll(kind annotator.Kind) bool {
	return kind == annotator.Quarantined || kind == annotator.NoCalls
}

// partsOf returns the folder of the parts that are joined into a database.
func partsOf(database string) string {
	stem := strings.TrimSuffix(database, filepath.Ext(database))
	return strings.TrimSuffix(stem, ".annotator") + ".parts"
}

// reads reports whether this run reads a part, given by its index.
func (p *partedRun) reads(i int) bool { return p.part == 0 || p.part == i+1 }

func (p *partedRun) corpusOf(part int) string {
	return filepath.Join(p.folder, fmt.Sprintf("part%d.corpus.db", part))
}

func (p *partedRun) databaseOf(part int) string {
	return filepath.Join(p.folder, fmt.Sprintf("part%d.annotator.db", part))
}

// prepare opens the story, cuts it, and writes the corpora of the parts that are not there yet.
func (p *partedRun) prepare(ctx context.Context, open *closers) (err error) {
	if p.story, err = p.openCorpus(ctx, open); err != nil {
		return err
	}
	if err := untilSignal(ctx, func(ctx context.Context) error {
		return errors.Join(p.cut(ctx), p.checkJoined(ctx))
	}); err != nil {
		return err
	}
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		return annotator.Errorf(annotator.Misused, "make the folder of the parts: %w", err)
	}
	return untilSignal(ctx, func(ctx context.Context) error {
		for i := range p.parts {
			if !p.reads(i) {
				continue
			}
			if err := p.extract(ctx, &p.parts[i]); err != nil {
				return err
			}
		}
		return p.findNames(ctx)
	})
}

// cut decides which chapters each part has.
func (p *partedRun) cut(ctx context.Context) error {
	var threads []int64
	var words, scenes []int
	all := sha256.New()
	for scene, err := range p.story.Scenes(ctx, p.runner().SceneBytes) {
		if err != nil {
			return err
		}
		if n := len(threads); n == 0 || threads[n-1] != scene.Thread.ID {
			threads, words, scenes = append(threads, scene.Thread.ID), append(words, 0), append(scenes, 0)
		}
		words[len(words)-1] += scene.Words()
		scenes[len(scenes)-1]++
		hash := scene.Hash()
		all.Write(hash[:])
	}
	if len(threads) < p.numParts {
		return annotator.Errorf(annotator.Misused, "the story has %s, too few for %d parts",
			annotator.Quantity(len(threads), "chapter"), p.numParts).WithAdvice("name fewer with --parts")
	}
	story := hex.EncodeToString(all.Sum(nil))
	for i, n := range corpus.Cut(words, p.numParts) {
		p.parts = append(p.parts, corpus.Part{
			Number: i + 1, Of: p.numParts, Story: story, Seed: digestOf(p.begin), Threads: slices.Clone(threads[:n]),
		})
		p.scenes = append(p.scenes, 0)
		for _, count := range scenes[:n] {
			p.scenes[i] += count
		}
		threads, scenes = threads[n:], scenes[n:]
	}
	return nil
}

// checkJoined refuses a database that is no join.
func (p *partedRun) checkJoined(ctx context.Context) error {
	path := p.databasePath()
	if !exists(path) {
		return nil
	}
	return withDatabase(ctx, path, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		if annotator.KindOf(err) == annotator.NotFound || err == nil && run.Turn == 0 {
			return nil
		}
		return cmp.Or(err, error(annotator.Errorf(annotator.Misused, "%s is the database of a run without parts", path).
			WithAdvice("leave out --parts to resume it, or name another file with --db")))
	})
}

// extract writes the corpus of a part, unless it is there.
func (p *partedRun) extract(ctx context.Context, part *corpus.Part) error {
	path := p.corpusOf(part.Number)
	if !exists(path) {
		return p.story.Extract(ctx, path, *part)
	}
	atomicfile.RemoveStale(path) // a process that is killed after its rename leaves its lock
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	there, err := db.Part(ctx)
	switch {
	case err != nil || reflect.DeepEqual(there, *part):
		return err
	case there.Story == part.Story && there.Of == part.Of:
		return annotator.Errorf(annotator.Misused, "the parts in %s began with another seed, or without one", p.folder).
			WithReason(annotator.ReasonOtherSeed).
			WithAdvice("resume with the --seed of the first run, or move the folder away")
	case there.Story == part.Story:
		return annotator.Errorf(annotator.Misused, "%s has %d parts", p.folder, there.Of).
			WithAdvice("resume with --parts %d, or move the folder away", there.Of)
	}
	return annotator.Errorf(annotator.Misused, "the story has changed since %s was made", p.folder).
		WithAdvice("read the story anew with another --db, or without --parts")
}

// read reads all parts at once, as their places allow, each to its end or its trouble. One part's trouble does not stop
// another. The error is that of the first part with one.
func (p *partedRun) read(ctx context.Context) error {
	shown := &partsProgress{progress: p.progress, parts: make([]annotator.Notice, len(p.parts))}
	for i, n := range p.scenes {
		if p.reads(i) {
			shown.parts[i].Total = n
		}
	}
	if err := p.eachStatus(ctx, func(i int, run *storage.RunStatus) {
		shown.parts[i].Done = run.Recorded + run.Quarantined
	}); err != nil {
		return err
	}
	left := make([]int, len(p.parts))
	for i := range left {
		left[i] = p.scenes[i] - shown.parts[i].Done
	}
	p.limits = limitsOf(p.limit, left)
	if p.part > 0 {
		p.limits = slices.Repeat([]int{noScene}, len(p.parts))
		p.limits[p.part-1] = p.limit
	}
	var parts []int // that are read, by index
	var databases []string
	for i, limit := range p.limits {
		if limit != noScene {
			parts, databases = append(parts, i), append(databases, p.databaseOf(i+1))
		}
	}
	errs := p.fleet.read(databases, func(i int, place *batch.Place) error {
		return p.readPart(ctx, place, parts[i], shown)
	})
	slices.SortStableFunc(errs, func(a, b error) int { return rankOfEnd(a) - rankOfEnd(b) })
	return errs[0]
}

// rankOfEnd sorts the ends of parts: first those that leave scenes to read.
func rankOfEnd(err error) int {
	switch {
	case err == nil:
		return 2
	case hasReadAll(annotator.KindOf(err)):
		return 1
	}
	return 0
}

// readPart runs the run of a part.
func (p *partedRun) readPart(ctx context.Context, place *batch.Place, i int, shown *partsProgress) (err error) {
	leave, err := p.fleet.enter(ctx, place)
	if err != nil {
		return err
	}
	defer leave()
	own := *p.settings
	own.Bounds.Name = p.databaseOf(i + 1)
	o := &runOptions{
		app: p.app, settings: &own, source: p.corpusOf(i + 1), db: p.databaseOf(i + 1), accept: p.accept,
		limit: p.limits[i], begin: p.begins[i], fleet: p.fleet, place: place, progress: newProgress(p.app, true, 0),
		metrics: p.metrics, hooks: p.hooks,
	}
	o.bus.Subscribe(notify.Subscriber{Notice: func(n annotator.Notice) { shown.notice(i, n) }})
	open := closers{sync.OnceValue(o.closeBus)}
	defer func() { err = cmp.Or(err, open.close()) }()
	r, err := o.assemble(ctx, &open)
	if err == nil {
		err = o.runMachine(ctx, r, r.Run)
	}
	if e := (*annotator.Error)(nil); errors.As(err, &e) && !errors.Is(err, annotator.Interrupted) {
		return &annotator.Error{
			Kind: e.Kind, Err: fmt.Errorf("part %d: %w", i+1, e.Err), Advice: e.Advice, Reason: e.Reason, Args: e.Args,
		}
	}
	return err
}

// join joins the parts, and prints the result.
func (p *partedRun) join(ctx context.Context, place *batch.Place, began time.Time, readErr error) (err error) {
	leave, err := p.fleet.enter(ctx, place)
	if err != nil {
		return err
	}
	defer leave()
	p.progress.say(annotator.Quantity(len(p.parts), "part") + " read; they are joined")
	var open closers
	closeBus := sync.OnceValue(p.closeBus)
	open.add(closeBus)
	defer func() { err = cmp.Or(err, open.close()) }()
	p.isJoin, p.place = true, place
	r, err := p.assemble(ctx, &open)
	if err != nil {
		return err
	}
	paths := make([]string, len(p.parts))
	for i := range paths {
		paths[i] = p.databaseOf(i + 1)
	}
	before, err := p.readBefore(ctx, r.Store)
	if err != nil {
		return err
	}
	err = p.runMachine(ctx, r, func(ctx context.Context) error { return r.Join(ctx, paths) })
	if err != nil {
		return advise(err)
	}
	if err := p.sayUsage(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	p.progress.close()
	return cmp.Or(readErr, p.summarise(context.WithoutCancel(ctx), r.Store, &before, p.now().Sub(began)))
}

// sayUsage says what the parts have cost. The calls of the joined run are only those of the join.
func (p *partedRun) sayUsage(ctx context.Context) error {
	var calls int
	var usage annotator.Usage
	err := p.eachStatus(ctx, func(_ int, run *storage.RunStatus) {
		calls, usage = calls+run.Calls, usage.Plus(run.Usage)
	})
	if err == nil {
		p.progress.say(fmt.Sprintf("joined; the parts in %s took %s, %s", p.folder,
			annotator.Quantity(calls, "call"), tokens(usage)))
	}
	return err
}

// partsProgress shows the progress of all parts as one.
type partsProgress struct {
	*progress
	mu    sync.Mutex
	parts []annotator.Notice // the newest of each
	begun bool
}

// notice shows an event of a part, with the sums of all.
func (p *partsProgress) notice(i int, n annotator.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entries := p.parts[i].Entries
	if n.Kind == annotator.NoticeScene {
		entries = n.Entries
	}
	p.parts[i] = n
	p.parts[i].Entries = entries
	n.Done, n.Total, n.Entries = 0, 0, 0
	for k := range p.parts {
		n.Done += p.parts[k].Done
		n.Total += p.parts[k].Total
		n.Entries += p.parts[k].Entries
	}
	switch n.Kind {
	case annotator.NoticeRun:
		if p.begun {
			return
		}
		p.begun = true
	case annotator.NoticeWarning, annotator.NoticeWait:
		n.Reason = fmt.Sprintf("part %d: %s", i+1, n.Reason)
	case annotator.NoticeScene, annotator.NoticeCall:
	default:
		return
	}
	p.progress.notice(n)
}
