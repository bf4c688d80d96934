package storage

import (
	"cmp"
	"context"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// Continue creates a database at out with all of the one at path. A run goes on in it with the next book of a series,
// which has a title. The database at path does not change. The error is annotator.Misused if its run has scenes
// to read, or if there is a file at out.
func Continue(ctx context.Context, path, out, title string) error {
	if err := checkAbsent(out); err != nil {
		return err
	}
	db, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	err = db.derive(ctx, out, func(copied string) error { return nameBook(ctx, copied, path, title) })
	return sqlite.Wrap(err, "continue %s in %s", path, out)
}

// UnfinishedBook is the error for a book, with the run at a path, that has scenes left to read.
func UnfinishedBook(path string, left int) error {
	return annotator.Errorf(annotator.Misused, "the book before is not read to its end: %s left in %s",
		annotator.Quantity(left, "scene"), path).WithReason(annotator.ReasonUnfinishedBook)
}

// nameBook gives a copy of a finished run the title of the next book.
func nameBook(ctx context.Context, copied, path, title string) error {
	pool, err := openWriter(ctx, copied)
	if err != nil {
		return err
	}
	err = transact(ctx, pool, time.Now, func(tx *tx) {
		var left int
		tx.scan([]any{&left}, `SELECT count(*) FROM scene WHERE state IN ('pending', 'open')
			OR n = (SELECT open_scene FROM run_state)`)
		if tx.err == nil && left > 0 {
			tx.fail(UnfinishedBook(path, left))
		}
		tx.execOne(`UPDATE run_state SET title = ?, holder = '', halted = ''`, title)
	})
	return cmp.Or(err, pool.Close())
}
