package main

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"annotator"
	"annotator/batch"
	"annotator/context/prompt"
	"annotator/corpus"
	"annotator/metrics"
	"annotator/runner"
	"annotator/runner/notify"
	"annotator/storage"
	"annotator/tools"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runOptions are the options of `annotator run`.
type runOptions struct {
	*app
	*settings
	address
	source       string
	db           string
	corpus       string
	limit        int
	accept       []string
	seed         string
	seedAs       string
	numParts     int                  // 1: the story is read as one
	part         int                  // the only one that is read; 0: all, and they are joined
	begin        *annotator.Operation // of a part and of a join: the entries that it begins with; nil: those of seed
	isJoin       bool                 // it joins the parts of the story
	fromSnapshot int64
	fromDB       string
	noResume     bool
	convert      string
	reimport     bool
	quiet        bool
	json         bool
	printConfig  bool
	misused      bool // the run ended because of a wrong setting
	progress     *progress
	bus          notify.Bus
	before       func(context.Context, *storage.DB) error // runs before the first scene; may be nil
	after        string                                   // the run of the book before; "" for none
	former       struct{ title, corpus string }           // of the book before
	series       corpus.Series                            // of the corpus
	recording    recordingOptions
	stories      storiesOptions
	place        *batch.Place  // at one of several servers, or among several stories; nil: none is needed
	fleet        *fleet        // that this run is one of; nil: none
	result       *storyResult  // of this story, if it is one of several; else nil
	metrics      *metrics.Page // nil: none are served
	hooks        *hooks
}

const runHelp = `
Read a story scene by scene and keep a codex of it. SOURCE is a corpus database, or anything that import reads; that is
imported first, into a file beside it (book.epub into book.corpus.db). The database of the run is book.annotator.db. Run
the same command again to resume. If SOURCE has grown or changed since, new text is read, changed text is read late, and
the former text is kept.

Without an endpoint the offline model is used, a baseline in the program that finds names by rules, without a network.

A flag takes precedence over the environment, that over the configuration file, that over the default. The file is the
one that --config names, else annotator.yaml in this folder; below it annotator/config.yaml in your own configuration
folder. Its keys are the names of the flags with underscores (context_budget: 32768). The environment:
ANNOTATOR_ENDPOINT, ANNOTATOR_MODEL and ANNOTATOR_API_KEY; OPENAI_BASE_URL and OPENAI_API_KEY where those are unset.
The key is not sent to an endpoint that only the file in this folder names. --print-config shows each value and its
source.

With --record, all that the run and the model say to each other is also written to a file. With --replay, a run is
answered from such a file: nothing is sent to a server, and what the model said costs nothing again. Replies are found
by scene, purpose and number, so a recording can be replayed after the prompt has changed; the run says how many
requests differ from the recorded ones. A run of other settings may ask what was not recorded: a scene without a reply
halts the run, and other questions count as declined by the model.

With --after, a run goes on with the next book of a series. It begins with all that the run of the book before knows.
The database and the corpus of that run are copied, and not changed. Chapters have the number of their book, and limits
reach across books (--as-of book:1). The book before must be read to its end. Another model and another prompt
are accepted at the beginning of a book. The same command resumes the run.

Several SOURCES, or those of --stories-from, are read at once, each into its own database beside it. The server says how
many: those whose contexts fit in its KV cache, by its /metrics, or one for each of its slots. There are fewer while
requests wait or cached prefixes are lost, and more while it has room. With --endpoint given again, further servers with
the same model take their share of the stories. A story stays at its server, whose cache has its prefix, and moves when
the server has failed twice in a row. What a story does depends on none of this. One that halts stops no other. The same
command resumes all, and the exit status is that of the worst: in the order 1, 2, 3, 130, 6, 5. With --router, requests
name their story by a hash to a router of servers. With --low-priority, the curator's questions and summaries wait for
scenes.

With --seed, a run begins with your entries: an export as JSON or YAML, a World Info book, a lorebook, a character card,
a table with a column "term", or a list with a name in each line. They are known from before the first scene, and are
locked: only you change them. With --seed-as hints, they are tentative until the story confirms them, and the model may
change them. Their facts are notes of yours: no page and no export says that the story told them. The same command
resumes the run.

With --parts N, N parts of about as many words each are read at once, cut at chapters. Each is a run with a window and
a database of its own, in a folder beside the database (book.parts). A part begins with the names that the offline
model finds in the text before it, as hints. Then the parts are joined in the story's order. The same command resumes
parts and join. Servers admit parts as they admit stories; one that does not tell its room gets all. With --seed, all
parts and their join begin with your entries. With --limit, the parts read that many scenes in all, in turn, and are
joined by a run that reads the last of them. With --part K, only part K is read, and nothing is joined: so parts can be
read on several machines. Once their databases are in the folder of one, a run without --part joins them.

Lines of --log-file and --events name the source if there are several stories or parts.

With --max-tokens-total, --max-cost or --until, a run begins no scene once a bound is reached, and ends with exit status
3. What earlier runs on the database have used counts, and so do probes. Several stories share the bounds, and so do
parts. The same command with a higher bound goes on.

The first interrupt finishes the current scene and stops; the second stops at once. The next run resumes in either
case.`

const runExamples = `  annotator run book.epub
  annotator run quest.jsonl --db /tmp/quest.annotator.db --limit 20
  annotator run corpus.db --endpoint http://localhost:8000/v1 --model qwen3-32b
  annotator run book.epub --from-snapshot 40 --db other.annotator.db
  annotator run book.epub --endpoint http://localhost:8000/v1 --record book.jsonl
  annotator run book.epub --replay book.jsonl --db again.annotator.db
  annotator run a.epub b.epub c.epub --endpoint http://localhost:8000/v1
  annotator run --stories-from books --endpoint http://one:8000/v1 --endpoint http://two:8000/v1
  annotator run book.epub --seed people.txt
  annotator run book.epub --seed lorebook.json --seed-as hints
  annotator run book2.epub --after book1.epub
  annotator run book.epub --endpoint http://localhost:8000/v1 --parts 8
  annotator run book.epub --endpoint http://localhost:8000/v1 --parts 8 --part 3
  annotator run book.epub --max-cost 5 --price-in 3 --price-cached 0.3 --price-out 15
  annotator run book.epub --endpoint http://localhost:8000/v1 --until 07:30
  annotator run --print-config`

func newRun(a *app) *cobra.Command {
	o := &runOptions{app: a, settings: newSettings(), hooks: &hooks{}}
	o.severalEndpoints = true
	cmd := &cobra.Command{
		Use:   "run SOURCE...",
		Short: "Annotate a story, or resume where the last run stopped",
		Long: longHelp(runHelp,
			exitMisused, exitHalted, exitQuarantined, exitNoCalls, exitInterrupted),
		Example: runExamples,
		Args:    arguments(0, unlimited),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.stories.sources = args
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.db, "db", "", "database `FILE`; empty: beside SOURCE, with its name")
	flags.StringVar(&o.corpus, "corpus", "", "`FILE` to import SOURCE into; empty: beside SOURCE, with its name")
	convertFlag(flags, &o.convert)
	reimportFlag(flags, &o.reimport)
	limitFlag(flags, &o.limit, 0, "maximum `SCENES` to read in this run; 0: all")
	countFlag(flags, &o.numParts, "parts", 1, 1, "read `N` parts of the story at once, and join them")
	countFlag(flags, &o.part, "part", 0, 0, "with --parts, read only part `K` of them; 0: all, and join them")
	o.branchFlags(flags)
	o.beginFlags(flags)
	o.stories.addTo(flags)
	o.commonFlags(flags)
	o.recording.addTo(flags)
	flags.BoolVar(&o.printConfig, "print-config", false, "print the settings and their sources, and exit")
	o.addTo(flags, flagNames(o.flags)...)
	return cmd
}

// branchFlags declares the flags of what a run goes on from.
func (o *runOptions) branchFlags(flags *pflag.FlagSet) {
	flags.Int64Var(&o.fromSnapshot, "from-snapshot", 0,
		"branch: continue in a new database from snapshot `N` of the existing one")
	atLeast(flags, &o.fromSnapshot, "from-snapshot", 0)
	flags.StringVar(&o.fromDB, "from-db", "", "database `FILE` to branch from; empty: the one beside SOURCE")
	flags.BoolVar(&o.noResume, "no-resume", false, "start a new database; the existing one is kept")
}

// beginFlags declares the flags of what a run begins with.
func (o *runOptions) beginFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.after, "after", "",
		"begin the next book of a series after `BOOK`, a story or the database of its run")
	flags.StringVar(&o.seed, "seed", "", "begin a new run with the entries of `FILE`")
	wordFlag(flags, &o.seedAs, "seed-as", []string{"locked", "hints"}, "locked",
		"`WHAT` the entries of the seed are: locked, or hints that the model may change")
}

// commonFlags declares the flags that run and retry have in common.
func (o *runOptions) commonFlags(flags *pflag.FlagSet) {
	wordsFlag(flags, &o.accept, "accept", []string{"model", "prompt", "counts"},
		"continue despite `CHANGES` since the run began: model, prompt; or despite a server that counts too few "+
			"tokens: counts")
	o.addressFlags(flags, "", "serve metrics for Prometheus and the health at this `ADDRESS` and port; empty: nowhere")
	o.hooks.addTo(flags)
	flags.BoolVar(&o.quiet, "quiet", false, "no progress; print only the path of the database")
	jsonFlag(flags, &o.json)
}

func (o *runOptions) run(ctx context.Context) error {
	if err := o.load(o.app); err != nil {
		return err
	}
	if err := o.checkParts(); err != nil {
		return err
	}
	if err := o.openRecording(); err != nil {
		return err
	}
	if o.printConfig {
		return o.print(o.app)
	}
	stop, err := o.serveMetrics(ctx)
	if err != nil {
		return err
	}
	defer stop()
	defer o.hooks.running.Wait()
	return o.annotateAll(ctx)
}

// annotateAll reads one story, one in parts, or several.
func (o *runOptions) annotateAll(ctx context.Context) error {
	if len(o.stories.sources) > 1 || o.stories.from != "" {
		if o.numParts > 1 {
			return annotator.Errorf(annotator.Misused, "--parts reads one story, and several were given").
				WithAdvice("run each by itself, or leave out --parts")
		}
		return o.annotateStories(ctx)
	}
	if o.source = strings.Join(o.stories.sources, ""); o.source == "" {
		return annotator.Errorf(annotator.Misused, "there is no story to read").
			WithAdvice("usage: annotator run SOURCE [flags]")
	}
	if err := requireSource(o.source); err != nil {
		return err
	}
	if o.numParts > 1 {
		return o.annotateParts(ctx)
	}
	return o.annotate(ctx)
}

// annotate opens corpus, database and endpoint, runs the state machine, and prints the summary.
func (o *runOptions) annotate(ctx context.Context) (err error) {
	if o.progress == nil {
		o.progress = newProgress(o.app, o.quiet, o.limit)
	}
	defer func() { o.reportHalt(err) }()
	o.bus.Subscribe(notify.Subscriber{
		Notice: o.progress.notice,
		Close:  func() error { o.progress.close(); return nil },
	})
	closeBus := sync.OnceValue(o.closeBus)
	open := closers{closeBus}
	defer func() { err = cmp.Or(err, open.close()) }()
	r, err := o.assemble(ctx, &open)
	if err != nil {
		return err
	}
	if o.Model == "" && o.Endpoint != offlineEndpoint && o.result == nil {
		o.bus.Subscribe(notify.Subscriber{Notice: func(n annotator.Notice) {
			if n.Kind == annotator.NoticeRun {
				o.progress.say("the model is " + r.Client.Model)
			}
		}})
	}
	if o.before != nil {
		if err := o.before(ctx, r.Store); err != nil {
			return err
		}
	}
	before, err := o.readBefore(ctx, r.Store)
	if err != nil {
		return err
	}
	began := o.now()
	err = o.adviseResume(o.runMachine(ctx, r, r.Run), r.Store.Path())
	o.misused = exitStatus(err) == exitMisused
	busErr := closeBus()
	if err != nil && busErr != nil {
		o.printError(busErr) // the other error determines the exit status
	}
	if err != nil && !endsWithSummary(annotator.KindOf(err)) && o.result == nil {
		return err
	}
	return cmp.Or(err, o.summarise(context.WithoutCancel(ctx), r.Store, &before, o.now().Sub(began)), busErr)
}

// adviseResume adds how to resume a stopped run if the same command would start another.
func (o *runOptions) adviseResume(err error, path string) error {
	e := (*annotator.Error)(nil)
	kind := annotator.KindOf(err)
	if o.fromSnapshot == 0 && !o.noResume || kind != annotator.Interrupted && kind != annotator.Bounded ||
		!errors.As(err, &e) {
		return err
	}
	return e.WithAdvice("resume it with `annotator run %s --db %s`", quoted(o.source), quoted(path))
}

// endsWithSummary reports whether the summary is printed after an error of a kind.
func endsWithSummary(kind annotator.Kind) bool {
	switch kind {
	case annotator.Quarantined, annotator.NoCalls, annotator.Interrupted, annotator.Bounded:
		return true
	}
	return false
}

// readBefore returns the status before this run, and passes the end times of its newest scenes to the progress.
func (o *runOptions) readBefore(ctx context.Context, db *storage.DB) (storage.RunStatus, error) {
	before, err := db.Run.Status(ctx)
	if annotator.KindOf(err) == annotator.NotFound {
		return storage.RunStatus{}, nil
	}
	if err != nil {
		return before, err
	}
	ends, err := db.Run.RecentEnds(ctx)
	o.progress.seed(ends)
	return before, err
}

// assemble opens the resources of a run, the cheap ones first: a wrong address is reported before an import begins.
func (o *runOptions) assemble(ctx context.Context, open *closers) (*runner.Runner, error) {
	identity, err := o.loadPrompts()
	if err != nil {
		return nil, err
	}
	if err := o.checkBranch(); err != nil {
		return nil, err
	}
	if err := o.checkLogFiles(); err != nil {
		return nil, err
	}
	if err := o.findBefore(ctx); err != nil {
		return nil, err
	}
	seed, err := o.readSeed()
	if err != nil {
		return nil, err
	}
	wire, err := o.openWire(ctx, open)
	if err != nil {
		return nil, err
	}
	if err := o.subscribeFiles(); err != nil {
		return nil, err
	}
	o.reportQuarantines()
	registry, err := tools.New(o.tools()...)
	if err != nil {
		return nil, err
	}
	if names := o.withheld(); len(names) > 0 {
		o.progress.say("the policy permits no intent to call " + strings.Join(names, ", ") + "; the model is " +
			"not given these tools")
	}
	source, err := o.openCorpus(ctx, open)
	if err != nil {
		return nil, err
	}
	store, err := o.openDatabase(ctx, open, source)
	if err != nil {
		return nil, err
	}
	config := o.runConfig(identity)
	config.Seed = cmp.Or(seed, o.begin)
	if err := o.acceptBook(ctx, store, source, &config); err != nil {
		return nil, err
	}
	r := runner.New(config, store, source, wire, registry, &o.bus)
	if o.place != nil {
		r.Turn = o.place.Turn
	}
	return r, o.attach(r)
}

// runConfig returns the configuration of the runner.
func (o *runOptions) runConfig(identity prompt.Identity) runner.Config {
	config := o.runner()
	config.Identity, config.Limit, config.Accept = identity, o.limit, map[string]bool{}
	for _, change := range o.accept {
		config.Accept[change] = true
	}
	if o.recording.replayer != nil { // there is no server to test or to wait for
		config.Preflight, config.Retry.Base, config.Retry.Max, config.Retry.Patience = false, 0, 0, 0
	}
	return config
}

// subscribeFiles makes the log and the file of events subscribers of the run.
func (o *runOptions) subscribeFiles() error {
	onFailure := func(err error) { o.progress.say(oneLine(advise(err).Error())) }
	source := ""
	if o.fleet != nil {
		source = o.source
	}
	for _, file := range []struct {
		path string
		open func(path, source string, onFailure func(error)) (notify.Subscriber, error)
	}{{o.LogFile, openLog}, {o.Events, openEvents}} {
		if file.path == "" {
			continue
		}
		subscriber, err := file.open(file.path, source, onFailure)
		if err != nil {
			return err
		}
		o.bus.Subscribe(subscriber)
	}
	return nil
}
