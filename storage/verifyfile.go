package storage

import (
	"context"
	"database/sql"

	"annotator/internal/sqlite"
)

// writableConn returns a connection that can write, which some checks need though they write nothing; nil where the file cannot be
// written.
func (s *Maintenance) writableConn(ctx context.Context) (*sql.DB, error) {
	pool, err := sqlite.Open(ctx, s.db.path, sqlite.ReadWrite, 1)
	if err == nil {
		// A file that cannot be written is opened for reading all the same; to begin a change tells.
		if err = tryWrite(ctx, pool); err != nil {
			_ = pool.Close()
		}
	}
	if sqlite.IsUnwritable(err) {
		return nil, nil
	}
	return pool, err
}

func tryWrite(ctx context.Context, pool *sql.DB) error {
	t, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return t.Rollback()
}

// verifyFile has SQLite check the file. On a connection that cannot write it leaves out the constraints.
func (s *Maintenance) verifyFile(ctx context.Context, f *Finding) error {
	pool, err := s.writableConn(ctx)
	if err != nil {
		return err
	}
	if pool == nil {
		f.Unchecked = "the constraints of columns, since the file cannot be written; else it is whole"
		pool = s.db.read
	} else {
		defer func() { _ = pool.Close() }()
	}
	return f.query(ctx, pool, `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`)
}

func (s *Maintenance) verifyIndex(ctx context.Context, f *Finding) error {
	pool, err := s.writableConn(ctx)
	if err != nil {
		return err
	}
	if pool == nil {
		f.Unchecked = "the index, since the file cannot be written: verify a backup of it"
		return nil
	}
	defer func() { _ = pool.Close() }()
	// The index checks itself through a statement in the form of a write; rank = 1 holds it against the entries.
	_, err = pool.ExecContext(ctx, `INSERT INTO glossary_fts (glossary_fts, rank) VALUES ('integrity-check', 1)`)
	if sqlite.IsCorrupt(err) {
		f.add("the index differs from the entries; mend it with `annotator verify --repair`")
		return nil
	}
	return err
}
