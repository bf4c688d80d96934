package storage_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"annotator"
	"annotator/storage"

	"go.uber.org/goleak"
)

// holdEnv names the database that a child of the test binary is to hold until it is killed.
const holdEnv = "ANNOTATOR_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		hold(path)
	}
	if path := os.Getenv(migrateEnv); path != "" {
		dieMigrating(path)
	}
	goleak.VerifyTestMain(m)
}

// migrateEnv names the database in whose migration a child of the test binary is to die, behind the schema and a colon.
const migrateEnv = "ANNOTATOR_TEST_MIGRATE"

// dieMigrating kills its own process in the step that leads to a schema.
func dieMigrating(at string) {
	number, path, _ := strings.Cut(at, ":")
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		_, err = storage.OpenWriter(context.Background(), path, "the child", time.Now, func(schema, _ int) {
			if fmt.Sprint(schema) == number {
				_ = self.Kill()
				time.Sleep(time.Hour)
			}
		})
	}
	fmt.Println("the child lives on:", err)
	os.Exit(1)
}

// hold opens a database, begins a scene and a call in it, says so, and waits for its end.
func hold(path string) {
	ctx := context.Background()
	db, err := storage.OpenWriter(ctx, path, "the child", time.Now)
	if err == nil {
		err = db.Run.Begin(ctx, storage.Corpus{Title: "A story"}, all(scenesOf(2)))
	}
	if err == nil {
		err = db.Scenes.Open(ctx, &annotator.Trace{Scene: 1, Content: "scene 1"})
	}
	if err == nil {
		err = db.Calls.Open(ctx, &annotator.Call{Turn: 1, Scene: 1, Purpose: "annotate", Attempt: 1})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	time.Sleep(time.Hour) // to wait for ever would be a deadlock, where nothing else runs
}

// child starts a process that holds the database at path, and returns when it does.
func child(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	return cmd
}

// TestOneWriter holds a database in another process, then kills that.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "annotator.db")
	holder := child(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{path, link} {
		_, err := storage.OpenWriter(t.Context(), way, "another", clock)
		if annotator.KindOf(err) != annotator.InUse || !strings.Contains(err.Error(), "in use by the child") {
			t.Fatalf("a second writer at %s: %v", way, err)
		}
		if running, err := storage.Running(way); err != nil || !running {
			t.Errorf("a run at %s: %v, %v", way, running, err)
		}
	}
	if err := holder.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	s := &story{tester: t, ctx: t.Context(), path: path, scenes: scenesOf(2)}
	s.open()
	defer func() { _ = s.db.Close() }()
	run, err := s.db.Run.Status(t.Context())
	s.ok(err)
	if run.Holder != "the test" || run.OpenScene != 1 || run.Turn != 1 || run.Calls != 0 {
		t.Errorf("after the kill: %+v", run)
	}
	if open, lost := s.outcomes("open"), s.outcomes("lost"); open != 0 || lost != 1 {
		t.Errorf("%d calls are open and %d lost, of 1", open, lost)
	}
	s.clean()
}

// TestReadersBesideTheWriter reads in this process what another writes.
func TestReadersBesideTheWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "annotator.db")
	child(t, path)
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if rows, err := db.Journal.Window(t.Context(), 0); err != nil || len(rows) != 1 || rows[0].Content != "scene 1" {
		t.Errorf("the window is %v, %v", rows, err)
	}
}

func TestCloseReleasesTheLock(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	if _, err := storage.OpenWriter(t.Context(), s.path, "another", clock); annotator.KindOf(err) != annotator.InUse || !strings.Contains(err.Error(), "the test") {
		t.Fatalf("a second writer in one process: %v", err)
	}
	s.reopen()
}
