package exporters_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
)

// filesOf is a format that writes files with the given contents.
func filesOf(contents map[string]string) *exporters.Format {
	return &exporters.Format{Name: "files", WriteFiles: func(_ context.Context, files exporters.Files,
		_ *exporters.Codex,
	) error {
		for name, text := range contents {
			w, err := files.Create(name)
			if err == nil {
				_, err = fmt.Fprint(w, text)
			}
			if err != nil || text == "fail" {
				return errors.Join(errFull, err)
			}
		}
		return nil
	}}
}

// contents returns the files of a folder, without its list of files.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".annotator-export") {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		found[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWriteFolderReplacesItsFiles(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	write := func(files map[string]string) error { return filesOf(files).WriteFolder(t.Context(), folder, nil) }
	holds := func(want map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, contents(t, folder)); diff != "" {
			t.Errorf("the folder (-want +got):\n%s", diff)
		}
	}
	if err := write(map[string]string{"a.md": "1", "deep/er/b.md": "2", "c.md": "3"}); err != nil {
		t.Fatal(err)
	}
	// Files of the user are kept. Files that the next export lacks are removed.
	if err := os.WriteFile(filepath.Join(folder, "own.md"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(map[string]string{"a.md": "1a", "deep/er/b.md": "2"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.md": "1a", "deep/er/b.md": "2", "own.md": "mine"}
	holds(want)
	// A failure changes nothing.
	if err := write(map[string]string{"a.md": "fail"}); !errors.Is(err, errFull) {
		t.Errorf("a format that fails: %v", err)
	}
	holds(want)
	// Neither an added nor a changed file is lost, even one that the export would remove.
	if err := write(map[string]string{"own.md": "theirs"}); !errors.Is(err, annotator.Misused) {
		t.Errorf("over a file of the reader's: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "deep/er/b.md"), []byte("noted"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(map[string]string{"a.md": "1b"}); !errors.Is(err, annotator.Misused) {
		t.Errorf("over a changed file: %v", err)
	}
	want["deep/er/b.md"] = "noted"
	holds(want)
}

// TestWriteFolderKeepsOwnParts: exports keep the text of the user below the line, also in a file that they no longer
// have. Lines that were added above it are moved there.
func TestWriteFolderKeepsOwnParts(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	const line = "%% yours %%"
	write := func(files map[string]string) error {
		for name, text := range files {
			files[name] = text + line + "\n"
		}
		format := filesOf(files)
		format.OwnPart = line
		return format.WriteFolder(t.Context(), folder, nil)
	}
	edit := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		export map[string]string
		edit   [2]string
		want   map[string]string
	}{
		{
			export: map[string]string{"a.md": "A1\n", "b.md": "B1\n", "c.md": "C1\n"},
			edit:   [2]string{"a.md", "A1\n" + line + "\n\nI like her.\n" + line},
			want: map[string]string{
				"a.md": "A1\n" + line + "\n\nI like her.\n" + line, "b.md": "B1\n" + line + "\n",
				"c.md": "C1\n" + line + "\n",
			},
		},
		{
			export: map[string]string{"a.md": "A2\n", "b.md": "B2\n"},
			edit:   [2]string{"b.md", "B2\n" + line + "and him"},
			want: map[string]string{
				"a.md": "A2\n" + line + "\n\nI like her.\n" + line,
				"b.md": "B2\n" + line + "and him",
			},
		},
		{
			export: map[string]string{"a.md": "A3\n"},
			want:   map[string]string{"a.md": "A3\n" + line + "\n\nI like her.\n" + line, "b.md": line + "\nand him"},
		},
		{
			export: map[string]string{"b.md": "B4\n"},
			want:   map[string]string{"a.md": line + "\n\nI like her.\n" + line, "b.md": "B4\n" + line + "\nand him"},
		},
	}
	for i, step := range steps {
		if err := write(step.export); err != nil {
			t.Fatal(err)
		}
		if step.edit[0] != "" {
			edit(step.edit[0], step.edit[1])
		}
		if diff := cmp.Diff(step.want, contents(t, folder)); diff != "" {
			t.Fatalf("export %d (-want +got):\n%s", i+1, diff)
		}
	}
	edit("b.md", "I think\nB4\n"+line+"\nand him")
	for range 2 {
		if err := write(map[string]string{"b.md": "B5\n"}); err != nil {
			t.Fatal(err)
		}
		want := "B5\n" + line + "\nI think\nand him"
		if got := contents(t, folder)["b.md"]; got != want {
			t.Errorf("a line that was added above: %q, not %q", got, want)
		}
	}
}

func TestWriteFolderRefusesForeignFolders(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	outside := filepath.Join(t.TempDir(), "kept")
	if err := errors.Join(os.WriteFile(outside, []byte("kept"), 0o600), os.WriteFile(filepath.Join(folder, "theirs"),
		nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	format := filesOf(map[string]string{"a": "1"})
	if err := format.WriteFolder(t.Context(), folder, nil); !errors.Is(err, annotator.Misused) {
		t.Errorf("a folder of others: %v", err)
	}
	if err := format.WriteFolder(t.Context(), outside, nil); !errors.Is(err, annotator.Misused) {
		t.Errorf("a file: %v", err)
	}
	// A list of files with a path outside of the folder.
	list := `{"../` + filepath.Base(filepath.Dir(outside)) + `/kept": ""}`
	if err := os.WriteFile(filepath.Join(folder, ".annotator-export.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := format.WriteFolder(t.Context(), folder, nil); !errors.Is(err, annotator.Misused) {
		t.Errorf("a list that leads out: %v", err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
