package storage

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// tx is a transaction. Its head moves as rows are appended. After the first error it runs no further statement and is
// rolled back, so that a sequence of statements needs no check after each. It is no sql.Tx, which starts a goroutine
// for itself and for each query.
type tx struct {
	*sql.Conn
	ctx  context.Context
	head head
	now  int64 // unix milliseconds
	err  error // the first
}

// fail keeps an error, if it is the first. It does nothing for nil.
func (tx *tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// exec runs a statement, and returns how many rows it changed.
func (tx *tx) exec(query string, args ...any) (changed int64) {
	if tx.err != nil {
		return 0
	}
	result, err := tx.ExecContext(tx.ctx, query, args...)
	if err == nil {
		changed, err = result.RowsAffected()
	}
	tx.fail(err)
	return changed
}

// execOne is exec for a statement that has to change exactly one row: no row means that its state was another.
func (tx *tx) execOne(query string, args ...any) {
	if n := tx.exec(query, args...); n != 1 {
		tx.fail(annotator.Errorf(annotator.Storage, "a row is not in the state it should be in (%d rows for %s)", n,
			query))
	}
}

// scan reads the only row of a query, column by column.
func (tx *tx) scan(columns []any, query string, args ...any) {
	if tx.err == nil {
		tx.fail(tx.QueryRowContext(tx.ctx, query, args...).Scan(columns...))
	}
}

// update runs a transaction of the run, with its state. ctx does not cancel it: an effect has to commit with its row.
func (db *DB) update(ctx context.Context, what string, body func(*tx)) error {
	if db.write == nil {
		return annotator.Errorf(annotator.Storage, "%s: %s is open for reading only", what, db.path)
	}
	if err := db.checkFiles(ctx); err != nil {
		return err
	}
	if err := db.boundLog(ctx); err != nil {
		return err
	}
	head := db.head
	err := transact(context.WithoutCancel(ctx), db.write, db.now, func(tx *tx) {
		tx.head = db.head
		tx.checkHolder(db)
		if tx.err != nil {
			return
		}
		body(tx)
		head = tx.head
		// The id says that one row changes at most: else SQLite opens a statement journal and flushes the text index.
		tx.exec(`UPDATE run_state SET state = ?, updated_at = ? WHERE id = 1`, db.State, tx.now)
	})
	if err != nil {
		return sqlite.Wrap(err, "%s in %s", what, db.path)
	}
	db.head = head
	return nil
}

// checkHolder fails where another process has taken the database over, or has written to the journal. Locks should keep
// it from that, but a lock file can be removed, and there are systems that lock nothing.
func (tx *tx) checkHolder(db *DB) {
	var holder string
	var last int64
	err := tx.QueryRowContext(tx.ctx, `SELECT holder, (SELECT coalesce(max(id), 0) FROM trace) FROM run_state
		WHERE id = 1`).Scan(&holder, &last)
	switch {
	case errors.Is(err, sql.ErrNoRows): // no run has begun
	case err != nil:
		tx.fail(err)
	case holder != db.holder || last != db.head.trace:
		tx.fail(annotator.Errorf(annotator.Storage, "another process has written to %s: %s", db.path, holder).
			WithReason(annotator.ReasonTakenOver))
	}
}

// transact runs a transaction that does not touch the state of the run. The digests of the tables commit with it.
func transact(ctx context.Context, w *writer, now func() time.Time, body func(*tx)) error {
	clear(w.changed)
	conn, err := w.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		}
	}()
	tx := &tx{Conn: conn, ctx: ctx, now: now().UnixMilli()}
	body(tx)
	tx.storeDigests(w.changed)
	tx.exec(`COMMIT`)
	committed = tx.err == nil
	return tx.err
}
