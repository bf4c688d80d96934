package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	begun := o.bookIsBegun()
	path, err := runOf(ctx, o.after)
	if begun && annotator.KindOf(err) == annotator.NotFound {
		return nil // its copy is all that is needed
	}
	if err != nil {
		return err
	}
	o.after = path
	return withDatabase(ctx, path, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		if err != nil {
			return err
		}
		o.former.title, o.former.corpus = run.Corpus.Title, corpusOfRun(&run, path)
		if begun {
			return nil
		}
		if left := run.Corpus.Scenes - run.Recorded - run.Quarantined; left > 0 {
			return storage.UnfinishedBook(path, left)
		}
		if o.former.corpus == "" {
			return annotator.Errorf(annotator.NotFound, "the corpus of %s is neither at %s nor beside it", path,
				run.Corpus.Path).WithAdvice("put it back beside the database")
		}
		return nil
	})
}

// bookIsBegun reports whether the corpus and the database of the next book are there.
func (o *runOptions) bookIsBegun() bool {
	return !o.noResume && exists(o.databasePath()) && exists(cmp.Or(o.corpus, corpusOf(o.source)))
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
	case o.after != "" && !o.follows(&series):
		return annotator.Errorf(annotator.Misused, "%s follows %q, and not %q", db.Path(), series.After,
			cmp.Or(o.former.title, o.after)).
			WithAdvice("leave --after out to resume, or name another file with --corpus, and another with --db")
	}
	o.series = series
	return nil
}

// follows reports whether the book before is the one that --after names. If its run is gone, the name of its corpus
// has to do.
func (o *runOptions) follows(series *corpus.Series) bool {
	if o.former.title != "" {
		return series.After == o.former.title
	}
	name := corpusOf(o.after)
	if stem, isRun := strings.CutSuffix(o.after, ".annotator.db"); isRun {
		name = stem + ".corpus.db"
	}
	return series.Corpus == filepath.Base(name)
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
func (o *runOptions) acceptBook(ctx context.Context, db *storage.DB, story *corpus.DB, config *runner.Config) error {
	if o.series.Book == 0 {
		return nil
	}
	run, err := db.Run.Status(ctx)
	if err != nil {
		return err
	}
	last, err := db.Scenes.LastRead(ctx)
	if err != nil {
		return err
	}
	threads, err := story.Threads(ctx)
	at := func(thread int64) int {
		return slices.IndexFunc(threads, func(t annotator.Thread) bool { return t.ID == thread })
	}
	if err == nil && run.OpenScene == 0 && at(last.Thread.ID) <= at(o.series.Last) {
		config.Accept["model"], config.Accept["prompt"] = true, true
	}
	return err
}
