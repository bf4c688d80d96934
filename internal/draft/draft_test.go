package draft_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator/internal/draft"
)

// holdEnv names the file that a child of the test binary makes a draft of, to be killed over it.
const holdEnv = "ANNOTATOR_TEST_DRAFT"

func TestMain(m *testing.M) {
	if target := os.Getenv(holdEnv); target != "" {
		d, err := draft.New(target)
		if err == nil {
			err = os.WriteFile(d.Path+"-journal", nil, 0o600)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(d.Path)
		_, _ = io.ReadAll(os.Stdin) // for ever: it is killed
	}
	os.Exit(m.Run())
}

// hold has another process make a draft, and returns its path.
func hold(t *testing.T, target string) (path string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+target)
	in, err := cmd.StdinPipe() // to be held open
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	path = strings.TrimSpace(line)
	if _, failed := os.Stat(path); err != nil || failed != nil {
		t.Fatalf("the child says %q, %v", line, err)
	}
	return path, kill
}

// in lists a folder.
func in(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, file.Name())
	}
	return names
}

// TestKilled: what a killed process left is cleared away by the next draft of the same file; what another has in hand is not, nor is
// what is no draft of that file.
func TestKilled(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target := filepath.Join(folder, "codex.json")
	others := []string{".codex.json.1.tmp", ".codex.json.draft.txt", ".codex.json.mine.draft", ".codex.json.old.12.draft", ".codex.jsonl.12.draft"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dead, kill := hold(t, target)
	alive, _ := hold(t, target)
	kill()
	d, err := draft.New(target)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{}, others...)
	for _, path := range []string{alive, d.Path} {
		want = append(want, filepath.Base(path), filepath.Base(path)+".lock")
	}
	want = append(want, filepath.Base(alive)+"-journal")
	slices.Sort(want)
	if got := in(t, folder); !slices.Equal(got, want) {
		t.Errorf("behind the kill of %s there are %v, want %v", dead, got, want)
	}
	if err := os.WriteFile(d.Path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Place(); err != nil {
		t.Fatal(err)
	}
	d.Discard()
	if text, err := os.ReadFile(target); err != nil || string(text) != "new" {
		t.Errorf("in the file's place there is %q, %v", text, err)
	}
}

func TestDiscarded(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d, err := draft.New(filepath.Join(folder, "codex.json"))
	if err != nil {
		t.Fatal(err)
	}
	d.Discard()
	d.Discard()
	if left := in(t, folder); left != nil {
		t.Errorf("left are %v", left)
	}
	if _, err := draft.New(filepath.Join(folder, "nowhere", "codex.json")); !os.IsNotExist(err) {
		t.Errorf("in a folder that is not there a draft is made: %v", err)
	}
}

// TestAtOnce: many that make drafts of one file at once take nothing from each other.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target := filepath.Join(folder, "codex.json")
	failed := make(chan error)
	for n := range 8 {
		go func() {
			var err error
			for round := 0; round < 50 && err == nil; round++ {
				err = place(target, fmt.Sprint(n))
			}
			failed <- err
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if left := in(t, folder); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

func place(target, text string) error {
	d, err := draft.New(target)
	if err != nil {
		return err
	}
	defer d.Discard()
	if err := os.WriteFile(d.Path, []byte(text), 0o600); err != nil {
		return err
	}
	return d.Place()
}
