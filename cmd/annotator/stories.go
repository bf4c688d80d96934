package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"annotator"
	"annotator/batch"
	"annotator/corpus/ingest"
	"annotator/model"

	"github.com/spf13/pflag"
)

// storiesOptions are the options of a run that reads several stories.
type storiesOptions struct {
	sources []string
	from    string // a folder or a list; empty: none
	atOnce  int    // 0: as many as the servers have room for
}

func (o *storiesOptions) addTo(flags *pflag.FlagSet) {
	countFlag(flags, &o.atOnce, "stories", 0, 0, "maximum `STORIES` to read at once, or parts of one; 0: as many as "+
		"the servers have room for, or 4 stories where they do not tell it")
	flags.StringVar(&o.from, "stories-from", "", "read the stories in a folder, or those that a list names, one a "+
		"line: `PATH`")
}

// The number of stories that are read at once at a server, and how often that is looked at.
const (
	unknownPlaces = 4 // of a server that does not tell its room
	lookInterval  = 5 * time.Second
)

// storiesRun reads several stories in one process.
type storiesRun struct {
	*runOptions // those of each story
	board       *board
	results     []storyResult
}

// storyResult is what became of a story. Fields of its JSON are only ever added.
type storyResult struct {
	Source   string      `json:"source"`
	Database string      `json:"database"`
	Status   int         `json:"exit_status"` // that a run of the story alone would have
	Error    string      `json:"error"`       // empty for none
	Run      *runSummary `json:"run"`         // null if the story could not be opened

	name string // among the stories
	err  error
}

// annotateStories reads the stories, each into its own database. One story's trouble stops no other.
func (o *runOptions) annotateStories(ctx context.Context) error {
	r := &storiesRun{runOptions: o}
	if err := r.list(); err != nil {
		return err
	}
	databases := make([]string, len(r.results))
	for i := range r.results {
		databases[i] = r.results[i].Database
	}
	o.shareBounds(ctx, databases...)
	r.board = newBoard(o.app, o.quiet, r.results)
	defer r.board.close()
	f, ctx, end, err := o.openFleet(ctx, unknownPlaces, r.board.say)
	if err != nil {
		return err
	}
	defer end()
	f.read(databases, func(i int, place *batch.Place) error {
		result := &r.results[i]
		defer r.end(result)
		result.err = errors.New("internal error: a fault that the story alone has shows its cause") // if it panics
		result.err = r.read(ctx, f, i, place)
		return nil
	})
	r.board.close()
	return cmp.Or(r.print(), r.worst())
}

// list finds the stories, and refuses two with one database.
func (r *storiesRun) list() error {
	sources := r.stories.sources
	if r.stories.from != "" {
		found, err := storiesIn(r.stories.from, r.Import.Format)
		if err != nil {
			return err
		}
		sources = append(sources, found...)
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--db", r.db != ""},
		{"--corpus", r.corpus != ""},
		{"--from-snapshot", r.fromSnapshot != 0},
		{"--after", r.after != ""},
		{"--record", r.recording.to != ""},
		{"--replay", r.recording.path != ""},
	} {
		if flag.given {
			return annotator.Errorf(annotator.Misused, "%s is for a run of one story", flag.name).
				WithAdvice("leave it out, or name one story")
		}
	}
	databases := map[string]string{}
	for _, source := range sources {
		if err := requireSource(source); err != nil {
			return err
		}
		path := databaseOf(source)
		if other, taken := databases[resolved(path)]; taken {
			return annotator.Errorf(annotator.Misused, "%s and %s would have one database, %s", other, source, path).
				WithAdvice("rename one of them, or leave one out")
		}
		databases[resolved(path)] = source
		r.results = append(r.results, storyResult{Source: source, Database: path})
	}
	nameStories(r.results)
	return nil
}

// nameStories gives the stories names for messages: that of the file, or the whole path where two files have one name.
func nameStories(results []storyResult) {
	count := map[string]int{}
	for i := range results {
		results[i].name = filepath.Base(stemOf(results[i].Source))
		count[results[i].name]++
	}
	for i := range results {
		if count[results[i].name] > 1 {
			results[i].name = results[i].Source
		}
	}
}

// storiesIn returns the stories in a folder, by name, or those that a list names. Paths in a list are relative to its
// folder.
func storiesIn(path string, format ingest.Format) (sources []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.NotFound, "read the stories: %w", err).
			WithAdvice("name a folder, or a list of stories, with --stories-from")
	}
	if !info.IsDir() {
		sources, err = readList(path)
	} else if sources, err = ingest.Stories(path, format); err != nil {
		return nil, annotator.Errorf(annotator.NotFound, "read the folder of the stories: %w", err)
	}
	if err == nil && len(sources) == 0 {
		return nil, annotator.Errorf(annotator.NotFound, "there is no story in %s", path).
			WithAdvice("name a folder with books, or a list with a path in each line")
	}
	return sources, err
}

// readList reads a list of paths, one a line. Empty lines and those that begin with # are left out.
func readList(path string) (sources []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the list of stories: %w", err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(filepath.Dir(path), line)
		}
		sources = append(sources, line)
	}
	return sources, nil
}

// read reads a story once it has a place.
func (r *storiesRun) read(ctx context.Context, f *fleet, i int, place *batch.Place) error {
	result := &r.results[i]
	leave, err := f.enter(ctx, place)
	if err != nil {
		return err
	}
	defer leave()
	own, process := *r.settings, *r.app
	own.Bounds.Name = result.Database
	bound := own.Bounds.Reached(own.Bounds.Ledger.Sum(), r.now())
	if bound != nil && !exists(result.Database) { // else it may be read to its end
		return annotator.Errorf(bound.Kind, "not begun: %w", bound.Err).WithReason(bound.Reason)
	}
	process.err = r.board.writer(i)
	o := &runOptions{
		app: &process, settings: &own, source: result.Source, limit: r.limit, accept: r.accept, noResume: r.noResume,
		convert: r.convert, reimport: r.reimport, seed: r.seed, seedAs: r.seedAs, place: place, fleet: f,
		result: result, metrics: r.metrics, hooks: r.hooks, progress: r.board.begin(i, &process, r.limit),
	}
	return o.annotate(ctx)
}

// end notes what became of a story.
func (r *storiesRun) end(result *storyResult) {
	err := systemFailure(advise(result.err))
	result.err, result.Status = err, exitStatus(err)
	if err != nil {
		result.Error = oneLine(err.Error())
	}
	r.board.end(result)
}

// severity sorts exit statuses, the worst first.
func severity(status int) int {
	order := [...]int{exitInternal, exitMisused, exitHalted, exitInterrupted, exitNoCalls, exitQuarantined, exitDone}
	return slices.Index(order[:], status)
}

// worst returns the error of the whole run: of the kind of the worst story, with the number of those like it.
func (r *storiesRun) worst() error {
	worst := slices.MinFunc(r.results, func(a, b storyResult) int {
		return cmp.Compare(severity(a.Status), severity(b.Status))
	})
	if worst.err == nil {
		return nil
	}
	if len(r.results) == 1 {
		return worst.err
	}
	alike := 0
	for i := range r.results {
		if r.results[i].Status == worst.Status {
			alike++
		}
	}
	if e := (*annotator.Error)(nil); errors.As(worst.err, &e) && e.Kind == annotator.Bounded {
		return annotator.Errorf(e.Kind, "%d of %s stopped at a bound of all", alike,
			annotator.Quantity(len(r.results), "story")).WithReason(e.Reason)
	}
	what := fmt.Sprintf("%d of %s: %s", alike, annotator.Quantity(len(r.results), "story"), map[int]string{
		exitInternal: "internal error", exitMisused: "wrong use or configuration", exitHalted: "halted",
		exitInterrupted: "interrupted", exitNoCalls: "the model never made a call",
		exitQuarantined: "scenes were quarantined",
	}[worst.Status])
	kind := kindOf(worst.err)
	if kind == "" {
		return errors.New(what)
	}
	err := annotator.Errorf(kind, "%s", what)
	if worst.Status == exitHalted || worst.Status == exitInterrupted {
		return err.WithAdvice("the same command resumes all stories")
	}
	return err
}

// print prints what became of each story.
func (r *storiesRun) print() error {
	if r.json {
		return r.printJSON(map[string]any{"stories": r.results})
	}
	for i := range r.results {
		result := &r.results[i]
		if r.quiet {
			fmt.Fprintln(r.out, result.Database)
			continue
		}
		fmt.Fprintln(r.out, wrapLines(result.text(), terminalWidth(r.out)))
	}
	return nil
}

// text is the line of a story.
func (s *storyResult) text() string {
	text := oneLine(s.Database) + ": "
	if s.Run == nil {
		return text + cmp.Or(s.Error, "not read")
	}
	run := s.Run
	text += fmt.Sprintf("%d of %s read", run.Scenes.Recorded, annotator.Quantity(run.Scenes.Total, "scene"))
	if n := run.Scenes.Quarantined; n > 0 {
		text += fmt.Sprintf(", %d quarantined", n)
	}
	entries := 0
	for _, status := range []annotator.Status{annotator.Tentative, annotator.Confirmed} {
		entries += run.Entries[status]
	}
	text += ", " + annotator.Quantity(entries, "entry")
	if s.Error != "" {
		text += "; " + s.Error
	}
	return text
}

// endpoints are the servers of the run.
func (c *Config) endpoints() []string { return append([]string{c.Endpoint}, c.Others...) }

// watch says how many runs each server gets; unknown: one that does not tell its room. It asks the first for the
// context of its model.
func (o *runOptions) watch(ctx context.Context, wire model.Wire, unknown int) (*batch.Watch, error) {
	s, servers := o.settings, o.endpoints()
	w := &batch.Watch{
		Most: (o.stories.atOnce + len(servers) - 1) / len(servers), Unknown: unknown, Every: lookInterval,
		Context: cmp.Or(s.ContextBudget, defaultBudget), Servers: make([]func(context.Context) (model.Load, error),
			len(servers)),
	}
	if s.Endpoint == offlineEndpoint {
		w.Unknown = runtime.NumCPU()
		return w, nil
	}
	for i, address := range servers {
		at := *s
		at.Endpoint = address
		client, err := at.serverClient()
		if err != nil {
			return nil, err
		}
		w.Servers[i] = client.Load
	}
	if s.ContextBudget == 0 {
		w.Context = min(w.Context, contextOf(ctx, wire, s.Model))
	}
	return w, nil
}

// defaultBudget is the context of a run if nothing else is known of its model.
const defaultBudget = 65_536

// contextOf returns the context that a server lists for its model.
func contextOf(ctx context.Context, wire model.Wire, name string) int {
	ctx, cancel := context.WithTimeout(ctx, lookInterval)
	defer cancel()
	models, _ := wire.Models(ctx) // without a list, the run says what is wrong
	for _, m := range models {
		if (name == "" || m.Called(name)) && m.MaxContext > 0 {
			return m.MaxContext
		}
	}
	return math.MaxInt
}

// sessionOf names a story and its run without saying anything about them.
func sessionOf(database string) string {
	sum := sha256.Sum256([]byte(resolved(database)))
	return hex.EncodeToString(sum[:12])
}

// spreadWire returns the wire of a story that has a place: it sends each request to the server that the story is at.
func (o *runOptions) spreadWire() (model.Wire, error) {
	var wires []model.Wire
	for _, address := range o.endpoints() {
		at := *o.settings
		at.Endpoint = address
		wire, err := at.newWire()
		if err != nil {
			return nil, err
		}
		wires = append(wires, wire)
	}
	return batch.NewWire(o.place, wires), nil
}
