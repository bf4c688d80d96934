package faults_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"annotator"
	"annotator/storage"
)

// TestLocksAreKept reads the locks of this process from the kernel. A process loses its locks on a database file when
// it opens and closes another descriptor of the file. SQLite does not notice that.
func TestLocksAreKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := filepath.Join(t.TempDir(), "story.db")
	store, err := storage.OpenWriter(ctx, db, "the test", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	before := lockedFiles(t, db)
	if before != 2 { // without the lock on the file, another program takes itself for the last, and removes the log
		t.Fatalf("an open database holds locks on %d files, not on the file and on the index of its log", before)
	}
	for name, use := range map[string]func() error{
		"a backup":    func() error { return store.Maintenance.Backup(ctx, db+".copy") },
		"a proof":     func() error { _, err := store.Maintenance.Verify(ctx, nil); return err },
		"a look":      func() error { _, err := storage.Running(db); return err },
		"a reader":    func() error { return closing(storage.Open(ctx, db)) },
		"a rival":     func() error { _, err := storage.OpenWriter(ctx, db, "another", time.Now); return held(err) },
		"a mere tidy": func() error { _, err := store.Maintenance.CheckpointWAL(ctx); return err },
	} {
		if err := use(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if after := lockedFiles(t, db); after < before {
			t.Errorf("%s has cost the locks on %d of %d files", name, before-after, before)
		}
	}
}

func closing(db *storage.DB, err error) error {
	if err != nil {
		return err
	}
	return db.Close()
}

func held(err error) error {
	if errors.Is(err, annotator.InUse) {
		return nil
	}
	return fmt.Errorf("a second writer: %w", err)
}

// lockedFiles counts the files of a database on which this process has a lock. The kernel's list is not read
// atomically, so a lock can be missed while other processes change theirs. The result is the maximum of several reads.
func lockedFiles(t *testing.T, path string) (most int) {
	t.Helper()
	for range 20 {
		most = max(most, locksSeen(t, path))
	}
	return most
}

func locksSeen(t *testing.T, path string) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skip(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		lock := regexp.MustCompile(fmt.Sprintf(` %d \S+:%d `, os.Getpid(), info.Sys().(*syscall.Stat_t).Ino))
		if lock.Match(text) {
			n++
		}
	}
	return n
}
