package sqlite_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"

	"golang.org/x/sys/unix"
)

// TestWithoutLocksTheFileIsNotOpened locks the index of a log permanently, at the byte by which a process marks that it
// uses the index. SQLite gives the same error on a file system without locks.
func TestWithoutLocksTheFileIsNotOpened(t *testing.T) {
	longtest.Only(t, "SQLite tries for ten seconds")
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	table(t, path)
	index, err := os.Create(path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = index.Close() }()
	const inUse = 128
	if err := unix.FcntlFlock(index.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{
		Type: unix.F_WRLCK, Whence: io.SeekStart,
		Start: inUse, Len: 1,
	}); err != nil {
		t.Skip(err)
	}
	_, err = sqlite.Open(t.Context(), path, sqlite.ReadOnly, 1)
	e := (*annotator.Error)(nil)
	if !errors.As(err, &e) || e.Kind != annotator.Misused || e.Reason != annotator.ReasonNoLocks {
		t.Errorf("%v", err)
	}
}
