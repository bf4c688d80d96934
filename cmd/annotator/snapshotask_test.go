package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptWhileNobodyAsks ends a conversation that waits for a question.
func TestInterruptWhileNobodyAsks(t *testing.T) {
	t.Parallel()
	_, _, db := finishedRun(t)
	cmd := exec.Command("annotator", "snapshot", "ask", "1", "--interactive", "--db", db)
	cmd.Dir = filepath.Dir(db)
	questions, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	if _, err := io.WriteString(questions, "Who is Ysolde Marrow?\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(answers).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("the conversation ends with %v, want %d", err, exitInterrupted)
	}
}

// finishedRun makes a run, and an app that prints answers and errors to one buffer.
func finishedRun(t *testing.T) (a *app, out *bytes.Buffer, db string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "quay.jsonl")
	if err := os.WriteFile(source, []byte(twoScenes), 0o600); err != nil {
		t.Fatal(err)
	}
	a, out = newTestApp(nil)
	a.now, a.err = time.Now, io.Discard
	if status := a.run(t.Context(), []string{"run", source, "--quiet"}); status != exitDone {
		t.Fatalf("the run ends with %d: %s", status, out)
	}
	db = strings.TrimSpace(out.String())
	out.Reset()
	a.err = out
	return a, out, db
}

func FuzzCitations(f *testing.F) {
	for _, text := range []string{
		"", "It was so [post 12].", "[post 12] and [Post 13], [posts 14, 15; 12]", "[post: 7]", "post 9", "[post x]", "[post 99999999999999999999]", "[post 1", "[[post 2]]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := citedPosts(text)
		for i, id := range ids {
			if slices.Contains(ids[:i], id) || id < 0 {
				t.Errorf("%q names %v", text, ids)
			}
			if !strings.Contains(text, strings.TrimLeft(strconv.FormatInt(id, 10), "0")) {
				t.Errorf("%q names %d", text, id)
			}
		}
	})
}

func TestCitations(t *testing.T) {
	t.Parallel()
	got := citedPosts("It was so [post 12], [Posts 14, 15; 12], [post #7], not post 9 or [post x].")
	if want := []int64{12, 14, 15, 7}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
