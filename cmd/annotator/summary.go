package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"annotator"
	"annotator/curator"
	"annotator/model/replay"
	"annotator/storage"
)

// summarise prints the result of a run and the next commands. A quiet run prints only the path of its database.
func (o *runOptions) summarise(ctx context.Context, db *storage.DB, before *storage.RunStatus,
	took time.Duration,
) error {
	if o.result != nil {
		run, err := o.readSummary(ctx, db, before, took)
		o.result.Run = run
		return err
	}
	if o.json {
		return o.summariseAsJSON(ctx, db, before, took)
	}
	if o.quiet {
		fmt.Fprintln(o.out, db.Path())
		return nil
	}
	run, err := db.Run.Status(ctx)
	if err != nil {
		return err
	}
	entries, err := db.Glossary.MostRevised(ctx, 8)
	if err != nil {
		return err
	}
	path, quarantined := quoted(db.Path()), ""
	if run.Quarantined > 0 {
		quarantined = fmt.Sprintf(", %d quarantined", run.Quarantined)
	}
	fmt.Fprintf(o.out, "%s: %s\n", oneLine(db.Path()), shorten(run.Corpus.Title, 80))
	text := fmt.Sprintf("%d of %s read%s, %s, %s, %s\n", run.Recorded, annotator.Quantity(run.Corpus.Scenes, "scene"),
		quarantined,
		annotator.Quantity(run.Entries, "entry"), annotator.Quantity(run.Calls, "call"), tokens(run.Usage))
	text += fmt.Sprintf("of these in this run: %s, %s, %s, in %s",
		annotator.Quantity(run.Recorded-before.Recorded, "scene"),
		annotator.Quantity(run.Calls-before.Calls, "call"), tokens(run.Usage.Minus(before.Usage)), duration(took))
	fmt.Fprintln(o.out, wrapLines(text, terminalWidth(o.out)))
	o.recording.printTally(o.out)
	if run.Corpus.Scenes == 0 {
		fmt.Fprintf(o.out, "no post is tagged %s, so there is no story to read\n", annotator.TagStory)
	}
	if len(entries) == 0 && run.Recorded > 0 {
		fmt.Fprintf(o.out,
			"no entry was made: `annotator audit --db %s` shows which tools the model called, `annotator "+
				"doctor` whether it can\n", path)
	}
	var next []string
	if len(entries) > 0 {
		fmt.Fprintln(o.out)
		printEntries(o.out, entries, (*annotator.Entry).Definition)
		next = append(next, "annotator search --db "+path+" "+quoted(oneLine(entries[0].Term)),
			"annotator serve --db "+path+" --open",
			"annotator export --db "+path+" --format json -o "+quoted(strings.TrimSuffix(db.Path(), ".db")+".json"))
	}
	left, err := remainingWork(ctx, db, &run)
	if next = append(next, left...); err != nil || len(next) == 0 {
		return err
	}
	fmt.Fprintf(o.out, "\nnext:\n  %s\n", strings.Join(next, "\n  "))
	return nil
}

// runSummary is what `run --json` prints: the status of the run, and the part of this invocation.
type runSummary struct {
	*status
	ThisRun runPart       `json:"this_run"`
	Replay  *replay.Tally `json:"replay,omitempty"` // with --replay
}

type runPart struct {
	Scenes  int         `json:"scenes"` // recorded
	Calls   int         `json:"calls"`
	Tokens  tokenStatus `json:"tokens"`
	Seconds float64     `json:"seconds"`
}

func (o *runOptions) summariseAsJSON(ctx context.Context, db *storage.DB, before *storage.RunStatus,
	took time.Duration,
) error {
	run, err := o.readSummary(ctx, db, before, took)
	if err != nil {
		return err
	}
	return o.printJSON(run)
}

// readSummary returns the status of a run, with the part of this invocation.
func (o *runOptions) readSummary(ctx context.Context, db *storage.DB, before *storage.RunStatus,
	took time.Duration,
) (*runSummary, error) {
	now, err := readStatus(ctx, db, o.now())
	if err != nil {
		return nil, err
	}
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	now.Running, now.SecondsLeft, now.Ends = false, 0, time.Time{} // this process holds the database
	u := run.Usage.Minus(before.Usage)
	part := runPart{
		run.Recorded - before.Recorded, run.Calls - before.Calls, newTokenStatus(&u), took.Seconds(),
	}
	return &runSummary{now, part, o.recording.tally()}, nil
}

// remainingWork returns the commands for quarantined scenes and tentative entries, once every scene is done. A run with
// --limit also leaves present statements of entries outdated.
func remainingWork(ctx context.Context, db *storage.DB, run *storage.RunStatus) (commands []string, err error) {
	path, done := quoted(db.Path()), run.Recorded+run.Quarantined == run.Corpus.Scenes
	if done && run.Quarantined > 0 {
		commands = append(commands, fmt.Sprintf("annotator retry --db %s   # %s quarantined", path,
			annotator.Quantity(run.Quarantined, "scene")))
	}
	report, err := db.Run.Report(ctx)
	if err != nil {
		return nil, err
	}
	var outdated []int64
	if run.Endpoint != offlineEndpoint { // the offline model writes no statements
		outdated, err = db.Curation.Outdated(ctx, annotator.MajorChange, curator.MinFacts, math.MaxInt32)
	}
	var left []string
	if n := report.Entries[annotator.Tentative]; done && n > 0 {
		left = append(left, annotator.Quantity(n, "entry")+" tentative")
	}
	if n := len(outdated); n > 0 {
		left = append(left, annotator.Quantity(n, "entry")+" with facts newer than the statement of what it is now")
	}
	if left != nil {
		commands = append(commands, fmt.Sprintf("annotator curate --db %s   # %s", path, strings.Join(left, ", ")))
	}
	return commands, err
}
