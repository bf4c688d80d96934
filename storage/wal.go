package storage

import (
	"annotator/internal/sqlite"
	"context"
)

// walPages is the size at which the write-ahead log is folded back into the database: at a quiet moment, between scenes,
// rather than within whatever commit happens to fill it.
const walPages = 4000

// CheckpointWAL folds a long write-ahead log back into the database file; the next transaction then begins it anew. A reader that
// holds it open only puts that off: it never waits. It returns how many pages it had to leave in the log.
func (s *Maintenance) CheckpointWAL(ctx context.Context) (left int, err error) {
	ctx = context.WithoutCancel(ctx)
	var busy, log, moved int
	err = s.db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &log, &moved)
	if err == nil && log >= walPages {
		err = s.db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &log, &moved)
		left = log - moved
	}
	return left, sqlite.Wrap(err, "fold the write-ahead log of %s", s.db.path)
}
