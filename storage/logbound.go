package storage

import (
	"context"
	"os"
	"time"

	"annotator/internal/sqlite"
)

// A log is started over only at a moment when nobody reads from it. Readers that overlap leave none, as long as there are
// commits: each reads from what was committed last, and SQLite cannot pass over the oldest. While there are none, all that
// begin read the same, and the log is free after three times the longest reader at most. So the writer waits before a
// transaction, once the log is long. No reader is disturbed by that.
const (
	maxLog      = 40 << 20              // bytes of the log from which a transaction waits
	logLook     = 10 * time.Millisecond // between two looks whether it is free
	waitTold    = 5 * time.Second       // of waiting, after which it is told
	logPatience = 10 * time.Minute      // after which it goes on: a reader that was stopped may never end
)

// boundLog waits until a long log can be started over, ctx is cancelled, or patience has run out.
func (db *DB) boundLog(ctx context.Context) error {
	begun, told := time.Now(), false
	for db.logSize() >= maxLog && ctx.Err() == nil {
		done, err := sqlite.RestartLog(context.WithoutCancel(ctx), db.write.DB)
		if err != nil {
			return sqlite.Wrap(err, "start the write-ahead log of %s over", db.path)
		}
		if done {
			db.impatient = false
			_, err = db.writeBack(context.WithoutCancel(ctx)) // the new log is another than a copy of the file knows
			return err
		}
		waited := time.Since(begun)
		if db.impatient = db.impatient || waited >= db.logPatience; db.impatient {
			return nil
		}
		if !told && waited >= waitTold && db.waiting != nil {
			told = true
			db.waiting(db.logSize())
		}
		time.Sleep(logLook)
	}
	return nil
}

// logSize returns the size of the log, in bytes. The file is cut when the log is started over.
func (db *DB) logSize() int64 {
	log, err := os.Stat(db.log)
	if err != nil {
		return 0 // the database was moved, which is noticed elsewhere
	}
	return log.Size()
}

// OnWait sets a function that is told when a transaction has waited for readers for some seconds, with the size of the log in
// bytes.
func (s *Maintenance) OnWait(tell func(log int64)) { s.db.waiting = tell }
