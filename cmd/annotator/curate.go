package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"annotator"
	"annotator/curator"
	"annotator/runner"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// curateOptions are the options of `annotator curate`.
type curateOptions struct {
	*app
	*settings
	db      string
	corpus  string
	threads []int64
	dryRun  bool
	json    bool
}

func newCurate(a *app) *cobra.Command {
	o := &curateOptions{app: a, settings: newSettings()}
	cmd := &cobra.Command{
		Use:   "curate",
		Short: "Let the curator judge the entries that are tentative",
		Long: longHelp(`
Let the curator judge tentative entries: confirm, reject, reword, or merge each into another entry. A run does this at
the end of each thread, for the entries of the thread before; this command does it for all that are still tentative.
It skips entries that a person has locked, and entries about which the model gives no usable answer. Without --thread
it also has statements written of what entries are now whose facts have changed since they had one, as a run does.

With --dry-run the curator works on a temporary copy, and the database is not changed.

The endpoint and the other settings come from the same places as those of run; the model may be another than the
run's.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator curate --dry-run
  annotator curate --db book.annotator.db --endpoint http://localhost:8000/v1 --model qwen3-32b
  annotator curate --thread 4711 --json`,
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	corpusFlag(flags, &o.corpus, "corpus `FILE` of the run")
	flags.Int64SliceVar(&o.threads, "thread", nil,
		"judge only entries that first occur in the threads with these `IDS`")
	flags.Lookup("thread").DefValue = "" // the help would show []
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the decisions without making them")
	jsonFlag(flags, &o.json)
	o.addTo(flags, "endpoint", "wire", "model", "api-key-file", "shared-key-file", "context-budget", "stream",
		"curator-prompt", "curator-batch", "patience",
		"first-token-timeout", "token-timeout", "prompts")
	return untilSignalled(cmd, func(ctx context.Context, _ []string) error { return o.run(ctx) })
}

// curation is a decision as it is printed.
type curation struct {
	ID       int64          `json:"id"`
	Term     string         `json:"term"`
	Decision curator.Action `json:"decision"`
	Target   int64          `json:"target,omitempty"`
	Reason   string         `json:"reason"`
}

func (o *curateOptions) run(ctx context.Context) (err error) {
	var open closers
	defer func() { err = cmp.Or(err, open.close()) }()
	r, err := o.assemble(ctx, &open)
	if err != nil {
		return err
	}
	for _, thread := range o.threads {
		if err := require(ctx, thread, r.Store.Threads.Get); err != nil {
			return err
		}
	}
	decisions := []curation{}
	err = r.Curate(ctx, o.threads, func(e *annotator.Entry, d curator.Decision) {
		decisions = append(decisions, curation{e.ID, e.Name(), d.Action, d.Target, d.Reason})
		if !o.json {
			fmt.Fprintf(o.out, "#%-5d %s %s\n", e.ID, pad(shorten(e.Name(), 32), 32),
				shorten(describeDecision(&d), 120))
		}
	})
	if o.json {
		return cmp.Or(err, o.printJSON(decisions)) // decisions before an error remain in force
	}
	if err == nil && len(decisions) == 0 {
		o.say("no entry is tentative")
	}
	return err
}

func describeDecision(d *curator.Decision) string {
	into := ""
	if d.Target != 0 {
		into = fmt.Sprintf(" into #%d", d.Target)
	}
	return fmt.Sprintf("%s%s: %s", d.Action, into, d.Reason)
}

// assemble opens what the curator needs.
func (o *curateOptions) assemble(ctx context.Context, open *closers) (*runner.Runner, error) {
	if err := o.load(o.app); err != nil {
		return nil, err
	}
	path, err := findExisting(o.db)
	if err != nil {
		return nil, err
	}
	wire, err := o.connect(ctx, o.app, o.say)
	if err != nil {
		return nil, err
	}
	database := path
	if o.dryRun {
		if database, err = temporaryCopy(ctx, path, open); err != nil {
			return nil, err
		}
	}
	store, err := o.openWriter(ctx, database)
	if err != nil {
		return nil, err
	}
	open.add(store.Close)
	source, err := openCorpus(ctx, store, path, o.corpus, true)
	if err != nil {
		return nil, err
	}
	open.add(source.Close)
	config := o.runner()
	if config.Identity, err = o.loadPrompts(); err != nil {
		return nil, err
	}
	return runner.New(config, store, source, wire, nil, o), nil
}

// Publish prints warnings and waits. It implements runner.Publisher.
func (o *curateOptions) Publish(n annotator.Notice) {
	if n.Kind == annotator.NoticeWarning {
		o.say(n.Reason)
	}
	o.printWait(n)
}

// printWait prints why a request is delayed.
func (a *app) printWait(n annotator.Notice) {
	switch n.Kind {
	case annotator.NoticeWait:
		n.Time = a.now()
		a.say(describeWait(&n))
	case annotator.NoticeSilence:
		a.say(n.Reason)
	}
}

// temporaryCopy copies a database to a folder that is removed at the end.
func temporaryCopy(ctx context.Context, path string, open *closers) (string, error) {
	folder, err := os.MkdirTemp("", "annotator-")
	if err != nil {
		return "", annotator.Errorf(annotator.Storage, "make a folder for a copy: %w", err)
	}
	open.add(func() error { return os.RemoveAll(folder) })
	out := filepath.Join(folder, filepath.Base(path))
	return out, withDatabase(ctx, path, func(db *storage.DB) error { return db.Maintenance.Backup(ctx, out) })
}
