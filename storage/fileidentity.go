package storage

import (
	"context"
	"os"
	"path/filepath"

	"annotator"
)

// fileIdentity are the files of an open database, by where they were when it was opened. Left to itself, a program goes on writing to a
// file that somebody has deleted or moved, and all of it is gone when it ends.
type fileIdentity map[string]os.FileInfo

// look finds the files: the database, its log, and the log's index, which stand beside the file itself, not beside a link.
func identify(path string) (fileIdentity, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	files := fileIdentity{}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if files[name], err = os.Stat(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// changed names a file that is no longer where it was, or "".
func (s fileIdentity) changed() string {
	for name, file := range s {
		if now, err := os.Stat(name); err != nil || !os.SameFile(file, now) {
			return name
		}
	}
	return ""
}

// rescuedEnd is the end of the name that a database gets whose file was taken away.
const rescuedSuffix = ".rescued"

// checkFiles returns an error once one of the files was taken away. What the database held is still there for this process, and for no
// other: it is copied to a new file first.
func (db *DB) checkFiles(ctx context.Context) error {
	if db.lost != nil {
		return db.lost
	}
	name := db.files.changed()
	if name == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	rescued := db.path + rescuedSuffix
	taken := annotator.Errorf(annotator.Storage, "%s was deleted, moved or replaced while the database was open", name)
	db.lost = taken.WithAdvice("all that was recorded is in %[1]s: run again with --db %[1]s", rescued)
	// The writer has been open all the time. A reader may have been opened since, on what stands in the file's place now.
	if err := db.backup(ctx, db.write, rescued); err != nil {
		db.lost = annotator.Errorf(annotator.Storage, "%w, and cannot be copied: %w", taken, err).
			WithAdvice("if it was moved, move it back, or else put a backup in its place; then run again")
	}
	// The log goes where it belongs, wherever that is now. SQLite would take what is left of it for the log of the file that stands there
	// next.
	_, _ = db.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return db.lost
}
