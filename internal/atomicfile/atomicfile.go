// Package atomicfile writes a file whole or not at all: under a hidden temporary name in the target's folder, renamed
// to the target at the end. Create removes the temporary files of processes that were killed, and CreateFolder their
// temporary folders. A live process holds a lock file beside its own; the operating system releases the lock when the
// process ends.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	tempSuffix = ".draft"
	lockSuffix = ".lock" // follows the temporary file's name

	isWindows = runtime.GOOS == "windows"
	patience  = time.Second // with another process that has a file open
)

// File is a temporary file that takes the place of its target when it is committed, or a temporary folder for files of
// the target.
type File struct {
	Path   string // of the temporary file or folder
	target string
	lock   *flock.Flock // nil once the file is committed or discarded
}

// Create makes an empty temporary file for the target, which only its owner can read. It removes temporary files of the
// same target whose processes are gone.
func Create(target string) (*File, error) { return create(target, createWith(0o600)) }

// CreateShared is Create for a file that may be read by whom the umask of the process allows. A file that takes the place
// of another has its permissions.
func CreateShared(target string) (*File, error) {
	f, err := create(target, createWith(0o666))
	if err != nil {
		return nil, err
	}
	if former, err := os.Stat(target); err == nil && former.Mode().IsRegular() {
		err = os.Chmod(f.Path, former.Mode().Perm())
		if err != nil {
			f.Discard()
			return nil, err
		}
	}
	return f, nil
}

// CreateFolder makes an empty temporary folder in the target's folder, whose files the caller moves from one to the
// other. It removes temporary folders of the same target whose processes are gone.
func CreateFolder(target string) (*File, error) { return create(target, os.MkdirTemp) }

// createWith returns a function that makes a file with permissions, less those of the umask. os.CreateTemp knows only
// private files. The name that a pattern stands for has a number in place of its asterisk.
func createWith(permissions fs.FileMode) func(folder, pattern string) (string, error) {
	return func(folder, pattern string) (string, error) {
		before, after, _ := strings.Cut(pattern, "*")
		for {
			path := filepath.Join(folder, before+strconv.FormatUint(rand.Uint64(), 10)+after)
			file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, permissions)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			if err != nil {
				return "", err
			}
			return path, file.Close()
		}
	}
}

func create(target string, makeTemp func(folder, pattern string) (string, error)) (*File, error) {
	removeStale(target)
	for {
		if f, err := tryCreate(target, makeTemp); f != nil || err != nil {
			return f, err
		}
	}
}

// tryCreate makes a temporary file or folder and locks it. It returns nil if another process removed it before it was
// locked.
func tryCreate(target string, makeTemp func(folder, pattern string) (string, error)) (*File, error) {
	folder, prefix := split(target)
	path, err := makeTemp(folder, prefix+"*"+tempSuffix)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, target: target, lock: lockOf(path)}
	// On a file system without locks, the temporary file of a killed process stays. Nothing else depends on the lock.
	if free, err := f.lock.TryLock(); err == nil && !free {
		return nil, nil
	}
	if _, err := os.Lstat(f.Path); errors.Is(err, fs.ErrNotExist) {
		f.Discard()
		return nil, nil
	}
	return f, nil
}

// Commit renames the temporary file to the target and replaces what was there. It syncs the folder, so that the rename
// survives a power failure. The caller syncs the file's content before.
func (f *File) Commit() error {
	if err := Rename(f.Path, f.target); err != nil {
		return err
	}
	f.Discard()
	return syncFolder(filepath.Dir(f.target))
}

// CommitNew is Commit for a target that must not exist; the error is fs.ErrExist if it does. A process that is killed
// leaves the target whole or not at all.
func (f *File) CommitNew() error {
	if err := renameNew(f.Path, f.target); err != nil {
		return err
	}
	f.Discard()
	return syncFolder(filepath.Dir(f.target))
}

// renameUnlessExists renames a file where no call of the system does so only if the new name is free. A file that
// another process gives that name between the two steps is replaced.
func renameUnlessExists(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "rename", Path: to, Err: cmp.Or(Cause(err), fs.ErrExist)}
	}
	return Rename(from, to)
}

// Cause returns the reason of an error about a temporary file, whose name means nothing to the user.
func Cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// syncFolder makes a rename in the folder durable. Windows has no such call, and needs none.
func syncFolder(folder string) error {
	if isWindows {
		return nil
	}
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Discard removes the temporary file or folder, unless it has been committed. It may be called more than once.
func (f *File) Discard() {
	if f.lock != nil {
		remove(f.Path, f.lock)
		f.lock = nil
	}
}

// removeStale removes the temporary files and folders of a target that no process has locked.
func removeStale(target string) {
	folder, prefix := split(target)
	files, err := os.ReadDir(folder)
	if err != nil {
		return // creating a file there fails too, and reports why
	}
	for _, file := range files {
		number, isOurs := strings.CutPrefix(strings.TrimSuffix(file.Name(), lockSuffix), prefix)
		number, isTemp := strings.CutSuffix(number, tempSuffix)
		if !isOurs || !isTemp || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(folder, prefix+number+tempSuffix)
		lock := lockOf(path)
		if free, err := lock.TryLock(); err == nil && free {
			remove(path, lock)
		}
	}
}

// split returns the target's folder, and the prefix of the names of its temporary files.
func split(target string) (folder, prefix string) {
	return filepath.Dir(target), "." + filepath.Base(target) + "."
}

func lockOf(path string) *flock.Flock { return flock.New(path+lockSuffix, flock.SetPermissions(0o600)) }

// remove removes a temporary file or folder, the files that SQLite keeps beside a database, and the lock file.
func remove(path string, lock *flock.Flock) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.RemoveAll(path + suffix)
	}
	_ = RemoveLock(lock)
}

// RemoveLock removes a lock file and releases the lock. The lock is held until the file is gone: a process that comes later
// creates a new one. Windows removes no open file, so there it is removed after the release, if no other process has opened
// it by then.
func RemoveLock(lock *flock.Flock) error {
	first := os.Remove(lock.Path())
	if err := lock.Unlock(); err != nil {
		return err
	}
	if first != nil && !errors.Is(first, fs.ErrNotExist) {
		_ = os.Remove(lock.Path())
	}
	return nil
}

// Rename renames a file and replaces what was there. Windows refuses that for a moment while another process renames to the
// same name or reads the file, as scanners of new files do; it is tried again until patience has passed.
func Rename(from, to string) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(patience / 50) {
		err := os.Rename(from, to)
		if !isWindows || !errors.Is(err, fs.ErrPermission) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: another program has the file open, or it is read-only", err)
		}
	}
}
