package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"annotator/internal/sqlite"
)

// TestCopyHasTheLog reads data that only the log has, and leaves no copy.
func TestCopyHasTheLog(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	path := filepath.Join(t.TempDir(), "word.db")
	table(t, path)
	writer := open(t, path, sqlite.ReadWrite)
	defer func() { _ = writer.Close() }()
	exec(t, writer, `INSERT INTO word VALUES ('in the log')`)
	db, err := sqlite.OpenCopy(t.Context(), path, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, `SELECT group_concat(w) FROM word`); got != "yes,in the log" {
		t.Errorf("the copy holds %s", got)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}
