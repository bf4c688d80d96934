package storage

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// tx is a transaction. Its head moves as rows are appended.
type tx struct {
	*sql.Tx
	ctx  context.Context
	head head
	now  int64 // unix milliseconds
}

func (tx *tx) exec(query string, args ...any) (sql.Result, error) {
	return tx.ExecContext(tx.ctx, query, args...)
}

// execOne is exec for a statement that has to change exactly one row. No row means that the row was not in the state
// that the statement names.
func (tx *tx) execOne(query string, args ...any) error {
	result, err := tx.exec(query, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, annotator.Errorf(annotator.Storage, "a row is not in the state it should be in (%d rows for %s)", n, query))
	}
	return nil
}

// update runs a transaction of the run, with its state. It is not cancelled with ctx: an effect has to commit with its
// row.
func (db *DB) update(ctx context.Context, what string, body func(*tx) error) error {
	if db.write == nil {
		return annotator.Errorf(annotator.Storage, "%s: %s is open for reading only", what, db.path)
	}
	if err := db.checkFiles(ctx); err != nil {
		return err
	}
	head := db.head
	err := transact(context.WithoutCancel(ctx), db.write, db.now, func(tx *tx) error {
		tx.head = db.head
		if err := body(tx); err != nil {
			return err
		}
		head = tx.head
		// The id tells SQLite that one row changes at most. Otherwise it opens a statement journal, and flushes the
		// full-text index for that.
		_, err := tx.exec(`UPDATE run_state SET state = ?, updated_at = ? WHERE id = 1`, db.state, tx.now)
		return err
	})
	if err != nil {
		return sqlite.Wrap(err, "%s in %s", what, db.path)
	}
	db.head = head
	return nil
}

// transact runs a transaction that does not touch the state of the run.
func transact(ctx context.Context, pool *sql.DB, now func() time.Time, body func(*tx) error) error {
	t, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }()
	if err := body(&tx{Tx: t, ctx: ctx, now: now().UnixMilli()}); err != nil {
		return err
	}
	return t.Commit()
}
