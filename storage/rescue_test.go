package storage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"annotator"
	"annotator/storage"
)

// TestRescuedFromAFolderThatIsGone: a database with a relative path is copied to the nearest existing folder, and the
// error names the copy. This also holds if another folder has the name of the removed one.
func TestRescuedFromAFolderThatIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps open files where they are")
	}
	for _, again := range []bool{false, true} {
		above := t.TempDir()
		folder := filepath.Join(above, "book")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Chdir(folder)
		db, err := storage.OpenWriter(t.Context(), "story.db", "the test", clock)
		if err != nil {
			t.Fatal(err)
		}
		want := filepath.Join(above, "story.db.rescued")
		if err = os.RemoveAll(folder); again {
			err = errors.Join(err, os.Mkdir(folder, 0o700))
			want = filepath.Join(folder, "story.db.rescued")
		}
		if err != nil {
			t.Fatal(err)
		}
		err = db.Run.Halt(t.Context(), "to write something")
		refusal := (*annotator.Error)(nil)
		if !errors.As(err, &refusal) || refusal.Reason != annotator.ReasonRescued ||
			fmt.Sprint(refusal.Args...) != want {
			t.Fatalf("it says: %v", err)
		}
		if err := errors.Join(db.Close()); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(want); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the copy: %v, %v", info, err)
		}
	}
}
