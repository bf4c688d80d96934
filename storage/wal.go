package storage

import (
	"context"
	"time"

	"annotator/internal/sqlite"
)

// walPages is the size from which CheckpointWAL copies the log. SQLite itself would copy it during some commit.
const walPages = 4000

// walAge is the time after which CheckpointWAL copies a log of any size. A file that is moved or copied without its log
// lacks at most the changes of this time.
const walAge = 10 * time.Second

// CheckpointWAL copies a write-ahead log that is long or old into the database file. The next transaction then starts
// the log over. It does not wait for readers: what they still need stays in the log. It returns the number of pages
// that stay.
func (s *Maintenance) CheckpointWAL(ctx context.Context) (left int, err error) {
	ctx = context.WithoutCancel(ctx)
	var busy, log, moved int
	err = s.db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &log, &moved)
	if err != nil || log < walPages && s.db.now().Sub(s.db.writtenBack) < walAge {
		return 0, sqlite.Wrap(err, "checkpoint the write-ahead log of %s", s.db.path)
	}
	return s.db.writeBack(ctx)
}

// writeBack copies the log into the database file, and then marks the file. See mark. ctx does not cancel it: a file
// that is marked alone would be taken for one without its log.
func (db *DB) writeBack(ctx context.Context) (left int, err error) {
	ctx = context.WithoutCancel(ctx)
	if err := db.checkFiles(ctx); err != nil {
		return 0, err
	}
	former, err := readMark(ctx, db.write, db.path)
	if err != nil {
		return 0, err
	}
	all, left, err := db.copyLog(ctx)
	if err != nil || !all {
		return left, err
	}
	db.writtenBack = db.now()
	return db.markFile(ctx, former)
}

// markFile marks the file, and then the log that follows it.
func (db *DB) markFile(ctx context.Context, former mark) (left int, err error) {
	db.noteMarking()
	marked := former.next()
	if err := db.setMark(ctx, marked); err != nil {
		return 0, err
	}
	all, left, err := db.copyLog(ctx)
	if err != nil {
		return left, err // the note stays: see noteMarking
	}
	last := former // where a reader came between, the file stays as it was marked
	if all {
		last = marked
		last.follows = false
	}
	if err := db.setMark(ctx, last); err != nil {
		return left, err
	}
	db.noteMarked()
	return left, nil
}

// copyLog copies what no reader needs, and reports whether that was all, and else how many pages stay.
func (db *DB) copyLog(ctx context.Context) (all bool, left int, err error) {
	var busy, log, moved int
	err = db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &log, &moved)
	return busy == 0 && log == moved, log - moved, sqlite.Wrap(err, "checkpoint the write-ahead log of %s", db.path)
}
