package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"annotator"
	"annotator/corpus"
	"annotator/curator"
	"annotator/runner"
	"annotator/storage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// curateOptions are what `annotator curate` is told.
type curateOptions struct {
	*app
	config     Config
	configPath string
	db         string
	corpus     string
	threads    []int64
	dryRun     bool
	json       bool
}

func newCurate(a *app) *cobra.Command {
	o := &curateOptions{app: a}
	settings := o.config.settings()
	cmd := &cobra.Command{
		Use:   "curate",
		Short: "Have the curator judge the entries that nobody has confirmed",
		Long: described(`
Have the curator judge tentative entries: confirm, reject, reword, or merge each into another entry. A run does so by itself at the
end of each thread, for the entries of the thread before; this does it for all that are tentative still. An entry that a
person has locked is left alone, and so is one about which the model has no usable answer.

With --dry-run the curator judges a copy of the database, which is thrown away: the database stays as it is to the byte.

The endpoint and other settings come from where run has them; the model may be another than the run's.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator curate --dry-run
  annotator curate --db book.annotator.db --endpoint http://localhost:8000/v1 --model qwen3-32b
  annotator curate --thread 4711 --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilSignal(cmd.Context(), func(ctx context.Context) error { return o.run(ctx, settings) })
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	databaseFlag(flags, &o.db)
	flags.StringVar(&o.corpus, "corpus", autoCorpus, "`FILE` that the run was made from; auto: where it was then, or beside the database")
	configFlag(flags, &o.configPath)
	flags.Int64SliceVar(&o.threads, "thread", nil, "judge only entries first seen in the threads with these `IDS`")
	flags.Lookup("thread").DefValue = "" // which is not worth a word
	flags.BoolVar(&o.dryRun, "dry-run", false, "ask and tell, but change nothing")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	settingFlags(flags, settings, "endpoint", "wire", "model", "api-key-file", "context-budget", "stream", "curator-prompt", "curator-batch", "patience")
	return cmd
}

// curation is a decision as it is printed.
type curation struct {
	ID       int64          `json:"id"`
	Term     string         `json:"term"`
	Decision curator.Action `json:"decision"`
	Target   int64          `json:"target,omitempty"`
	Reason   string         `json:"reason"`
}

func (o *curateOptions) run(ctx context.Context, settings *pflag.FlagSet) (err error) {
	var open closers
	defer func() { err = cmp.Or(err, open.close()) }()
	r, err := o.assemble(ctx, settings, &open)
	if err != nil {
		return err
	}
	for _, thread := range o.threads {
		if err := knownThread(ctx, r.Store, thread); err != nil {
			return err
		}
	}
	made := []curation{}
	var unheard error
	err = r.Curate(ctx, o.threads, func(e *annotator.Entry, d curator.Decision) {
		c := curation{e.ID, e.Name(), d.Action, d.Target, d.Reason}
		made = append(made, c)
		if !o.json {
			_, printed := fmt.Fprintln(o.out, c.line())
			unheard = cmp.Or(unheard, printed)
		}
	})
	if o.json {
		printed := o.printJSON(made) // what was decided before an error stands
		return cmp.Or(err, printed)
	}
	if err == nil && len(made) == 0 {
		fmt.Fprintln(o.err, "no entry is tentative")
	}
	return cmp.Or(err, unheard)
}

func (c *curation) line() string {
	into := ""
	if c.Target != 0 {
		into = " into #" + strconv.FormatInt(c.Target, 10)
	}
	return fmt.Sprintf("#%-5d %s %s%s: %s", c.ID, padded(shortened(c.Term, 32), 32), c.Decision, into, shortened(c.Reason, 100))
}

// assemble opens what a curator needs.
func (o *curateOptions) assemble(ctx context.Context, settings *pflag.FlagSet, open *closers) (*runner.Runner, error) {
	key, err := o.settle(&o.config, settings, o.configPath)
	if err != nil {
		return nil, err
	}
	wire, err := o.config.connect(key)
	if err != nil {
		return nil, err
	}
	path, err := findDatabase(o.db)
	if err != nil {
		return nil, err
	}
	store, err := o.openDatabase(ctx, path, open)
	if err != nil {
		return nil, err
	}
	source, err := o.openCorpus(ctx, store, path, open)
	if err != nil {
		return nil, err
	}
	if o.config.Endpoint == offlineEndpoint {
		fmt.Fprintln(o.err, offlineHint)
	}
	config := runner.Defaults()
	o.config.apply(&config)
	return runner.New(config, store, source, wire, nil, o), nil
}

// Publish tells why nothing seems to happen. See runner.Publisher.
func (o *curateOptions) Publish(n annotator.Notice) {
	switch n.Kind {
	case annotator.NoticeWarning:
		fmt.Fprintln(o.err, oneLine(n.Reason))
	case annotator.NoticeWait:
		fmt.Fprintf(o.err, "waiting %s: %s\n", span(n.Duration), oneLine(n.Reason))
	}
}

// openDatabase opens the database, or a copy of it to try on.
func (o *curateOptions) openDatabase(ctx context.Context, path string, open *closers) (*storage.DB, error) {
	if !exists(path) {
		return nil, annotator.Errorf(annotator.NotFound, "there is no database at %s", path)
	}
	if o.dryRun {
		var err error
		if path, err = copyOf(ctx, path, open); err != nil {
			return nil, err
		}
	}
	store, err := storage.OpenWriter(ctx, path, holder(), o.now)
	if err == nil {
		*open = append(*open, store.Close)
	}
	return store, err
}

// copyOf copies a database to a place that is cleared away in the end.
func copyOf(ctx context.Context, path string, open *closers) (string, error) {
	folder, err := os.MkdirTemp("", "annotator-")
	if err != nil {
		return "", annotator.Errorf(annotator.Storage, "make a folder for a copy: %w", err)
	}
	*open = append(*open, func() error { return os.RemoveAll(folder) })
	out := filepath.Join(folder, filepath.Base(path))
	return out, withDatabase(ctx, path, func(db *storage.DB) error { return db.Maintenance.Backup(ctx, out) })
}

// openCorpus opens what the run was made from; the database lies at path.
func (o *curateOptions) openCorpus(ctx context.Context, store *storage.DB, path string, open *closers) (*corpus.DB, error) {
	named := o.corpus
	if named == autoCorpus {
		run, err := store.Run.Status(ctx)
		if err != nil {
			return nil, err
		}
		named = cmp.Or(corpusOfRun(&run, path), run.Corpus.Path)
	}
	source, err := corpus.Open(ctx, named)
	if err == nil {
		*open = append(*open, source.Close)
	}
	return source, err
}
