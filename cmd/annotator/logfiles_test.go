package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLogContinuesOnANewLine: after a partial line, writing continues on a new line.
func TestLogContinuesOnANewLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	for before, want := range map[string]string{"": "new\n", "whole\n": "whole\nnew\n", "to": "to\nnew\n"} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openLogFile(path, "the events", func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte("new\n")); err != nil {
			t.Error(err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("behind %q there is %q (%v), want %q", before, got, err, want)
		}
	}
}

// TestLogsAreNotWrittenToDatabases: neither log nor events are written to a database or to a file that belongs to one,
// also of this run. The error comes before any file is created.
func TestLogsAreNotWrittenToDatabases(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write(t, in("quay.jsonl"), []byte(twoScenes))
	write(t, in("other.sqlite"), []byte("SQLite format 3\x00"+strings.Repeat("x", 500)))
	if err := os.Symlink(in("mine.db"), in("link")); err != nil {
		t.Skip(err)
	}
	a, out := newTestApp(nil)
	a.err, a.now = out, time.Now
	for _, name := range []string{
		"quay.jsonl", "mine.db", "mine.db-wal", "mine.db-shm", "mine.db-journal", "mine.db.lock",
		"./sub/../mine.db-wal", "link", "quay.corpus.db",
		"quay.corpus.db-wal", "other.sqlite", "other.sqlite-wal", "later.annotator.db", "later.annotator-2.db-shm",
		"later.annotator.db.rescued",
	} {
		for _, flag := range []string{"--events", "--log-file"} {
			out.Reset()
			status := a.run(t.Context(), []string{
				"run", in("quay.jsonl"), "--db", in("mine.db"), flag,
				folder + "/" + name, "--endpoint", "http://127.0.0.1:1/v1", "--patience", "0s",
			})
			if status != exitMisused || !strings.Contains(out.String(), "name another file") {
				t.Errorf("%s %s ends with %d: %s", flag, name, status, out)
			}
		}
	}
	if made, err := os.ReadDir(folder); err != nil || len(made) != 3 {
		t.Errorf("made %v, %v", made, err)
	}
}

// TestRunEndsWhenItsEventsAreNotRead sends the events of a run to an open pipe that is never read. The run finishes the
// story and ends.
func TestRunEndsWhenItsEventsAreNotRead(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip(err)
	}
	source := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(source, []byte(longStory(150)), 0o600); err != nil {
		t.Fatal(err)
	}
	held, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	defer pipe.Close()
	run := exec.Command("annotator", "run", source, "--events", "/dev/fd/3")
	run.ExtraFiles = []*os.File{pipe}
	output, err := run.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitHalted || !strings.Contains(string(output),
		"the file of events has not read its notices") {
		t.Errorf("the run ends with %v and says\n%s", err, output)
	}
	if !strings.Contains(string(output), "150 of 150 scenes read") {
		t.Errorf("the run did not go to the end:\n%s", output)
	}
}

// longStory returns a story with a number of scenes, as JSON lines.
func longStory(scenes int) string {
	var b strings.Builder
	for n := range scenes {
		fmt.Fprintf(&b, `{"thread":1,"id":%d,"title":"The Quay","name":"QM","time":%d,"body":"Captain Ysolde Marrow `+
			`walked %d miles.","tags":["qm_post"]}`+"\n",
			2*n+1, 20*n, n)
		fmt.Fprintf(&b, `{"thread":1,"id":%d,"name":"Reader","time":%d,"body":"Follow her."}`+"\n", 2*n+2, 20*n+10)
	}
	return b.String()
}
