package storage

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"annotator"
)

// fileIdentity holds the files of an open database by path: what is written to a deleted file is lost when it is
// closed.
type fileIdentity map[string]os.FileInfo

// logSuffix ends the name of a write-ahead log.
const logSuffix = "-wal"

// identify finds the database itself, its log, and the log's index. They are in the folder of the file, not in that of
// a link to it.
func identify(path string) (fileIdentity, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	files := fileIdentity{}
	for _, name := range []string{path, path + logSuffix, path + "-shm"} {
		if files[name], err = os.Stat(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Replaced reports whether there is another file, or none, at the path that the database was opened at. Connections
// that are open still read the former file, and new ones would read another.
func (db *DB) Replaced() bool { return db.files.changed() != "" }

// log returns the path of the write-ahead log; "" of a reader's files.
func (s fileIdentity) log() string {
	for name := range s {
		if strings.HasSuffix(name, logSuffix) {
			return name
		}
	}
	return ""
}

// changed returns the path of a file that is gone or replaced, or "".
func (s fileIdentity) changed() string {
	for name, file := range s {
		if now, err := os.Stat(name); err != nil || !os.SameFile(file, now) {
			return name
		}
	}
	return ""
}

// RescuedSuffix ends the name of the copy of a database whose file was deleted, moved or replaced. The copy has it
// twice if there is such a copy already.
const RescuedSuffix = ".rescued"

// checkFiles returns an error once a file of the database was deleted, moved or replaced. Only this process can still
// read what the database held, so it is copied to a new file first.
func (db *DB) checkFiles(ctx context.Context) error {
	if db.lost != nil {
		return db.lost
	}
	name := db.files.changed()
	if name == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	lost := annotator.Errorf(annotator.Storage, "%s was deleted, moved or replaced while the database was open", name)
	rescued, err := db.rescue(ctx)
	db.lost = lost.WithReason(annotator.ReasonRescued, rescued)
	if err != nil {
		db.lost = annotator.Errorf(annotator.Storage, "%w, and cannot be copied: %w", lost, err).
			WithAdvice("if it was moved, move it back, or else put a backup in its place; then run again")
	}
	// Empty the log: SQLite would take what is left in it for the log of the file that is at this path next.
	_, _ = db.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return db.lost
}

// rescue copies the database and returns the path of the copy. The copy is in the database's folder. If that is gone or
// read-only, it is in the nearest folder above it, or in the one for temporary files.
func (db *DB) rescue(ctx context.Context) (path string, err error) {
	var first error
	for _, path := range db.rescuePlaces() {
		for checkAbsent(path) != nil {
			path += RescuedSuffix
		}
		// The writer has the original file open. A reader may have opened the file that is in its place now.
		err := db.backup(ctx, db.write.DB, path)
		if err == nil {
			return path, nil
		}
		first = cmp.Or(first, err)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			break
		}
	}
	return "", first
}

// rescuePlaces returns the paths at which a copy may be made, the best first. A relative path cannot be used once the
// working folder is gone, even if another folder has its name.
func (db *DB) rescuePlaces() []string {
	name := filepath.Base(db.path) + RescuedSuffix
	places := []string{db.path + RescuedSuffix}
	for folder := filepath.Dir(db.absolute); ; folder = filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			places = append(places, filepath.Join(folder, name))
			break
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	return append(places, filepath.Join(os.TempDir(), name))
}
