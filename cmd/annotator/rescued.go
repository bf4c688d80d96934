package main

import (
	"context"
	"fmt"
	"slices"

	"annotator"
	"annotator/storage"
)

// resumable is an existing database with the progress of its run.
type resumable struct {
	path   string
	corpus string // hash
	turn   int64
}

// resumeRescued returns the database to resume: the one at path, or its rescued copy if path does not exist. If the
// copy has more turns than the file at path, the user must choose: the error is of kind Misused.
func (o *runOptions) resumeRescued(ctx context.Context, path string) (string, error) {
	copies := rescuedCopies(ctx, path)
	if len(copies) == 0 {
		return path, nil
	}
	newest := slices.MaxFunc(copies, func(a, b resumable) int { return int(a.turn - b.turn) })
	if !exists(path) {
		o.progress.say(fmt.Sprintf("%s is gone; the run continues in %s, where all that was recorded is", path,
			newest.path))
		return newest.path, nil
	}
	present := resumableAt(ctx, path)
	if present.turn >= newest.turn || present.corpus != "" && present.corpus != newest.corpus {
		return path, nil
	}
	return "", annotator.Errorf(annotator.Misused,
		"%s has %d turns of this run, and %s, which was rescued from it, has %d",
		path, present.turn, newest.path, newest.turn).
		WithAdvice("continue with --db %s, or move it away to continue with %s", quoted(newest.path), path)
}

// rescuedCopies returns the rescued copies of a database, and the copies of these.
func rescuedCopies(ctx context.Context, path string) (copies []resumable) {
	for path += storage.RescuedSuffix; exists(path); path += storage.RescuedSuffix {
		copies = append(copies, resumableAt(ctx, path))
	}
	return copies
}

// resumableAt reads the progress of a run. It is 0 for a file without a readable run.
func resumableAt(ctx context.Context, path string) resumable {
	r := resumable{path: path}
	db, err := storage.Open(ctx, path)
	if err != nil {
		return r
	}
	defer func() { _ = db.Close() }()
	if run, err := db.Run.Status(ctx); err == nil {
		r.corpus, r.turn = run.Corpus.Hash, run.Turn
	}
	return r
}
