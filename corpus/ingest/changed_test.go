package ingest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/internal/longtest"
)

// A source that is written to while it is imported gives no corpus.
func TestChangedWhileImported(t *testing.T) {
	t.Parallel()
	text := "CHAPTER I\n\nShe lit the lantern.\n\nCHAPTER II\n\nShe walked on.\n"
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for name, change := range map[string]func(path string) error{
		"truncated":   func(path string) error { return os.Truncate(path, 40) },
		"emptied":     func(path string) error { return os.Truncate(path, 0) },
		"overwritten": write(strings.ReplaceAll(text, "lantern", "candles")),
		"lengthened":  write(text + "\nAnd on.\n"),
		"removed":     os.Remove,
		"new file":    func(path string) error { return write(text)(filepath.Join(filepath.Dir(path), "b.txt")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "removed" {
				longtest.Unix(t, "the removal of open files")
			}
			path := files(t, map[string]string{"a.txt": text})[0]
			o := ingest.Options{Sources: []string{path}, Corpus: filepath.Join(t.TempDir(), "made.corpus.db")}
			if name == "new file" {
				o.Sources[0] = filepath.Dir(path)
			}
			for _, when := range []string{"before it is read", "after it was read"} {
				if err := write(text)(path); err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(filepath.Join(filepath.Dir(path), "b.txt"))
				changed := false
				_, err := ingest.Import(t.Context(), o, func(p ingest.Progress) {
					if !changed && (when == "before it is read" || p.Done > 0) {
						changed = true
						if err := change(path); err != nil {
							t.Error(err)
						}
					}
				})
				if annotator.KindOf(err) != annotator.Misused ||
					!strings.Contains(err.Error(), "changed while it was imported") {
					t.Errorf("changed %s: %v", when, err)
				}
				if _, err := os.Stat(o.Corpus); err == nil {
					t.Errorf("changed %s: there is a corpus", when)
				}
			}
		})
	}
}

// A corpus that was made of another state of its source is not used.
func TestChangedSinceImport(t *testing.T) {
	t.Parallel()
	path := files(t, map[string]string{"a.txt": "CHAPTER I\n\nShe lit the lantern.\n"})[0]
	o := ingest.Options{Sources: []string{path}, Corpus: filepath.Join(t.TempDir(), "made.corpus.db")}
	mustImport(t, o).close(t)
	other := o
	other.SceneTokens = 7
	if _, err := tryImport(t, other); err == nil || !strings.Contains(err.Error(), "holds another import") {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("CHAPTER I\n\nShe lost the lantern.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tryImport(t, o); annotator.KindOf(err) != annotator.Misused ||
		!strings.Contains(err.Error(), "has changed since") {
		t.Error(err)
	}
	o.Replace = true
	mustImport(t, o)
}
