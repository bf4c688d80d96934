package storage

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// querier reads: a pool, or a transaction that has to see its own writes.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// tx is a transaction with the ends of the journal and the revisions as it leaves them.
type tx struct {
	*sql.Tx
	ctx  context.Context
	head head
	now  int64 // unix milliseconds
}

func (tx *tx) exec(query string, args ...any) (sql.Result, error) {
	return tx.ExecContext(tx.ctx, query, args...)
}

// execOne is exec where exactly one row has to change: none means that the row was not in the state that the caller
// believed it in.
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

// update runs a transaction. It commits under a context that cannot be cancelled: a signal must not tear what a tool has
// done from the row that says so.
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
		// There is one row. To name it tells SQLite that no more than one changes: else it would prepare to undo the statement, and
		// have the full-text index written out for that.
		_, err := tx.exec(`UPDATE run_state SET state = ?, updated_at = ? WHERE id = 1`, db.state, tx.now)
		return err
	})
	if err != nil {
		return sqlite.Wrap(err, "%s in %s", what, db.path)
	}
	db.head = head
	return nil
}

// transact runs a transaction that leaves the run's state alone.
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

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

func each(ctx context.Context, q querier, read func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
