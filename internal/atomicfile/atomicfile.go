// Package atomicfile writes files atomically: to a hidden temporary file in the target's folder, which is renamed to
// the target at the end. Create removes the temporary files of killed processes, and CreateFolder their temporary
// folders. An active process holds a lock on a file next to its own; the operating system releases the lock when the
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
	patience  = time.Second // for another process that has a file open
)

// File is a temporary file that replaces its target when it is committed, or a temporary folder for files of the
// target.
type File struct {
	Path   string // of the temporary file or folder
	target string
	lock   *flock.Flock // nil after Commit or Discard
}

// Create creates an empty temporary file for the target, which only its owner can read. It removes temporary files of
// the same target whose processes have ended.
func Create(target string) (*File, error) { return create(target, createWith(0o600)) }

// CreateShared is Create for a file with the permissions that the umask of the process allows. A file that replaces
// another has its permissions.
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

// CreateFolder creates an empty temporary folder in the target's folder. The caller moves its files to the target. It
// removes temporary folders of the same target whose processes have ended.
func CreateFolder(target string) (*File, error) { return create(target, os.MkdirTemp) }

// createWith returns a function that creates a file with permissions, less those of the umask. os.CreateTemp creates
// private files only. A number replaces the asterisk in the pattern of the name.
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
	RemoveStale(target)
	for {
		if f, err := tryCreate(target, makeTemp); f != nil || err != nil {
			return f, err
		}
	}
}

// tryCreate creates a temporary file or folder and locks it. It returns nil if another process removed it before it was
// locked.
func tryCreate(target string, makeTemp func(folder, pattern string) (string, error)) (*File, error) {
	folder, prefix := split(target)
	path, err := makeTemp(folder, prefix+"*"+tempSuffix)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, target: target, lock: lockOf(path)}
	// On a file system without locks, the temporary file of a killed process is not removed. Nothing else depends on
	// the lock.
	if free, err := f.lock.TryLock(); err == nil && !free {
		return nil, nil
	}
	if _, err := os.Lstat(f.Path); errors.Is(err, fs.ErrNotExist) {
		f.Discard()
		return nil, nil
	}
	return f, nil
}

// Commit renames the temporary file to the target and replaces an existing one. It syncs the folder, so that the rename
// survives a power failure. The caller must sync the content before.
func (f *File) Commit() error {
	if err := Rename(f.Path, f.target); err != nil {
		return err
	}
	f.Discard()
	return syncFolder(filepath.Dir(f.target))
}

// CommitNew is Commit for a target that must not exist; the error is fs.ErrExist if it does. After a kill, the target
// is complete or missing.
func (f *File) CommitNew() error {
	if err := renameNew(f.Path, f.target); err != nil {
		return err
	}
	f.Discard()
	return syncFolder(filepath.Dir(f.target))
}

// renameUnlessExists renames a file on systems without an atomic call for it. A file that another process creates under
// the new name between the two steps is replaced.
func renameUnlessExists(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "rename", Path: to, Err: cmp.Or(Cause(err), fs.ErrExist)}
	}
	return Rename(from, to)
}

// Cause returns the cause of an error without the name of the temporary file, which means nothing to the user.
func Cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// syncFolder makes a rename in the folder durable. Windows does not need it.
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

// RemoveStale removes the temporary files and folders of a target whose processes have ended, as Create does.
func RemoveStale(target string) {
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

// remove removes a temporary file or folder, SQLite's files for a database, and the lock file.
func remove(path string, lock *flock.Flock) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.RemoveAll(path + suffix)
	}
	_ = RemoveLock(lock)
}

// RemoveLock removes a lock file and releases the lock. It holds the lock until the file is removed: a later process
// creates a new file. Windows cannot remove an open file. There it removes the file after the release, unless another
// process has opened it.
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

// Rename renames a file and replaces an existing one. On Windows this fails while another process renames to the same
// name or reads the file, for example a virus scanner. Rename repeats it until patience has passed.
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
