package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"annotator/internal/scripted"

	"github.com/google/go-cmp/cmp"
)

// killEnv has a pattern. A process of this program is killed when a file matches it.
const killEnv = "ANNOTATOR_TEST_KILL"

// killAtFile kills this process when a file matches a pattern; never for no pattern. A pattern may end with @ and the
// time from then on.
func killAtFile(pattern string) {
	pattern, after, _ := strings.Cut(pattern, "@")
	for pattern != "" {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			later, _ := time.ParseDuration(after)
			time.Sleep(later)
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// books have two stories, each in a folder with the run of the first one.
type books struct {
	*testing.T
	finished string // folder
	endpoint string
	process  atomic.Pointer[os.Process]
	requests atomic.Int64 // of the process
	last     atomic.Int64 // the request at which it is killed; 0: at none
}

var twoBooks = map[string]string{
	"one.txt": `CHAPTER I

Captain Ysolde Marrow, a captain of the Mere Watch, walked down to Gallows Quay before dawn, and nobody saw her there.

CHAPTER II

At Gallows Quay the harbourmaster Hadrian Thesk counted the lamps. Captain Marrow said that he had never lit one.
`,
	"two.txt": `CHAPTER I

In the spring Hadrian Thesk was a prisoner on Skerry Rock. Captain Marrow came to Skerry Rock with a lamp for him.

CHAPTER II

The boy Tobin Vane rowed the captain home. Tobin Vane said nothing of Skerry Rock to Captain Marrow or to anybody else.
`,
}

func newBooks(t *testing.T) *books {
	b := newPrograms(t)
	for name, text := range twoBooks {
		if err := os.WriteFile(filepath.Join(b.finished, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.succeeds(b.finished, "run", "one.txt", "--quiet")
	return b
}

// newPrograms returns an empty folder, and an endpoint for programs that are run there.
func newPrograms(t *testing.T) *books {
	b := &books{T: t, finished: t.TempDir()}
	model := scripted.New(scripted.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.requests.Add(1) == b.last.Load() {
			_ = b.process.Load().Kill()
			panic(http.ErrAbortHandler)
		}
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.endpoint = server.URL + "/v1"
	return b
}

// folder returns a copy of the folder in which the first book is read.
func (b *books) folder() string {
	folder := b.TempDir()
	if err := os.CopyFS(folder, os.DirFS(b.finished)); err != nil {
		b.Fatal(err)
	}
	return folder
}

// begins are the arguments of the run of the second book. It has another model and another prompt than the first.
func (b *books) begins() []string {
	return []string{
		"run", "two.txt", "--after", "one.annotator.db", "--endpoint", b.endpoint, "--kinds", "person,place",
	}
}

// run runs the program in a folder until it ends or is killed: when a file matches a pattern, or at a request.
func (b *books) run(folder, file string, request int64, arguments ...string) (out []byte, err error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(b.Context(), "annotator", arguments...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &stdout, &stderr
	cmd.Env = append(os.Environ(), killEnv+"="+file)
	b.requests.Store(0)
	b.last.Store(request)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.process.Store(cmd.Process)
	if err = cmd.Wait(); err != nil {
		b.Logf("%q ends with %v: %s", arguments, err, &stderr)
	}
	return stdout.Bytes(), err
}

func (b *books) succeeds(folder string, arguments ...string) []byte {
	b.Helper()
	out, err := b.run(folder, "", 0, arguments...)
	if err != nil {
		b.Fatalf("%q ends with %v", arguments, err)
	}
	return out
}

// TestBookKilledAtItsBeginning kills the run of a next book at each step of its beginning. The same command then begins
// or resumes it, and the codex is that of an undisturbed run.
func TestBookKilledAtItsBeginning(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	exported := func(folder string) string {
		b.succeeds(folder, "verify", "--db", "two.annotator.db")
		return string(b.succeeds(folder, "export", "--db", "two.annotator.db", "--format", "json"))
	}
	calm := b.folder()
	b.succeeds(calm, b.begins()...)
	want := exported(calm)
	steps := []struct {
		name, file string
		request    int64
	}{
		{"the corpus is written", ".two.corpus.db.*.draft", 0},
		{"the corpus is there", "two.corpus.db", 0},
		{"the database is copied", ".two.annotator.db.*.draft", 0},
		{"the database is there", "two.annotator.db", 0},
		{"the scenes are taken", "", 1}, // it asks for the models
		{"the prompt is recorded", "", 2},
		{"the first scene is begun", "", 4},
	}
	for _, step := range steps {
		folder := b.folder()
		_, err := b.run(folder, step.file, step.request, b.begins()...)
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Exited() {
			t.Errorf("%s: the run was not killed: %v", step.name, err)
		}
		if _, err := b.run(folder, "", 0, b.begins()...); err != nil {
			t.Errorf("%s: the same command ends with %v", step.name, err)
			continue
		}
		if diff := cmp.Diff(want, exported(folder)); diff != "" {
			t.Errorf("%s: the codex differs (-undisturbed +killed):\n%s", step.name, diff)
		}
		if drafts, _ := filepath.Glob(filepath.Join(folder, ".*.draft*")); len(drafts) > 0 {
			t.Errorf("%s: it leaves %s", step.name, slices.Sorted(slices.Values(drafts)))
		}
	}
}

// TestBookResumesWithoutTheOneBefore: the run of a book that was begun needs no file of the book before.
func TestBookResumesWithoutTheOneBefore(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	folder := b.folder()
	b.succeeds(folder, append(b.begins(), "--limit", "1")...)
	for _, name := range []string{"one.txt", "one.corpus.db", "one.annotator.db"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.run(folder, "", 0, append(b.begins(), "--after", "other.txt")...); err == nil {
		t.Error("the run of another book before is accepted")
	}
	b.succeeds(folder, append(b.begins(), "--after", "one.txt", "--limit", "1")...)
	b.succeeds(folder, b.begins()...)
	b.succeeds(folder, "verify", "--db", "two.annotator.db")
}
