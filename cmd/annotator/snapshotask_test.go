package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"annotator/internal/longtest"
)

// TestInterruptWhileNobodyAsks ends a conversation that waits for a question.
func TestInterruptWhileNobodyAsks(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "signals to another process")
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
