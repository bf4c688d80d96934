package main

import (
	"context"
	"slices"
	"strconv"

	"annotator"
	"annotator/storage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// retryOptions are what `annotator retry` is told: what run is told, but for the story, which the database knows.
type retryOptions struct {
	runOptions
	scenes []int
}

func newRetry(a *app) *cobra.Command {
	o := &retryOptions{runOptions: runOptions{app: a}}
	settings := o.config.settings()
	cmd := &cobra.Command{
		Use:   "retry [SCENE]...",
		Short: "Put quarantined scenes back to be read, and go on with the run",
		Long: described(`
Put quarantined scenes back to be read, those of the given numbers or all, and go on with the run as run does. They are read
first, with all in mind that is known by now; what they tell is dated to where they stand in the story. What they were quarantined
for stays on record. `+"`annotator status`"+` names them and says why.

The endpoint is the run's own where none is named; the other settings come from where run has them.`,
			exitMisused, exitHalted, exitQuarantined, exitInterrupted),
		Example: `  annotator retry
  annotator retry 12 40 --db book.annotator.db
  annotator retry --endpoint http://localhost:8000/v1 --model larger --accept model`,
		Args: arguments(0, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), settings, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	databaseFlag(flags, &o.db)
	flags.StringVar(&o.corpus, "corpus", autoCorpus, "`FILE` that the run was made from; auto: where it was then, or beside the database")
	configFlag(flags, &o.configPath)
	flags.IntVar(&o.limit, "limit", 0, "read at most so many `SCENES`; 0: all that are left")
	o.acceptFlag(flags)
	flags.BoolVar(&o.quiet, "quiet", false, "no progress; print only the database's path")
	settings.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(importSettings[:], f.Name) {
			flags.AddFlag(f)
		}
	})
	return cmd
}

// importSettings are of use only where a story is imported.
var importSettings = [...]string{"format", "encoding", "scene-tokens"}

func (o *retryOptions) run(ctx context.Context, settings *pflag.FlagSet, args []string) error {
	for _, arg := range args {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return annotator.Errorf(annotator.Misused, "%q is not the number of a scene", arg).WithAdvice("`annotator status` names the quarantined scenes")
		}
		o.scenes = append(o.scenes, n)
	}
	var err error
	if o.db, err = findDatabase(o.db); err != nil {
		return err
	}
	if err := withDatabase(ctx, o.db, func(db *storage.DB) error { return o.remember(ctx, db, settings) }); err != nil {
		return err
	}
	if o.key, err = o.settle(&o.config, settings, o.configPath); err != nil {
		return err
	}
	o.before = o.putBack
	return o.annotate(ctx)
}

// remember takes in what the database knows of its run: where it was asked, and what it read.
func (o *retryOptions) remember(ctx context.Context, db *storage.DB, settings *pflag.FlagSet) error {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return err
	}
	if !settings.Changed("endpoint") {
		o.config.Endpoint = run.Endpoint // environment and file count over it
	}
	if o.source = o.corpus; o.source == autoCorpus {
		o.source = corpusOfRun(&run, db.Path())
	}
	if o.source == "" || !exists(o.source) {
		return annotator.Errorf(annotator.NotFound, "the corpus that the run was made from is not at %s any more", run.Corpus.Path).
			WithAdvice("name it with --corpus")
	}
	return nil
}

// putBack comes before the first scene is read.
func (o *retryOptions) putBack(ctx context.Context, db *storage.DB) error {
	n, err := db.Scenes.Retry(ctx, o.scenes...)
	if err == nil && n == 0 {
		o.progress.say("no scene is quarantined")
	} else if err == nil {
		o.progress.say(count(n, "scene") + " put back to be read")
	}
	return err
}
