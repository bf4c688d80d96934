package exporters_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"annotator"
	"annotator/exporters"
)

func writes(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestWriteFileReplaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codex.json")
	for _, text := range []string{"first", "second"} {
		if err := exporters.WriteFile(path, writes(text)); err != nil {
			t.Fatal(err)
		}
		holds(t, path, text)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %o", mode)
	}
}

// TestWriteFileClearsUp: a writer removes the temporary files of a killed writer.
func TestWriteFileClearsUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codex.json")
	left := filepath.Join(filepath.Dir(path), ".codex.json.12345.draft")
	if err := errors.Join(os.WriteFile(left, []byte("ne"), 0o600), exporters.WriteFile(path, writes("new"))); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
}

func TestWriteFileLeavesTheOldFileWhereItFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codex.json")
	if err := exporters.WriteFile(path, writes("old")); err != nil {
		t.Fatal(err)
	}
	err := exporters.WriteFile(path, func(w io.Writer) error { return errors.Join(writes("ne")(w), errFull) })
	if advised := (*annotator.Error)(nil); !errors.Is(err, errFull) || !errors.As(err, &advised) || advised.Kind != annotator.Halted || advised.Advice == "" {
		t.Errorf("error: %v", err)
	}
	ours := annotator.Errorf(annotator.Storage, "read the codex: %w", errFull)
	if err := exporters.WriteFile(path, func(io.Writer) error { return ours }); !errors.Is(err, ours) || err.Error() != ours.Error() {
		t.Errorf("error: %v", err)
	}
	holds(t, path, "old")
}

func TestWriteFileRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target, link := filepath.Join(folder, "target"), filepath.Join(folder, "link")
	if err := errors.Join(os.WriteFile(target, []byte("mine"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a link":                     link,
		"a folder":                   folder,
		"a folder that is not there": filepath.Join(folder, "nowhere", "codex.json"),
		"a file for a folder":        filepath.Join(target, "codex.json"),
	} {
		err := exporters.WriteFile(path, func(io.Writer) error {
			t.Errorf("%s: written to", name)
			return nil
		})
		if !errors.Is(err, annotator.Misused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "mine" {
		t.Errorf("the link's target: %q, %v", text, err)
	}
}

// holds checks the content of a file, and that no other file is left.
func holds(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("files in the folder: %v, %v", files, err)
	}
}
