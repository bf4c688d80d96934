package sqlite

import (
	"os"
	"path/filepath"
	"time"

	"annotator"
)

// Claim holds a lock on a database file itself. SQLite derives the names of the log and its index from the path. So two
// writers that open one file by two paths would not see each other's commits.
type Claim struct{ file *os.File }

// claimWait is how long TakeClaim waits: a process that starts another holds the claim for a moment longer.
const claimWait = 300 * time.Millisecond

// TakeClaim locks the file at path until the claim is released or the process ends. The error is of kind InUse if
// another process has it, by any path. It is of kind Misused if the file has several names or its file system has no
// locks. TakeClaim does not lock a file that cannot be written, or on a system that cannot mount single files.
//
// Release the claim after the last connection of the process to the file is closed. A process that closes any
// descriptor of a file loses SQLite's locks on it.
func TakeClaim(path string) (*Claim, error) {
	if n := linksOf(path); n > 1 {
		return nil, annotator.Errorf(annotator.Misused,
			"open %s to write: it has %d names (hard links), and its log has that of one", path, n).
			WithReason(annotator.ReasonLinked, path)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return &Claim{}, nil //nolint:nilerr // SQLite will fail, too, and say why
	}
	held, err := lockByIdentity(file)
	for began := time.Now(); held && time.Since(began) < claimWait; held, err = lockByIdentity(file) {
		time.Sleep(claimWait / 10)
	}
	switch {
	case err != nil:
		err = annotator.Errorf(annotator.Misused, "lock %s: %w", path, err).WithReason(annotator.ReasonNoLocks)
	case held:
		err = annotator.Errorf(annotator.InUse,
			"%s is in use by a process that opened it by another path, or whose lock file was removed", path).
			WithReason(annotator.ReasonOtherPath)
	default:
		return &Claim{file}, nil
	}
	_ = file.Close()
	return nil, err
}

// Release releases the lock. It does nothing for nil.
func (c *Claim) Release() error {
	if c == nil || c.file == nil {
		return nil
	}
	return c.file.Close()
}

// HasLog reports whether a file has a write-ahead log that is not empty.
func HasLog(path string) bool {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}
