package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// mark is what PRAGMA user_version holds: the schema, and which write-ahead log belongs to the database file. It is in
// the file's first page, which a copy of the file reads first.
//
// The file gets a number and the mark follows after all of a log has been written back to it. From the next commit on,
// the log has the same number, without the mark follows. So a file without its log is recognized as incomplete, and so
// is a file with the log of a later state.
type mark struct {
	schema  int
	log     int  // the number of the log that follows what was written back; counts modulo 2^logBits
	follows bool // a log follows; if there is none, it is missing
}

// The places of the parts of a mark.
const (
	logShift   = 16
	logBits    = 14
	followsBit = 1 << (logShift + logBits)
)

func markOf(version int) mark {
	return mark{version & (1<<logShift - 1), version >> logShift & (1<<logBits - 1), version&followsBit != 0}
}

func (m mark) version() int {
	version := m.schema | m.log<<logShift
	if m.follows {
		version |= followsBit
	}
	return version
}

// next is the mark of the file once the present log has been written back.
func (m mark) next() mark { return mark{m.schema, (m.log + 1) & (1<<logBits - 1), true} }

// isFollowedBy reports whether a log belongs to a file: end is the mark of the file and its log together. A process
// that is killed while it marks the file leaves the mark in the log, and a file without it.
func (m mark) isFollowedBy(end mark) bool {
	return m.log == end.log || end.follows && !m.follows && m.next().log == end.log
}

// readMark reads the mark of a database and its log together.
func readMark(ctx context.Context, q querier, path string) (mark, error) {
	var version int
	err := q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version)
	return markOf(version), sqlite.Wrap(err, "read the head of %s", path)
}

// fileMark reads the mark of the file without its log. The mark is not known if the power failed while it was written.
// The log has the page, and repairs it.
func fileMark(ctx context.Context, path string) (m mark, known bool, err error) {
	version, known, err := sqlite.FileVersion(ctx, path)
	return markOf(version), known, err
}

// How often a log that seems to belong to another file is read again: a run may write it back meanwhile.
const (
	markTries = 20
	markWait  = 50 * time.Millisecond
)

// checkLog refuses a log that does not belong to the file. This happens when file and log were copied at different
// times. The cost does not depend on the size of the database.
func checkLog(ctx context.Context, q querier, path string) error {
	for tries := 0; sqlite.HasLog(path); tries++ {
		end, err := readMark(ctx, q, path)
		if err != nil {
			return err
		}
		file, known, err := fileMark(ctx, path)
		if err != nil || !known || file.isFollowedBy(end) {
			return err
		}
		if tries == markTries {
			return annotator.Errorf(annotator.Storage,
				"%s and its log are of different moments: one was copied, and the other while or after a run went on",
				path).WithReason(annotator.ReasonTornCopy)
		}
		time.Sleep(markWait)
	}
	return nil
}

// logMissing returns a message if the log of the file is missing, or "".
func logMissing(ctx context.Context, q querier, path string) (string, error) {
	end, err := readMark(ctx, q, path)
	if err != nil || !end.follows || sqlite.HasLog(path) || wasMarking(path) {
		return "", err
	}
	return fmt.Sprintf("%s lacks its log, and with it what was recorded last: it was moved or copied alone, or the "+
		"log was removed", path), nil
}

// noteMarking makes the lock file not empty until noteMarked. If a process is killed between the marks of the file and
// of its log, another program may write the log back and remove it. Nothing is missing then. Without the note, the log
// is reported as missing, so errors are ignored.
func (db *DB) noteMarking() { db.resizeLock(1) }

func (db *DB) noteMarked() { db.resizeLock(0) }

func (db *DB) resizeLock(size int64) {
	if file, err := os.OpenFile(lockOf(db.path), os.O_WRONLY, 0); err == nil {
		_, _ = file.Truncate(size), file.Close()
	}
}

// wasMarking reports whether the last process that had the database open was killed between these marks.
func wasMarking(path string) bool {
	info, err := os.Stat(lockOf(path))
	return err == nil && info.Size() > 0
}

// setMark marks the database in a transaction.
func (db *DB) setMark(ctx context.Context, m mark) error {
	return sqlite.Wrap(setMark(ctx, db.write, m), "mark %s", db.path)
}

func setMark(ctx context.Context, w *writer, m mark) error {
	return transact(ctx, w, time.Now, func(tx *tx) { tx.exec(fmt.Sprintf(`PRAGMA user_version = %d`, m.version())) })
}

// endsHere marks a copy as complete without a log. The original may have been marked as followed by one.
func endsHere(ctx context.Context, path string) error {
	m, _, err := fileMark(ctx, path)
	if err != nil || !m.follows {
		return err
	}
	w, err := openWriter(ctx, path)
	if err != nil {
		return err
	}
	m.follows = false
	return sqlite.Wrap(errors.Join(setMark(ctx, w, m), w.Close()), "mark %s", path)
}

// verifyLog checks that the database does not end before its log.
func (v *verifier) verifyLog(ctx context.Context, f *Finding) error {
	missing, err := logMissing(ctx, v.q, v.path)
	if missing != "" {
		f.add(missing)
	}
	return err
}
