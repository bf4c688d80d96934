package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames a file to a name that must not exist. Some file systems do not support this.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return renameUnlessExists(from, to)
	case err != nil:
		return &os.PathError{Op: "rename", Path: to, Err: err}
	}
	return nil
}
