package storage

import (
	"context"
	"database/sql"

	"annotator/internal/sqlite"
)

// writableConn returns a connection that can write: some checks need one, although they change nothing. It returns
// nil where the file cannot be written.
func (s *Maintenance) writableConn(ctx context.Context) (*sql.DB, error) {
	pool, err := sqlite.Open(ctx, s.db.path, sqlite.ReadWrite, 1)
	if err == nil {
		// SQLite opens a file that it cannot write for reading. Beginning a write transaction fails then.
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

// verifyFile runs the integrity check of SQLite, which leaves out constraints on a connection that cannot write.
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
	// The integrity check of FTS5 has the form of a write; rank = 1 compares the index with the entries.
	_, err = pool.ExecContext(ctx, `INSERT INTO glossary_fts (glossary_fts, rank) VALUES ('integrity-check', 1)`)
	if sqlite.IsCorrupt(err) {
		f.add("the index differs from the entries; mend it with `annotator verify --repair`")
		return nil
	}
	return err
}
