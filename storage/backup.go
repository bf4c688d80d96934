package storage

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"annotator"
	"annotator/internal/sqlite"
)

// Backup writes a compact copy of the database to a new file. Others may read and write meanwhile. An existing file is Misused, and
// not touched.
func (s *Maintenance) Backup(ctx context.Context, out string) error {
	return s.db.backup(ctx, s.db.read, out)
}

// backup is Backup through the connections of a pool. The connection that it uses is read-only afterwards.
func (db *DB) backup(ctx context.Context, pool *sql.DB, out string) error {
	if err := checkAbsent(out); err != nil {
		return err
	}
	partial := filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".partial")
	if err := os.Remove(partial); err != nil && !os.IsNotExist(err) {
		return annotator.Errorf(annotator.Misused, "clear the way for a backup: %w", err)
	}
	if err := createPrivate(partial); err != nil {
		return annotator.Errorf(annotator.Misused, "back up to %s: its folder cannot be written", out).WithAdvice("choose another place")
	}
	defer func() { _ = os.Remove(partial) }()
	if err := vacuumInto(ctx, pool, partial); err != nil {
		return sqlite.Wrap(err, "back up %s to %s", db.path, out)
	}
	if err := sync(partial); err != nil {
		return annotator.Errorf(annotator.Storage, "back up to %s: %w", out, err)
	}
	if err := publish(partial, out); err != nil {
		return annotator.Errorf(annotator.Misused, "back up to %s: %w", out, err).WithAdvice("choose another place")
	}
	return nil
}

func checkAbsent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return annotator.Errorf(annotator.Misused, "%s exists", path).WithAdvice("choose a name that is not taken")
	}
	return nil
}

// vacuumInto copies the database. SQLite counts the copy as a write, which query_only forbids.
func vacuumInto(ctx context.Context, pool *sql.DB, path string) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, `PRAGMA query_only = 0`); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `VACUUM INTO ?`, path)
	_, back := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA query_only = 1`)
	return errors.Join(err, back)
}

// publish renames a file. It creates the new name first: a rename alone would replace an existing file, and not every file system
// has links.
func publish(partial, out string) error {
	taken, err := os.OpenFile(out, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(taken.Close(), os.Rename(partial, out)); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	return sync(filepath.Dir(out))
}

func sync(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
