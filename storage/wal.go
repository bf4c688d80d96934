package storage

import (
	"context"

	"annotator/internal/sqlite"
)

// walPages is the size from which CheckpointWAL copies the log. SQLite itself would copy it during some commit.
const walPages = 4000

// CheckpointWAL copies a long write-ahead log into the database file. The next transaction then starts the log over. It
// does not wait for readers: what they still need stays in the log. It returns the number of pages that stay.
func (s *Maintenance) CheckpointWAL(ctx context.Context) (left int, err error) {
	ctx = context.WithoutCancel(ctx)
	var busy, log, moved int
	err = s.db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &log, &moved)
	if err == nil && log >= walPages {
		err = s.db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &log, &moved)
		left = log - moved
	}
	return left, sqlite.Wrap(err, "checkpoint the write-ahead log of %s", s.db.path)
}
