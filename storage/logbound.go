package storage

import (
	"context"
	"os"
	"time"

	"annotator/internal/sqlite"
)

// SQLite starts a log over only when no reader uses it. With commits and overlapping readers there is no such moment.
// Each reader uses the newest commit, and SQLite keeps the log for the oldest reader. Without commits, all new readers
// use the same state. The log is free after at most three times the longest reader. So the writer waits before a
// transaction when the log is long. Readers are not affected.
const (
	maxLog      = 40 << 20              // bytes of the log from which a transaction waits
	logLook     = 10 * time.Millisecond // between two checks whether it is free
	waitTold    = 5 * time.Second       // of waiting, after which DB.OnWait is called
	logPatience = 10 * time.Minute      // after which it goes on: a reader that was stopped may never end
)

// boundLog waits until a long log can be started over, ctx is cancelled, or db.logPatience has passed.
func (db *DB) boundLog(ctx context.Context) error {
	begun, told := time.Now(), false
	for db.logSize() >= maxLog && ctx.Err() == nil {
		done, err := sqlite.RestartLog(context.WithoutCancel(ctx), db.write.DB)
		if err != nil {
			return sqlite.Wrap(err, "start the write-ahead log of %s over", db.path)
		}
		if done {
			db.impatient = false
			_, err = db.writeBack(context.WithoutCancel(ctx)) // a copy of the file does not belong to the new log
			return err
		}
		waited := time.Since(begun)
		if db.impatient = db.impatient || waited >= db.logPatience; db.impatient {
			return nil
		}
		if !told && waited >= waitTold && db.OnWait != nil {
			told = true
			db.OnWait(db.logSize())
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
