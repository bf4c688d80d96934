package tables_test

import (
	"os"
	"path/filepath"
	"testing"

	"annotator/internal/tables"
)

func TestDocumentKeepsItsProse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "figures.md")
	if err := os.WriteFile(path, []byte("Before.\n<!-- a -->\nold\n<!-- end -->\nAfter.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tables.Write(path, map[string]string{"a": "new\n"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "Before.\n<!-- a -->\n\nnew\n\n<!-- end -->\nAfter.\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if err := tables.Write(path, map[string]string{"b": "new\n"}); err == nil {
		t.Error("a table without a place is taken for written")
	}
}
