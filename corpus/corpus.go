// Package corpus reads a story out of a SQLite file, scene by scene, and makes such files.
//
// A corpus has four tables: thread, post, tag (what a post is) and link (which post quotes which). A forum's threads fit it as
// they are; a book's chapter is a thread and each scene of it a post. Only posts tagged annotator.TagStory tell the story:
// a scene is a contiguous run of them within one thread.
//
// A corpus is somebody else's file. It is opened read-only and never changed, columns that it lacks are read as empty, and
// its text is handed out as valid UTF-8 without NUL: each run of bytes that is neither becomes U+FFFD.
package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"annotator"
	"annotator/internal/sqlite"
)

// connections is how many readers work side by side: a walk holds one for as long as it lasts.
const connections = 4

// DB is an open corpus. Its methods may be called from several goroutines.
type DB struct {
	pool  *sql.DB
	path  string
	shape shape
}

// Open opens the corpus at path, read-only. A file that is not there is annotator.NotFound; a database that lacks the
// tables or columns of a corpus is annotator.Misused, and the error names them.
func Open(ctx context.Context, path string) (*DB, error) {
	pool, err := sqlite.Open(ctx, path, sqlite.ReadOnly, connections)
	if err != nil {
		return nil, openError(err, path)
	}
	form, err := inspect(ctx, pool, path)
	if err != nil {
		_ = pool.Close()
		return nil, err
	}
	return &DB{pool: pool, path: path, shape: form}, nil
}

// openError knows one case more than the driver does: readers of a write-ahead log share an index of it in a file beside the
// database, for which there is no place in a folder that cannot be written.
func openError(err error, path string) error {
	const readOnly, cannotOpen = 8, 14
	if code := sqlite.Code(err) & 0xff; code != readOnly && code != cannotOpen {
		return err
	}
	return annotator.Errorf(annotator.Misused, "open the corpus %s: %w", path, err).
		WithAdvice("if it is in WAL mode and its folder cannot be written, copy it to one that can")
}

// Close releases the file.
func (db *DB) Close() error { return sqlite.Wrap(db.pool.Close(), "close the corpus %s", db.path) }

// Title returns the story's title as its importer recorded it, else the file's name without extension.
func (db *DB) Title(ctx context.Context) (string, error) {
	title, err := db.Meta(ctx, MetaTitle)
	if title == "" {
		title = filepath.Base(db.path)
		title = strings.TrimSuffix(strings.TrimSuffix(title, filepath.Ext(title)), ".corpus")
	}
	return title, err
}

// Meta returns what the corpus' importer recorded under a key, or "" where there is nothing.
func (db *DB) Meta(ctx context.Context, key string) (string, error) {
	if !db.shape.meta {
		return "", nil
	}
	var value string
	err := db.pool.QueryRowContext(ctx, `SELECT ifnull(value, '') FROM meta WHERE key = ?`, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return clean(value), sqlite.Wrap(err, "read %s of the corpus %s", key, db.path)
}

// Identity returns a fingerprint that changes when the file does: its size, its time of modification in nanoseconds,
// SQLite's change counter, and the same of a write-ahead log that holds something. It costs no reading of the content,
// and a copy of the file has another one.
func (db *DB) Identity(ctx context.Context) (string, error) {
	info, err := os.Stat(db.path)
	if err != nil {
		return "", annotator.Errorf(annotator.Storage, "look at the corpus %s: %w", db.path, err)
	}
	counter, err := db.changeCounter(ctx)
	if err != nil {
		return "", err
	}
	identity := fmt.Sprintf("%d-%d-%x", info.Size(), info.ModTime().UnixNano(), counter)
	if wal, err := os.Stat(db.path + "-wal"); err == nil && wal.Size() > 0 {
		identity += fmt.Sprintf("-%d-%d", wal.Size(), wal.ModTime().UnixNano())
	}
	return identity, nil
}

// changeCounter asks SQLite for the bytes rather than the file: opening and closing a database by hand drops the locks
// that this process holds on it.
func (db *DB) changeCounter(ctx context.Context) ([]byte, error) {
	var counter []byte
	err := db.pool.QueryRowContext(ctx, `SELECT substr(data, 25, 4) FROM sqlite_dbpage WHERE pgno = 1`).Scan(&counter)
	return counter, sqlite.Wrap(err, "read the header of the corpus %s", db.path)
}

// Path returns where the file is.
func (db *DB) Path() string { return db.path }
