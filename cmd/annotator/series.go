package main

import (
	"cmp"
	"context"
	"fmt"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/runner"
	"annotator/storage"
)

// findBefore finds the run and the corpus of the book that --after names.
func (o *runOptions) findBefore(ctx context.Context) error {
	if o.after == "" {
		return nil
	}
	if o.fromSnapshot != 0 {
		return annotator.Errorf(annotator.Misused, "--after begins a book, --from-snapshot goes on within one").
			WithAdvice("leave out one of them")
	}
	if ingest.IsDatabase(o.source) {
		return annotator.Errorf(annotator.Misused, "%s is a corpus, and no book is added to another as one", o.source).
			WithAdvice("name the file that it was imported from")
	}
	var err error
	if o.after, err = runOf(ctx, o.after); err != nil {
		return err
	}
	return withDatabase(ctx, o.after, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		if err != nil {
			return err
		}
		begins := o.noResume || !exists(cmp.Or(o.db, databaseOf(o.source)))
		if left := run.Corpus.Scenes - run.Recorded - run.Quarantined; begins && left > 0 {
			return storage.UnfinishedBook(o.after, left)
		}
		o.former.title = run.Corpus.Title
		if o.former.corpus = corpusOfRun(&run, o.after); o.former.corpus == "" {
			return annotator.Errorf(annotator.NotFound, "the corpus of %s is neither at %s nor beside it", o.after,
				run.Corpus.Path).WithAdvice("put it back beside the database")
		}
		return nil
	})
}

// checkSeries checks that a corpus is of the book that the command asks for: after another one, or on its own.
func (o *runOptions) checkSeries(ctx context.Context, db *corpus.DB) error {
	series, err := db.Series(ctx)
	switch {
	case err != nil:
		return err
	case o.after != "" && series.Book == 0:
		return annotator.Errorf(annotator.Misused, "%s was imported as a book of its own", db.Path()).
			WithAdvice("name another file with --corpus, and another with --db")
	case o.after != "" && series.After != o.former.title:
		return annotator.Errorf(annotator.Misused, "%s follows %q, and not %q", db.Path(), series.After,
			o.former.title).
			WithAdvice("leave --after out to resume, or name another file with --corpus, and another with --db")
	}
	o.series = series
	return nil
}

// continueBook makes the database of the next book out of that of the book before. A run of a series has no other
// beginning.
func (o *runOptions) continueBook(ctx context.Context, path, title string) error {
	switch {
	case exists(path) || o.series.Book == 0:
		return nil
	case o.after == "":
		return annotator.Errorf(annotator.Misused, "%s is book %d of a series, and no run has begun it", title,
			o.series.Book).WithAdvice("name the run of %s with --after", o.series.After)
	}
	err := untilSignal(ctx, func(ctx context.Context) error { return storage.Continue(ctx, o.after, path, title) })
	if err == nil {
		o.progress.say(fmt.Sprintf("%s is kept; this run goes on from its end, with book %d", o.after, o.series.Book))
	}
	return err
}

// acceptBook accepts another model and another prompt while no scene of a next book is begun.
func (o *runOptions) acceptBook(ctx context.Context, db *storage.DB, config *runner.Config) error {
	if o.after == "" {
		return nil
	}
	run, err := db.Run.Status(ctx)
	if err != nil {
		return err
	}
	if run.OpenScene == 0 && run.Recorded+run.Quarantined == run.Corpus.Scenes {
		config.Accept["model"], config.Accept["prompt"] = true, true
	}
	return nil
}
