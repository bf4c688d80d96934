// Package corpus reads a story from a SQLite file, scene by scene, and creates such files.
//
// A corpus has four tables: thread, post, tag (the kind of a post) and link (which post quotes which). They are
// modelled on a forum. A chapter of a book is a thread, and each of its scenes a post. Only posts tagged
// annotator.TagStory belong to the story. A scene is a contiguous run of them in a thread.
//
// A corpus may come from another program. It is opened read-only and never changed. Missing columns read as empty. Text
// is returned as valid UTF-8 without NUL: each run of other bytes becomes U+FFFD.
package corpus

import (
	"cmp"
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

// connections is the number of concurrent readers. A walk over the scenes uses one until it ends.
const connections = 4

// DB is an open corpus. Its methods may be called from several goroutines.
type DB struct {
	pool   reader
	path   string
	shape  shape
	recent recent
}

// Open opens the corpus at path for reading. A missing file is annotator.NotFound. A database without the tables or
// columns of a corpus is annotator.Misused, and the error names them.
func Open(ctx context.Context, path string) (*DB, error) {
	pool, err := sqlite.Open(ctx, path, sqlite.ReadOnlyAny, connections)
	if err != nil {
		return nil, openError(err, path)
	}
	s, err := inspect(ctx, pool, path)
	views, viewErr := hasViews(ctx, pool)
	if err := cmp.Or(err, viewErr); err != nil {
		_ = pool.Close()
		return nil, err
	}
	r := reader{DB: pool, path: path}
	if views {
		r.limit = viewTime
	}
	return &DB{pool: r, path: path, shape: s}, nil
}

// openError adds advice for a database in WAL mode in a read-only folder: its readers must create a -shm file there.
func openError(err error, path string) error {
	if !sqlite.IsUnwritable(err) && !sqlite.NeedsRecovery(err) {
		return err
	}
	cause := err
	if e := (*annotator.Error)(nil); errors.As(err, &e) {
		cause = e.Err // without its advice, which is for a database that is written
	}
	return annotator.Errorf(annotator.Misused, "read the corpus: %w", cause).
		WithAdvice("check that you may read %s; if it is in WAL mode and its folder cannot be written, copy it to "+
			"one that can", path)
}

// Close closes the file.
func (db *DB) Close() error { return sqlite.Wrap(db.pool.Close(), "close the corpus %s", db.path) }

// Title returns the title that the importer recorded, else the file's name without extension.
func (db *DB) Title(ctx context.Context) (string, error) {
	title, err := db.Meta(ctx, MetaTitle)
	if title == "" {
		title = filepath.Base(db.path)
		title = strings.TrimSuffix(strings.TrimSuffix(title, filepath.Ext(title)), ".corpus")
	}
	return title, err
}

// Meta returns the value that the importer recorded under a key, or "".
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

// Identity returns a fingerprint that changes when the file changes. It consists of the size, the modification time in
// nanoseconds and SQLite's change counter. It also has the size and time of a write-ahead log that is not empty. It
// does not read the content. A copy of the file has another fingerprint.
func (db *DB) Identity(ctx context.Context) (string, error) {
	info, err := os.Stat(db.path)
	if err != nil {
		return "", annotator.Errorf(annotator.Storage, "look at the corpus %s: %w", db.path, err)
	}
	var counter []byte
	// The counter is read through SQLite: closing another descriptor of the file would release the locks of this
	// process.
	err = db.pool.QueryRowContext(ctx, `SELECT substr(data, 25, 4) FROM sqlite_dbpage WHERE pgno = 1`).Scan(&counter)
	if err != nil {
		return "", sqlite.Wrap(err, "read the header of the corpus %s", db.path)
	}
	identity := fmt.Sprintf("%d-%d-%x", info.Size(), info.ModTime().UnixNano(), counter)
	if wal, err := os.Stat(db.path + "-wal"); err == nil && wal.Size() > 0 {
		identity += fmt.Sprintf("-%d-%d", wal.Size(), wal.ModTime().UnixNano())
	}
	return identity, nil
}

// Path returns the path of the file.
func (db *DB) Path() string { return db.path }
