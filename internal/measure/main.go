// Command measure runs the program against the scripted endpoint and writes what it costs into the tables of
// docs/performance.md, with the aims.
//
//	go run ./internal/measure
//	go run ./internal/measure -what novel -source BOOK
//	go run ./internal/measure -what replay -exchange FOLDER
//
// The second form reads a book in windows of several sizes, and writes the table of a novel. The third converts a recorded exchange with a model to calls with facts, plays it again, and prints what it costs.
//
// Each run has a process of its own, and so has the endpoint: processor time and memory are those of the program alone, as
// the kernel accounts for them. The bare loop, to which processor time is compared, runs in the same minute on the same
// machine. All of it is made up from fixed seeds; the figures vary with the machine and with what else it does.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	act := measure
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		act = beChild
	}
	if err := act(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	scenes     []int
	tokens     int
	bareMost   int
	curatorOff bool
	document   string
	folder     string
	profiles   string

	what      string
	compacted int
	exchange  string
	source    string
}

// setScenes reads numbers of scenes, separated by commas.
func (o *options) setScenes(text string) error {
	o.scenes = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 20 {
			return fmt.Errorf("%q is no number of scenes, from 20", part)
		}
		o.scenes = append(o.scenes, n)
	}
	slices.Sort(o.scenes)
	return nil
}

func measure(ctx context.Context, args []string) error {
	o := options{scenes: []int{100, 1_000, 2_000}}
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.Func("scenes", "lengths of the stories, in scenes (default 100,1000,2000)", o.setScenes)
	flags.IntVar(&o.tokens, "tokens", 800, "scenes of the story that tokens are counted on")
	flags.IntVar(&o.bareMost, "bare", 10_000, "the longest story that a bare loop goes through, too")
	flags.BoolVar(&o.curatorOff, "curator-off", false, "leave the curator out")
	flags.StringVar(&o.document, "o", "", "the document whose tables are written, in place of the one in docs; - for standard output")
	flags.StringVar(&o.folder, "dir", "", "where databases go and stay; by default a folder that is removed")
	flags.StringVar(&o.profiles, "profiles", "", "folder for profiles of the longest run and its bare loop; the figures are then higher")
	flags.StringVar(&o.what, "what", "program", "program, compaction, novel, or replay: what is measured")
	flags.StringVar(&o.exchange, "exchange", "", "folder of the recorded exchange that is replayed: NNNN.request.txt, NNNN.reply.json, codex.json")
	flags.StringVar(&o.source, "source", "testdata/lanterns/lanterns.jsonl", "the story that it was recorded on, or the novel")
	flags.IntVar(&o.compacted, "compacted", 1_000, "scenes of the story that compaction is measured on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.folder == "" {
		folder, err := os.MkdirTemp("", "measure")
		if err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		o.folder = folder
	}
	if o.what == "replay" {
		return o.replay(ctx, os.Stdout)
	}
	if o.what == "compaction" {
		tables, err := o.compactionTables(ctx)
		if err != nil {
			return err
		}
		return writeDocument(cmp.Or(o.document, "docs/compaction.md"), tables)
	}
	if o.what == "novel" {
		tables, err := o.novelTables(ctx)
		if err != nil {
			return err
		}
		return writeDocument(cmp.Or(o.document, "docs/performance.md"), tables)
	}
	tables, err := o.tables(ctx)
	if err != nil {
		return err
	}
	return writeDocument(cmp.Or(o.document, "docs/performance.md"), tables)
}

// tables makes all measurements, and returns the tables by the names that the document has for them.
func (o *options) tables(ctx context.Context) (map[string]string, error) {
	var stories []*outcome
	const budget = 32_768
	for _, scenes := range o.scenes {
		s := story{options: o, scenes: scenes, budget: budget, bare: scenes <= o.bareMost, last: scenes == o.scenes[len(o.scenes)-1]}
		found, err := s.measure(ctx)
		if err != nil {
			return nil, err
		}
		stories = append(stories, found)
	}
	var windows []*outcome
	for _, budget := range []int{32_768, 131_072} {
		s := story{options: o, scenes: o.tokens, budget: budget}
		found, err := s.measure(ctx)
		if err != nil {
			return nil, err
		}
		windows = append(windows, found)
	}
	matching := []timing{timeMatching(1_000), timeMatching(100_000), timeMatching(1_000_000)}
	var searches []timing
	for _, entries := range []int{1_000, 100_000} {
		t, err := timeSearch(ctx, o.folder, entries)
		if err != nil {
			return nil, err
		}
		searches = append(searches, t)
	}
	return map[string]string{
		"machine":   machine() + "\n",
		"processor": processorTable(stories), "storage": storageTable(stories), "resume": resumeTable(stories),
		"tokens": tokenTable(windows), "matching": matchingTable(matching), "search": searchTable(searches),
	}, nil
}
