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
}

// TestFilesHaveTheUmask: an export has the permissions of a new file, and keeps those of a file that it replaces.
// Without a umask, only the owner has permissions here.
func TestFilesHaveTheUmask(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permissions of this kind")
	}
	folder := t.TempDir()
	plain, err := os.Create(filepath.Join(folder, "plain"))
	if err = errors.Join(err, plain.Close(), os.Mkdir(filepath.Join(folder, "folder"), 0o777)); err != nil {
		t.Fatal(err)
	}
	path, csv := filepath.Join(folder, "codex.json"), filepath.Join(folder, "csv")
	if err := errors.Join(exporters.WriteFile(path, writes("x")), filesOf(map[string]string{"entries.csv": "x"}).
		WriteFolder(t.Context(), csv, nil)); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{path, "plain"}, {filepath.Join(csv, "entries.csv"), "plain"}, {csv, "folder"}} {
		if got, want := permissions(t, pair[0]), permissions(t, filepath.Join(folder, pair[1])); got != want {
			t.Errorf("%s has the permissions %v, want %v", pair[0], got, want)
		}
	}
	if err := errors.Join(os.Chmod(path, 0o640), exporters.WriteFile(path, writes("y"))); err != nil {
		t.Fatal(err)
	}
	if got := permissions(t, path); got != 0o640 {
		t.Errorf("a file of 0640 was replaced by one of %v", got)
	}
}

func permissions(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestWriteFileRemovesTemporaryFiles: a writer removes the temporary files of a killed writer.
func TestWriteFileRemovesTemporaryFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codex.json")
	left := filepath.Join(filepath.Dir(path), ".codex.json.12345.draft")
	if err := errors.Join(os.WriteFile(left, []byte("ne"), 0o600),
		exporters.WriteFile(path, writes("new"))); err != nil {
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
	if advised := (*annotator.Error)(nil); !errors.Is(err, errFull) || !errors.As(err, &advised) ||
		advised.Kind != annotator.Halted || advised.Advice == "" {
		t.Errorf("error: %v", err)
	}
	ours := annotator.Errorf(annotator.Storage, "read the codex: %w", errFull)
	if err := exporters.WriteFile(path, func(io.Writer) error { return ours }); !errors.Is(err, ours) ||
		err.Error() != ours.Error() {
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
