package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// onFullDisk runs a command in a folder, as a process with a limit of the size of files, in blocks of 512 bytes. Writes
// beyond it fail as on a full disk.
func onFullDisk(t *testing.T, folder string, blocks int, args ...string) (status int, out, told string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh",
		append([]string{"-c", fmt.Sprintf(`trap "" XFSZ; ulimit -f %d; exec annotator "$@"`, blocks), "sh"},
			args...)...)
	cmd.Dir = folder
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// TestFullDisk: on a full disk, commands that read succeed, and commands that write report the cause. An answer that
// cannot be recorded is printed.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	_, _, db := finishedRun(t)
	folder := filepath.Dir(db)
	const (
		noIndex = 16 // blocks; the index of a log has 64
		noLog   = 64
	)
	for _, c := range []struct {
		blocks    int
		args      []string
		status    int
		out, told string
	}{
		{noIndex, []string{"status"}, exitDone, "2 of 2 (100 %)", ""},
		{noIndex, []string{"show", "1"}, exitDone, "Ysolde Marrow  #1", ""},
		{noIndex, []string{"export", "--format", "json"}, exitDone, `"count"`, ""},
		{noIndex, []string{"verify"}, exitDone, "quotations       ok", ""},
		{
			noIndex,
			[]string{"run", "quay.jsonl"},
			exitHalted, "",
			"no room for the index of its log: disk I/O error (4874)\nannotator: free space on the disk, then " +
				"run again\n",
		},
		{
			noLog,
			[]string{"ask", "Who is Ysolde Marrow?"},
			exitHalted, "[post ",
			"annotator: record an answer in quay.annotator.db",
		},
	} {
		status, out, told := onFullDisk(t, folder, c.blocks, c.args...)
		if status != c.status || !strings.Contains(out, c.out) || !strings.Contains(told, c.told) {
			t.Errorf("%v ends with %d: %s%s", c.args, status, out, told)
		}
	}
	status, _, told := onFullDisk(t, folder, noIndex, "run", "quay.jsonl", "--no-resume")
	if left, err := filepath.Glob(filepath.Join(folder, "*-2.db*")); status != exitHalted || err != nil ||
		len(left) > 0 {
		t.Errorf("a run that cannot begin ends with %d, and leaves %v: %s", status, left, told)
	}
	a, out := newTestApp(nil)
	if status := a.run(t.Context(), []string{"verify", "--db", db}); status != exitDone {
		t.Errorf("with room again verify ends with %d: %s", status, out)
	}
}

// TestServerOnFullDisk: a server that was started on a full disk shows what a run adds later.
func TestServerOnFullDisk(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "quay.jsonl")
	if err := os.WriteFile(source, []byte(twoScenes), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "annotator", append([]string{"run", source, "--quiet"},
			args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run("--limit", "1")
	server := exec.CommandContext(t.Context(), "sh", "-c", `trap "" XFSZ; ulimit -f 16; exec annotator serve --listen `+
		`127.0.0.1:0 quay.jsonl`)
	server.Dir = filepath.Dir(source)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	var address string
	if _, err := fmt.Fscanf(out, "serving %s until", &address); err != nil {
		t.Fatal(err)
	}
	scene := func() int {
		answer, err := http.Get(address + "quay/snapshot/2?as-of=all")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.StatusCode
	}
	if got := scene(); got != http.StatusNotFound {
		t.Fatalf("before the second scene its snapshot is shown with %d", got)
	}
	run()
	for deadline := time.Now().Add(20 * time.Second); scene() != http.StatusOK; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server does not show what the run has added")
		}
	}
}

// TestFullDiskLeavesNoPart: no part of a file remains that a person edits. An empty file would omit a part of the
// prompt.
func TestFullDiskLeavesNoPart(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"init", "annotator.yaml"}, {"prompts", "init", "."}} {
		folder := t.TempDir()
		if status, _, told := onFullDisk(t, folder, 0, args...); status != exitMisused {
			t.Errorf("%v ends with %d: %s", args, status, told)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%v leaves %v, %v", args, left, err)
		}
	}
}
