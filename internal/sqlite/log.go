package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// RestartLog copies the write-ahead log into the file. If no reader needs the log, the next transaction restarts it. It
// does not wait for readers. The pool must have one connection.
func RestartLog(ctx context.Context, db *sql.DB) (done bool, err error) {
	if _, err := db.ExecContext(ctx, `PRAGMA busy_timeout = 0`); err != nil {
		return false, err
	}
	var busy, log, moved int
	err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(RESTART)`).Scan(&busy, &log, &moved)
	_, back := db.ExecContext(ctx, `PRAGMA `+busyTimeout)
	return err == nil && busy == 0, errors.Join(err, back)
}
