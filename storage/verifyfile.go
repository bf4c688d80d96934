package storage

import (
	"context"
	"database/sql"

	"annotator/internal/sqlite"
)

// openToWrite opens a connection that can write: some checks need one, although they change nothing. There is none
// where the file cannot be written, or while another program writes.
func (v *verifier) openToWrite(ctx context.Context) error {
	pool, err := sqlite.Open(ctx, v.path, sqlite.ReadWrite, 1)
	if err == nil {
		// SQLite opens a file that it cannot write for reading. Beginning a write transaction fails then.
		if err = tryWrite(ctx, pool); err != nil {
			_ = pool.Close()
		}
	}
	switch {
	case sqlite.IsUnwritable(err):
		v.readOnly = "the file cannot be written"
	case sqlite.IsBusy(err):
		v.readOnly = "another program is writing to it"
	default:
		v.write = pool
		return err
	}
	return nil
}

func tryWrite(ctx context.Context, pool *sql.DB) error {
	t, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return t.Rollback()
}

func (v *verifier) close() {
	if v.write != nil {
		_ = v.write.Close()
	}
}

// verifyFile runs the integrity check of SQLite, which leaves out constraints on a connection that cannot write.
func (v *verifier) verifyFile(ctx context.Context, f *Finding) error {
	q := querier(v.q)
	if v.write != nil {
		q = v.write
	} else {
		f.Unchecked = "the constraints of columns, since " + v.readOnly + "; else it is whole"
	}
	return f.query(ctx, q, `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`)
}

func (v *verifier) verifyIndex(ctx context.Context, f *Finding) error {
	if v.write == nil {
		f.Unchecked = "the index, since " + v.readOnly + ": verify a backup of it"
		return nil
	}
	// The integrity check of FTS5 has the form of a write; rank = 1 compares the index with the entries.
	_, err := v.write.ExecContext(ctx, `INSERT INTO glossary_fts (glossary_fts, rank) VALUES ('integrity-check', 1)`)
	switch {
	case sqlite.IsCorrupt(err):
		f.add("the index differs from the entries; mend it with `annotator verify --repair`")
		return nil
	case sqlite.IsBusy(err):
		f.Unchecked = "the index, since another program is writing to it: verify a backup of it"
		return nil
	}
	return err
}
