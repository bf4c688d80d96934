package main

import (
	"context"
	"strconv"

	"annotator"
	"annotator/storage"

	"github.com/spf13/cobra"
)

func newRetry(a *app) *cobra.Command {
	o := &runOptions{app: a, settings: newSettings(), hooks: &hooks{}}
	cmd := &cobra.Command{
		Use:   "retry [SCENE]...",
		Short: "Retry quarantined scenes, and resume the run",
		Long: longHelp(`
Retry the quarantined scenes with the given numbers, or all of them, and resume the run. They are read first, with
everything known by now; what they tell is dated to their place in the story. The reason for the quarantine stays on
record. The status command lists quarantined scenes and reasons.

The default endpoint is the run's own. The other settings come from the same places as those of run.`,
			exitMisused, exitHalted, exitQuarantined, exitNoCalls, exitInterrupted),
		Example: `  annotator retry
  annotator retry 12 40 --db book.annotator.db
  annotator retry --endpoint http://localhost:8000/v1 --model larger --accept model`,
		Args: arguments(0, unlimited),
		RunE: func(cmd *cobra.Command, args []string) error { return o.retry(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	corpusFlag(flags, &o.corpus, "corpus `FILE` to read")
	limitFlag(flags, &o.limit, 0, "maximum `SCENES` to read; 0: all that are left")
	o.commonFlags(flags)
	o.addTo(flags, without(flagNames(o.flags), importSettings[:])...)
	return cmd
}

func (o *runOptions) retry(ctx context.Context, args []string) (err error) {
	scenes := make([]int, len(args))
	for i, arg := range args {
		if scenes[i], err = strconv.Atoi(arg); err != nil || scenes[i] < 1 {
			return annotator.Errorf(annotator.Misused, "%q is not the number of a scene", arg).
				WithAdvice("`annotator status` lists the quarantined scenes")
		}
	}
	if o.db, err = findDatabase(o.db); err != nil {
		return err
	}
	if err := withDatabase(ctx, o.db, func(db *storage.DB) error { return o.useRun(ctx, db) }); err != nil {
		return err
	}
	if err := o.load(o.app); err != nil {
		return err
	}
	o.before = func(ctx context.Context, db *storage.DB) error { return o.requeue(ctx, db, scenes) }
	stop, err := o.serveMetrics(ctx)
	if err != nil {
		return err
	}
	defer stop()
	defer o.hooks.running.Wait()
	return o.annotate(ctx)
}

// useRun sets the corpus and the default endpoint from the database.
func (o *runOptions) useRun(ctx context.Context, db *storage.DB) error {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return err
	}
	if !o.flags.Changed("endpoint") {
		o.Endpoint = run.Endpoint
	}
	if o.source = o.corpus; o.source == autoCorpus {
		o.source = corpusOfRun(&run, db.Path())
	}
	if o.source == "" || !exists(o.source) {
		return annotator.Errorf(annotator.NotFound, "the corpus of the run is no longer at %s", run.Corpus.Path).
			WithAdvice("name it with --corpus")
	}
	return nil
}

// requeue queues quarantined scenes. It runs before the first scene.
func (o *runOptions) requeue(ctx context.Context, db *storage.DB, scenes []int) error {
	n, err := db.Scenes.Retry(ctx, scenes...)
	if err == nil && n == 0 {
		o.progress.say("no scene is quarantined")
	} else if err == nil {
		o.progress.say(annotator.Quantity(n, "scene") + " queued for retry")
	}
	return err
}
