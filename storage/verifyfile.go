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
		_, err = pool.ExecContext(ctx,
			`PRAGMA busy_timeout = 2000`) // a run commits in less; one that was stopped is not waited for
	}
	if err == nil {
		// SQLite opens a file that it cannot write for reading. Beginning a write transaction fails then.
		if err = tryWrite(ctx, pool); err != nil {
			_ = pool.Close()
		}
	}
	if v.readOnly = whyReadOnly(err); v.readOnly != "" {
		return nil
	}
	v.write = pool
	return err
}

// whyReadOnly returns why a write failed, where that is no fault of the database; "" for another error, and for none.
func whyReadOnly(err error) string {
	switch {
	case sqlite.IsUnwritable(err):
		return "the file cannot be written"
	case sqlite.IsBusy(err):
		return "another program is writing to it"
	}
	return ""
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
	reason := v.readOnly
	var err error
	if v.write != nil {
		// The integrity check of FTS5 has the form of a write; rank = 1 compares the index with the entries.
		_, err = v.write.ExecContext(ctx, `INSERT INTO glossary_fts_name (glossary_fts_name, rank)
			VALUES ('integrity-check', 1);
			INSERT INTO glossary_fts_claim (glossary_fts_claim, rank) VALUES ('integrity-check', 1)`)
		reason = whyReadOnly(err)
	}
	switch {
	case reason != "":
		f.Unchecked = "the index, since " + reason + ": verify a backup of it"
		return nil
	case sqlite.IsCorrupt(err):
		f.add("the index differs from the entries, and can be rebuilt")
		return nil
	}
	return err
}
