package exporters_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
)

// exportEnv names the folder that a child process exports to until it is killed.
const exportEnv = "ANNOTATOR_TEST_EXPORT"

func TestMain(m *testing.M) {
	if folder := os.Getenv(exportEnv); folder != "" {
		for n := 0; ; n++ {
			if err := filesOf(edition(n)).WriteFolder(context.Background(), folder, nil); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			if n == 0 {
				fmt.Println("exporting")
			}
		}
	}
	os.Exit(m.Run())
}

// edition returns the files of an export. Two editions differ in their files and the contents of files.
func edition(n int) map[string]string {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("People/%d.md", i+n%3)] = fmt.Sprintf("edition %d", n%2)
	}
	return files
}

// startExport starts a process that exports to a folder repeatedly, and returns after its first export.
func startExport(t *testing.T, folder string) (kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), exportEnv+"="+folder)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "exporting\n" {
		t.Fatalf("the child says %q", line)
	}
	return func() {
		_ = cmd.Process.Kill()
		if said, _ := io.ReadAll(out); len(said) > 0 {
			t.Errorf("the child says %q", said)
		}
		_ = cmd.Wait()
	}
}

// TestWriteFolderKilled: an export after a killed one completes the folder, and leaves no temporary folder.
func TestWriteFolderKilled(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	folder := filepath.Join(parent, "vault")
	for n := range 15 {
		if n%3 == 0 { // the folder is new
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
		}
		kill := startExport(t, folder)
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
		kill()
		want := edition(rand.IntN(6))
		if err := filesOf(want).WriteFolder(t.Context(), folder, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, contents(t, folder)); diff != "" {
			t.Fatalf("kill %d: the folder (-want +got):\n%s", n, diff)
		}
		for _, of := range []string{parent, folder} {
			for _, entry := range entriesIn(t, of) {
				if entry != "vault" && entry != "People" && entry != ".annotator-export.json" {
					t.Fatalf("kill %d: %s has %s", n, of, entry)
				}
			}
		}
	}
}

// TestWriteFolderConcurrently: an export does not remove the temporary folder of an active one. It removes that of a
// dead one, also if its list of files is incomplete.
func TestWriteFolderConcurrently(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	folder := filepath.Join(parent, "vault")
	stale := []string{".vault.123.draft", "vault", "vault/..annotator-export.json.5.draft", ".vault.mine.draft"}
	for _, name := range stale {
		if err := os.MkdirAll(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	going := exporters.Format{Name: "files", WriteFiles: func(ctx context.Context, files exporters.Files,
		c *exporters.Codex,
	) error {
		w, err := files.Create("a.md")
		if err != nil {
			return err
		}
		if err := filesOf(map[string]string{"a.md": "mine"}).WriteFolder(ctx, folder, c); err != nil {
			return err
		}
		_, err = fmt.Fprint(w, "mine")
		return err
	}}
	if err := going.WriteFolder(t.Context(), folder, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a.md": "mine"}, contents(t, folder)); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{".vault.mine.draft", "vault"}, entriesIn(t, parent)); diff != "" {
		t.Errorf("beside the folder (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{".annotator-export.json", "a.md"}, entriesIn(t, folder)); diff != "" {
		t.Errorf("in the folder (-want +got):\n%s", diff)
	}
}

// entriesIn returns the names in a folder.
func entriesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
