package storage

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"annotator"
	"annotator/internal/atomicfile"
	"annotator/internal/sqlite"
)

// Backup writes a compact copy of the database, also while others use it. An existing file is Misused, and kept.
func (s *Maintenance) Backup(ctx context.Context, out string) error {
	return s.db.backup(ctx, s.db.read.DB, out)
}

// backup is Backup through the connections of a pool. The connection that it uses is read-only afterwards.
func (db *DB) backup(ctx context.Context, pool *sql.DB, out string) error {
	if err := checkAbsent(out); err != nil {
		return err
	}
	copied, err := atomicfile.Create(out)
	if err != nil {
		return annotator.Errorf(annotator.Misused, "back up to %s: %w", out, atomicfile.Cause(err)).
			WithAdvice("choose a folder that exists and can be written to")
	}
	defer copied.Discard()
	if err = vacuumInto(ctx, pool, copied.Path); err == nil {
		err = endsHere(ctx, copied.Path)
	}
	if err != nil {
		return sqlite.Wrap(err, "back up %s to %s", db.path, out)
	}
	if err := syncFile(copied.Path); err != nil {
		return annotator.Errorf(annotator.Storage, "back up to %s: %w", out, err)
	}
	if err := copied.CommitNew(); err != nil {
		return annotator.Errorf(annotator.Misused, "back up to %s: %w", out, atomicfile.Cause(err)).
			WithAdvice("choose another place")
	}
	return nil
}

// checkAbsent refuses a path where there is a file.
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

// syncFile opens the file for writing, because Windows syncs no other.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
