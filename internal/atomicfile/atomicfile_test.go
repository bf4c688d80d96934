package atomicfile_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"annotator/internal/atomicfile"
)

// holdEnv names the target of a child process, which creates a temporary file and waits to be killed.
const holdEnv = "ANNOTATOR_TEST_ATOMICFILE"

func TestMain(m *testing.M) {
	if target := os.Getenv(holdEnv); target != "" {
		f, err := atomicfile.Create(target)
		if err == nil {
			err = os.WriteFile(f.Path+"-journal", nil, 0o600)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(f.Path)
		_, _ = io.ReadAll(os.Stdin) // until it is killed
	}
	os.Exit(m.Run())
}

// hold starts a process that creates a temporary file for the target, and returns the path of that file.
func hold(t *testing.T, target string) (path string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+target)
	in, err := cmd.StdinPipe() // kept open
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

// TestKilledProcessesLeaveNoFile: Create removes the temporary file of a killed process. It keeps that of a live
// process, and files of other names.
func TestKilledProcessesLeaveNoFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target := filepath.Join(folder, "codex.json")
	others := []string{
		".codex.json.1.tmp", ".codex.json.draft.txt", ".codex.json.mine.draft",
		".codex.json.old.12.draft", ".codex.jsonl.12.draft",
	}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dead, kill := hold(t, target)
	alive, _ := hold(t, target)
	kill()
	f, err := atomicfile.Create(target)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{}, others...)
	for _, path := range []string{alive, f.Path} {
		want = append(want, filepath.Base(path), filepath.Base(path)+".lock")
	}
	want = append(want, filepath.Base(alive)+"-journal")
	slices.Sort(want)
	if got := in(t, folder); !slices.Equal(got, want) {
		t.Errorf("after the kill of %s the folder has %v, want %v", dead, got, want)
	}
	if err := os.WriteFile(f.Path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if text, err := os.ReadFile(target); err != nil || string(text) != "new" {
		t.Errorf("the target holds %q, %v", text, err)
	}
}

func TestDiscardLeavesNoFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	f, err := atomicfile.Create(filepath.Join(folder, "codex.json"))
	if err != nil {
		t.Fatal(err)
	}
	f.Discard()
	f.Discard()
	if left := in(t, folder); left != nil {
		t.Errorf("left are %v", left)
	}
	if _, err := atomicfile.Create(filepath.Join(folder, "nowhere", "codex.json")); !os.IsNotExist(err) {
		t.Errorf("in a missing folder Create returns %v", err)
	}
}

// TestConcurrentWriters of one target do not disturb each other.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target := filepath.Join(folder, "codex.json")
	failed := make(chan error)
	for n := range 8 {
		go func() {
			var err error
			for round := 0; round < 50 && err == nil; round++ {
				err = commit(target, fmt.Sprint(n))
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

func commit(target, text string) error {
	f, err := atomicfile.Create(target)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
		return err
	}
	return f.Commit()
}

// TestNewTargetsAreWhole reads a new target repeatedly during CommitNew. The target never exists without its content,
// so a killed process leaves no empty file.
func TestNewTargetsAreWhole(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var newest atomic.Pointer[string]
	done := make(chan struct{})
	seen := make(chan int, 1)
	go func() {
		partial := 0
		for {
			select {
			case <-done:
				seen <- partial
				return
			default:
			}
			if target := newest.Load(); target != nil {
				if info, err := os.Stat(*target); err == nil && info.Size() == 0 {
					partial++
				}
			}
		}
	}()
	for n := range 100 {
		target := filepath.Join(folder, fmt.Sprint(n))
		newest.Store(&target)
		f, err := atomicfile.Create(target)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(f.Path, []byte("new"), 0o600), f.CommitNew()); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	if partial := <-seen; partial > 0 {
		t.Errorf("an empty target was seen %d times", partial)
	}
}

// TestNewTargetsAreNew: CommitNew does not change an existing target.
func TestNewTargetsAreNew(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	there, dangling := filepath.Join(folder, "there"), filepath.Join(folder, "dangling")
	if err := errors.Join(os.WriteFile(there, []byte("mine"), 0o600), os.Symlink("nowhere", dangling)); err != nil {
		t.Skip(err)
	}
	for _, target := range []string{there, dangling} {
		f, err := atomicfile.Create(target)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.CommitNew(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", target, err)
		}
		f.Discard()
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("the target holds %q, %v", text, err)
	}
	if left := in(t, folder); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
}
