package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
	"annotator/storage"

	"go.uber.org/goleak"
)

// holdEnv names the database that a child of the test binary is to hold until it is killed.
const holdEnv = "ANNOTATOR_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		hold(path)
	}
	if path := os.Getenv(writeBackEnv); path != "" {
		writeBackForEver(path)
	}
	if path := os.Getenv(migrateEnv); path != "" {
		dieMigrating(path)
	}
	longtest.SampleCases()
	goleak.VerifyTestMain(m)
}

// migrateEnv names the database in whose migration a child of the test binary is to die, behind the schema and a colon.
const migrateEnv = "ANNOTATOR_TEST_MIGRATE"

// dieMigrating kills its own process in the step that leads to a schema.
func dieMigrating(at string) {
	number, path, _ := strings.Cut(at, ":")
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		_, err = storage.OpenWriterOf(context.Background(), path, longer, func(schema, _ int) {
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
	time.Sleep(time.Hour) // the runtime would report an endless wait as a deadlock
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

// reasonOf returns the reason of an error.
func reasonOf(err error) annotator.Reason {
	if e := (*annotator.Error)(nil); errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// TestOneWriterByEveryPath opens a database that another process holds by other paths, and without its lock file.
func TestOneWriterByEveryPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "annotator.db")
	child(t, path)
	refused := func(way string, kind annotator.Kind, reason annotator.Reason) {
		t.Helper()
		before, err := filepath.Glob(filepath.Join(filepath.Dir(way), "*"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = storage.OpenWriter(t.Context(), way, "another", clock)
		if annotator.KindOf(err) != kind || reasonOf(err) != reason {
			t.Errorf("a second writer at %s: %v", way, err)
		}
		if after, _ := filepath.Glob(filepath.Join(filepath.Dir(way), "*")); !slices.Equal(before, after) {
			t.Errorf("it leaves %v, there was %v", after, before)
		}
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Link(path, link); err != nil {
		t.Skip(err)
	}
	refused(link, annotator.Misused, annotator.ReasonLinked)
	if runtime.GOOS != "linux" {
		t.Skip("the file itself is locked on Linux only")
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	refused(path, annotator.InUse, annotator.ReasonOtherPath)
	moved := filepath.Join(t.TempDir(), "moved.db") // as the same file is seen in a container
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	refused(moved, annotator.InUse, annotator.ReasonOtherPath)
}

// TestAnotherWriterIsNoticed does what a second process does where no lock keeps it out. The first writes no more.
func TestAnotherWriterIsNoticed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"it takes over": `UPDATE run_state SET holder = 'another'`,
		"it goes on": `INSERT INTO trace (turn, seq, kind, scene, hash, at) VALUES (99, 0, 'note', 1,` +
			` zeroblob(32), 0)`,
	} {
		s := newStory(t, t.TempDir(), scenesOf(2))
		s.begin("scene 1")
		pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadWrite, 1)
		s.ok(err)
		_, err = pool.ExecContext(s.ctx, change)
		s.ok(errors.Join(err, pool.Close()))
		rows := ask[int](t, s.path, `SELECT count(*) FROM trace`)
		err = s.db.Run.Halt(s.ctx, "x")
		if annotator.KindOf(err) != annotator.Storage || reasonOf(err) != annotator.ReasonTakenOver {
			t.Errorf("%s: %v", name, err)
		}
		if now := ask[int](t, s.path,
			`SELECT count(*) FROM trace WHERE (SELECT halted = '' FROM run_state)`); now != rows {
			t.Errorf("%s: it writes all the same", name)
		}
	}
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
	if _, err := storage.OpenWriter(t.Context(), s.path, "another", clock); annotator.KindOf(err) != annotator.InUse ||
		!strings.Contains(err.Error(), "the test") {
		t.Fatalf("a second writer in one process: %v", err)
	}
	s.reopen()
}
