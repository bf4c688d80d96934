package sqlite

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// claimByte is the byte of a database file that a claim locks. It is the first after those that SQLite locks, which
// begin at 1 GiB. None of them is ever written.
const claimByte = 1<<30 + 512

// lockByIdentity locks a byte of a file for the open descriptor. Unlike SQLite's locks, the lock persists when the
// process closes another descriptor of the file. Unlike flock, it fails where SQLite's kind of lock does not work.
func lockByIdentity(file *os.File) (held bool, err error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: claimByte, Len: 1}
	err = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return true, nil
	case errors.Is(err, unix.EINVAL): // a kernel without locks of this kind
		return false, nil
	}
	return false, err
}
