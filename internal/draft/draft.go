// Package draft lets a file be written whole or not at all: under a hidden name in the folder of the one whose place it takes, and
// renamed in the end. What a process that was killed left of one is cleared away when the next begins. That it was killed shows
// by a lock beside it, which dies with its process whatever happens to that.
package draft

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

const (
	draftEnd = ".draft"
	lockEnd  = ".lock" // behind the draft's name
)

// Draft is a file in the making.
type Draft struct {
	Path   string // under which it is written; its owner's only
	target string
	lock   *flock.Flock // nil once the draft is placed or discarded
}

// New makes an empty draft of the file at target. Drafts of the same file whose processes are gone are removed.
func New(target string) (*Draft, error) {
	sweep(target)
	for {
		if d, err := begin(target); d != nil || err != nil {
			return d, err
		}
	}
}

// begin makes a draft and takes its lock. It returns none where somebody who swept came in between.
func begin(target string) (*Draft, error) {
	folder, name := split(target)
	file, err := os.CreateTemp(folder, name+"*"+draftEnd) // O_EXCL, 0600
	if err != nil {
		return nil, err
	}
	d := &Draft{Path: file.Name(), target: target, lock: lockOf(file.Name())}
	if err := file.Close(); err != nil {
		return nil, errors.Join(err, os.Remove(d.Path))
	}
	// Some file systems know no locks. There a draft whose process is killed is left behind, and that is all.
	if free, err := d.lock.TryLock(); err == nil && !free {
		return nil, nil
	}
	if _, err := os.Lstat(d.Path); errors.Is(err, fs.ErrNotExist) {
		d.Discard()
		return nil, nil
	}
	return d, nil
}

// Place puts the draft in the target's place, and what was there is gone. The folder is synced: a power cut does not undo it. That
// what was written is on the disk is the caller's to see to.
func (d *Draft) Place() error {
	if err := os.Rename(d.Path, d.target); err != nil {
		return err
	}
	d.Discard()
	return syncFolder(filepath.Dir(d.target))
}

// syncFolder makes a rename in the folder last. Windows has no such call, and needs none.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Discard removes the draft, unless it has been placed.
func (d *Draft) Discard() {
	if d.lock != nil {
		remove(d.Path, d.lock)
		d.lock = nil
	}
}

// sweep removes the drafts of a file of which nobody holds the lock.
func sweep(target string) {
	folder, name := split(target)
	files, err := os.ReadDir(folder)
	if err != nil {
		return // whoever wants to write there will be told
	}
	for _, file := range files {
		number, ours := strings.CutPrefix(strings.TrimSuffix(file.Name(), lockEnd), name)
		number, whole := strings.CutSuffix(number, draftEnd)
		if !ours || !whole || strings.Trim(number, "0123456789") != "" {
			continue
		}
		draft := filepath.Join(folder, name+number+draftEnd)
		lock := lockOf(draft)
		if free, err := lock.TryLock(); err == nil && free {
			remove(draft, lock)
		}
	}
}

// split gives the folder of a file, and how the names of its drafts begin.
func split(target string) (folder, name string) {
	return filepath.Dir(target), "." + filepath.Base(target) + "."
}

func lockOf(draft string) *flock.Flock { return flock.New(draft+lockEnd, flock.SetPermissions(0o600)) }

// remove removes a draft and what a database may have beside it, then the lock, while that is held: who comes to it later makes
// another.
func remove(draft string, lock *flock.Flock) {
	for _, end := range []string{"", "-journal", "-wal", "-shm", lockEnd} {
		_ = os.Remove(draft + end)
	}
	_ = lock.Unlock()
}
