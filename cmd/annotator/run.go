package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"annotator"
	"annotator/corpus"
	"annotator/model"
	"annotator/runner"
	"annotator/storage"
	"annotator/tools"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runOptions are what `annotator run` is told.
type runOptions struct {
	*app
	config       Config
	source       string
	db           string
	corpus       string
	configPath   string
	limit        int
	accept       []string
	fromSnapshot int64
	fromDB       string
	reimport     bool
	noResume     bool
	quiet        bool
	printConfig  bool
	key          apiKey
	progress     *progress
	bus          feed
	before       func(context.Context, *storage.DB) error // comes before the first scene; nil for nothing
}

func newRun(a *app) *cobra.Command {
	o := &runOptions{app: a}
	settings := o.config.settings()
	cmd := &cobra.Command{
		Use:   "run SOURCE",
		Short: "Read a story and keep a codex of it, or go on where that stopped",
		Long: described(`
Read a story scene by scene and keep a codex of it. SOURCE is a corpus database, or anything that import reads: that is
imported first, beside it (book.epub to book.corpus.db). The run is kept in book.annotator.db, and goes on where it stopped when
it is called again.

Where no endpoint is named, an embedded model is used: a baseline that finds names by rules, without any network.

A setting's flag counts over the environment, that over the configuration file, that over the default. The file is the one
that --config names, else annotator.yaml in this folder; its keys are the settings with underscores (context_budget: 32768).
The environment: ANNOTATOR_ENDPOINT, ANNOTATOR_MODEL and ANNOTATOR_API_KEY; OPENAI_BASE_URL and OPENAI_API_KEY where these are
unset. --print-config shows what is in force and where it comes from.

The first interrupt finishes the scene at hand and stops; the second stops at once. Either way the next run goes on.`,
			exitMisused, exitHalted, exitQuarantined, exitInterrupted),
		Example: `  annotator run book.epub
  annotator run quest.jsonl --db /tmp/quest.annotator.db --limit 20
  annotator run corpus.db --endpoint http://localhost:8000/v1 --model qwen3-32b
  annotator run book.epub --from-snapshot 40 --db other.annotator.db
  annotator run --print-config`,
		Args: oneStory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.source = args[0]
			}
			return o.run(cmd.Context(), settings)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.db, "db", "", "database `FILE`; empty: beside SOURCE, under its name")
	flags.StringVar(&o.corpus, "corpus", "", "the `FILE` to import SOURCE to; empty: beside it, under its name")
	configFlag(flags, &o.configPath)
	flags.IntVar(&o.limit, "limit", 0, "read at most so many `SCENES` in this run; 0: all")
	flags.Int64Var(&o.fromSnapshot, "from-snapshot", 0, "branch: go on in a new database from snapshot `N` of the one that is there")
	flags.StringVar(&o.fromDB, "from-db", "", "database `FILE` to branch from; empty: the one beside SOURCE")
	flags.BoolVar(&o.noResume, "no-resume", false, "begin a new database; the one that is there stays as it is")
	flags.BoolVar(&o.reimport, "reimport", false, "import SOURCE anew where it has changed")
	o.acceptFlag(flags)
	flags.BoolVar(&o.quiet, "quiet", false, "no progress; print only the database's path")
	flags.BoolVar(&o.printConfig, "print-config", false, "print the settings in force and where each comes from, and end")
	flags.AddFlagSet(settings)
	return cmd
}

// oneStory accepts a source, or none.
func oneStory(_ *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "a run reads one story, and %d sources are named", len(args)).
		WithAdvice("name the folder that holds them, or make one corpus of them: `annotator import SOURCE... --corpus FILE`")
}

func (o *runOptions) acceptFlag(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.accept, "accept", nil,
		"go on though the `CHANGES` were made since the run began: model, prompt; or though a server counts too few tokens of prompts: counts")
}

// run settles the configuration, then reads the story.
func (o *runOptions) run(ctx context.Context, settings *pflag.FlagSet) error {
	file, err := readConfig(o.configPath)
	if err != nil {
		return err
	}
	origins, err := o.configure(settings, file)
	if err != nil {
		return err
	}
	if err := o.config.check(); err != nil {
		return err
	}
	if o.key, err = o.readKey(&o.config, origins["api-key-file"]); err != nil {
		return err
	}
	if o.printConfig {
		return o.app.printConfig(settings, origins, o.key)
	}
	if o.source == "" {
		return annotator.Errorf(annotator.Misused, "there is no story to read").WithAdvice("the usage is: annotator run SOURCE [flags]")
	}
	if !exists(o.source) {
		return annotator.Errorf(annotator.NotFound, "there is nothing at %s to read", o.source)
	}
	return o.annotate(ctx)
}

// annotate brings corpus, database and endpoint together, runs the machine over them, and tells what came of it.
func (o *runOptions) annotate(ctx context.Context) (err error) {
	o.progress = newProgress(o.app, o.quiet, o.limit)
	o.bus.Subscribe(annotator.Subscriber{Notice: o.progress.notice, Close: func() error { o.progress.close(); return nil }})
	hush := sync.OnceValue(o.bus.hush)
	open := closers{hush}
	defer func() { err = cmp.Or(err, open.close()) }()
	r, err := o.assemble(ctx, &open)
	if err != nil {
		return err
	}
	if o.before != nil {
		if err := o.before(ctx, r.Store); err != nil {
			return err
		}
	}
	began := o.now()
	err = o.walk(ctx, r)
	told := hush()
	if err != nil && told != nil {
		o.complain(told) // how the run ended is more, and has the exit status
	}
	if err != nil && !readOn(err) {
		return err
	}
	return cmp.Or(err, o.summarise(context.WithoutCancel(ctx), r.Store, o.now().Sub(began)), told)
}

// readOn reports whether a run that ended so still has something to show.
func readOn(err error) bool {
	kind := annotator.KindOf(err)
	return kind == annotator.Quarantined || kind == annotator.Interrupted
}

// assemble opens all that a run needs. What does not cost much is tried first: a wrong address must not wait for an import.
func (o *runOptions) assemble(ctx context.Context, open *closers) (*runner.Runner, error) {
	agreed, err := accepted(o.accept)
	if err != nil {
		return nil, err
	}
	if o.limit < 0 {
		return nil, outOfRange("limit", "0 or more scenes", o.limit)
	}
	identity, err := loadPrompts(o.config.Prompts)
	if err != nil {
		return nil, err
	}
	if err := o.checkBranch(); err != nil {
		return nil, err
	}
	wire, err := o.connect()
	if err != nil {
		return nil, err
	}
	if err := o.subscribe(); err != nil {
		return nil, err
	}
	registry, err := tools.New(o.config.tools()...)
	if err != nil {
		return nil, err
	}
	if names := o.config.withheld(); len(names) > 0 {
		o.progress.say("no intent permits " + strings.Join(names, ", ") + ", so the model is not given them")
	}
	source, err := o.openCorpus(ctx, open)
	if err != nil {
		return nil, err
	}
	store, err := o.openDatabase(ctx, open)
	if err != nil {
		return nil, err
	}
	config := runner.Defaults()
	o.config.apply(&config)
	config.Identity = identity
	config.Limit, config.Accept = o.limit, agreed
	return runner.New(config, store, source, wire, registry, &o.bus), nil
}

func (o *runOptions) connect() (model.Wire, error) {
	wire, err := o.config.connect(o.key)
	if err != nil {
		return nil, err
	}
	if o.key.warning != "" {
		o.progress.say(o.key.warning)
	}
	if o.config.Endpoint == offlineEndpoint {
		o.progress.say(offlineHint)
	}
	return wire, nil
}

// subscribe has the files that were asked for told of the run.
func (o *runOptions) subscribe() error {
	for _, path := range []string{o.config.LogFile, o.config.Events} {
		if sameFile(path, o.source) {
			return annotator.Errorf(annotator.Misused, "%s is the story, and nothing is written to it", path).WithAdvice("name another file")
		}
	}
	failed := func(err error) { o.progress.say(oneLine(err.Error())) }
	if o.config.LogFile != "" {
		log, err := openLog(o.config.LogFile, failed)
		if err != nil {
			return err
		}
		o.bus.Subscribe(log)
	}
	if o.config.Events != "" {
		events, err := openEvents(o.config.Events, failed)
		if err != nil {
			return err
		}
		o.bus.Subscribe(events)
	}
	return nil
}

func (o *runOptions) openCorpus(ctx context.Context, open *closers) (*corpus.DB, error) {
	var path string
	err := untilSignal(ctx, func(ctx context.Context) (err error) {
		path, err = o.prepareCorpus(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil { // it is put on record, for other folders to find
		return nil, err
	}
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	*open = append(*open, db.Close)
	return db, db.CheckIDs(ctx)
}

func (o *runOptions) openDatabase(ctx context.Context, open *closers) (*storage.DB, error) {
	path, err := o.prepareDatabase(ctx)
	if err != nil {
		return nil, err
	}
	db, err := storage.OpenWriter(ctx, path, holder(), o.now)
	if err == nil {
		*open = append(*open, db.Close)
	}
	return db, err
}

// holder names this process to others who want the same database.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// closers end the use of what was opened, the last first.
type closers []func() error

func (c closers) close() error {
	var err error
	for _, end := range slices.Backward(c) {
		err = cmp.Or(err, end())
	}
	return err
}
