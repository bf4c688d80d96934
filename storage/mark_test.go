package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// hourly is a clock by which any log is old.
func hourly() func() time.Time {
	now := clock()
	return func() time.Time { now = now.Add(time.Hour); return now }
}

// files are those of a database at a moment: itself and its log.
type files [2][]byte

func filesOf(t *testing.T, path string) (f files) {
	t.Helper()
	for i, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		f[i] = text
	}
	return f
}

func (f files) write(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "copy.db")
	for i, suffix := range []string{"", "-wal"} {
		if f[i] == nil {
			continue
		}
		if err := os.WriteFile(path+suffix, f[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// isWhole reports whether verify finds nothing; an error is one.
func isWhole(t *testing.T, path string, scenes []*annotator.Scene) bool {
	t.Helper()
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	found, err := db.Maintenance.Verify(t.Context(), sourceOf(scenes))
	return err == nil && storage.Clean(found)
}

// TestTornCopies copies the file at one moment of a run and its log at another. A copy is refused, for reading and for
// writing, or it is whole.
func TestTornCopies(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(12))
	s.ok(s.db.Close())
	var err error
	s.db, err = storage.OpenWriter(s.ctx, s.path, "the test", hourly())
	s.ok(err)
	var moments []files
	for n := range s.scenes {
		s.begin(fmt.Sprintf("scene %d", n+1))
		s.reply("Let me see.", "glossary_create")
		s.tool(creates(fmt.Sprintf("Name %d", n), strings.Repeat("A thing. ", 100)))
		moments = append(moments, filesOf(t, s.path))
		s.reply("Nothing more.")
		s.record(annotator.SceneRecorded)
		s.checkpoint()
		if n%3 == 2 {
			_, err := s.db.Maintenance.CheckpointWAL(s.ctx)
			s.ok(err)
		}
		moments = append(moments, filesOf(t, s.path))
	}
	refused, random := 0, rand.New(rand.NewPCG(1, 2))
	for range longtest.Pick(12, 60) {
		first := random.IntN(len(moments))
		second := first + random.IntN(min(len(moments)-first, 8))
		path := files{moments[first][0], moments[second][1]}.write(t)
		reader, reading := storage.Open(t.Context(), path)
		if reading == nil {
			s.ok(reader.Close())
		}
		db, writing := storage.OpenWriter(t.Context(), path, "another", clock)
		switch {
		case writing == nil && reading == nil:
			if err := db.Close(); err != nil || !isWhole(t, path, s.scenes) {
				t.Errorf("the file at moment %d with the log of moment %d is taken, and is not whole (%v)", first,
					second, err)
			}
		case reasonOf(writing) == annotator.ReasonTornCopy && reasonOf(reading) == annotator.ReasonTornCopy:
			refused++
			if first == second {
				t.Errorf("what is whole at moment %d is refused", first)
			}
		default:
			t.Errorf("moments %d and %d: %v; %v", first, second, reading, writing)
		}
	}
	if refused == 0 {
		t.Error("nothing is refused: it proves nothing")
	}
}

// TestFileWithoutItsLog separates the file from its log. The file is recognized as incomplete. A run continues only in
// a copy of it.
func TestFileWithoutItsLog(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Dawn", "A ship."))
	alone := filesOf(t, s.path)
	alone[1] = nil
	path := alone.write(t)
	db, err := storage.Open(t.Context(), path)
	s.ok(err)
	run, err := db.Run.Status(t.Context())
	if err != nil || run.Corpus.Title != "A story" {
		t.Errorf("the file alone holds %q, %v", run.Corpus.Title, err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	s.ok(errors.Join(db.Maintenance.Backup(t.Context(), copied), db.Close()))
	if _, err := storage.OpenWriter(t.Context(), path, "another", clock); annotator.KindOf(err) != annotator.Storage ||
		reasonOf(err) != annotator.ReasonLogMissing {
		t.Errorf("a writer: %v", err)
	}
	if isWhole(t, path, s.scenes) || !isWhole(t, copied, s.scenes) {
		t.Error("the file is whole, or its copy is not")
	}
	db, err = storage.OpenWriter(t.Context(), copied, "another", clock)
	s.ok(err)
	s.ok(db.Close())
}

// TestClosedFileIsAlone moves a file that was closed: it needs no log.
func TestClosedFileIsAlone(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Dawn", "A ship."))
	s.ok(s.db.Close())
	path := filesOf(t, s.path).write(t)
	if !isWhole(t, path, s.scenes) {
		t.Error("it is not whole")
	}
	db, err := storage.OpenWriter(t.Context(), path, "another", clock)
	s.ok(err)
	s.ok(db.Close())
}

// TestEmptyDatabases: no run begins in an empty file, which may have lost its data.
func TestEmptyDatabases(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"no bytes": files{{}}.write(t), "no schema": making(t, ours)} {
		before := filesOf(t, path)
		_, reading := storage.Open(t.Context(), path)
		_, writing := storage.OpenWriter(t.Context(), path, "the test", clock)
		for _, err := range []error{reading, writing} {
			if annotator.KindOf(err) != annotator.NotFound || reasonOf(err) != annotator.ReasonEmptyDatabase {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := filesOf(t, path); string(after[0]) != string(before[0]) {
			t.Errorf("%s: the file has changed", name)
		}
	}
}

// TestKilledWhileMaking kills a process while it makes a database. Then there is none, and the next process makes it.
func TestKilledWhileMaking(t *testing.T) {
	t.Parallel()
	for _, step := range []int{1, 2, len(longer)} {
		path := filepath.Join(t.TempDir(), "annotator.db")
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%s", migrateEnv, step, path))
		if text, err := cmd.CombinedOutput(); err == nil || len(text) > 0 {
			t.Fatalf("step %d: the child ends with %v: %s", step, err, text)
		}
		if _, err := storage.Open(t.Context(), path); annotator.KindOf(err) != annotator.NotFound {
			t.Errorf("step %d: %v", step, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("step %d leaves a file (%v)", step, err)
		}
		db, err := storage.OpenWriterOf(t.Context(), path, longer)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
			t.Errorf("step %d leaves %v, %v", step, left, err)
		}
	}
}

// writeBackEnv names the database whose log a child of the test binary is to write back until it is killed.
const writeBackEnv = "ANNOTATOR_TEST_WRITE_BACK"

func writeBackForEver(path string) {
	ctx := context.Background()
	db, err := storage.OpenWriter(ctx, path, "the child", hourly())
	fmt.Println("held")
	for n := 0; err == nil; n++ {
		if err = db.Run.Halt(ctx, fmt.Sprint(n)); err == nil {
			_, err = db.Maintenance.CheckpointWAL(ctx)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// TestKilledWhileWritingBack kills a process that writes its log back. The database stays complete, also for readers
// before that.
func TestKilledWhileWritingBack(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read(creates("Dawn", "A ship."))
	s.ok(s.db.Close())
	for n := range longtest.Pick(9, 90) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writeBackEnv+"="+s.path)
		out, err := cmd.StdoutPipe()
		s.ok(err)
		s.ok(cmd.Start())
		said := bufio.NewReader(out)
		if line, err := said.ReadString('\n'); line != "held\n" {
			t.Fatalf("the child says %q, %v", line, err)
		}
		for range n % 4 {
			db, err := storage.Open(t.Context(), s.path)
			if err != nil {
				t.Fatalf("beside the child: %v", err)
			}
			s.ok(db.Close())
		}
		time.Sleep(rand.N(30 * time.Millisecond))
		s.ok(cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child has ended by itself")
		}
		if n%3 == 0 && !isWhole(t, s.path, s.scenes) {
			t.Fatalf("kill %d leaves damage", n)
		}
		if n%3 == 1 { // another program opens it first, and writes its log back
			pool, err := sqlite.Open(t.Context(), s.path, sqlite.ReadWrite, 1)
			s.ok(err)
			s.ok(pool.Close())
		}
	}
	s.open()
	s.clean()
}

// TestCancelledRunIsWhole interrupts runs at some moment after their scenes are listed: no file is left that needs a
// log.
func TestCancelledRunIsWhole(t *testing.T) {
	t.Parallel()
	dir, path := t.TempDir(), ""
	open := func() *storage.DB {
		t.Helper()
		db, err := storage.OpenWriter(t.Context(), path, "the test", clock)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	for n := range longtest.Pick(20, 60) {
		path = filepath.Join(dir, fmt.Sprintf("%d.db", n))
		db := open()
		ctx, cancel := context.WithCancel(t.Context())
		scenes := func(yield func(*annotator.Scene, error) bool) {
			for _, s := range scenesOf(2) {
				if !yield(s, nil) {
					return
				}
			}
			time.AfterFunc(rand.N(4*time.Millisecond), cancel)
		}
		_ = db.Run.Begin(ctx, storage.Corpus{Title: "A story", Path: "story.db", Identity: "1"}, scenes)
		cancel()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open()
		if run, err := db.Run.Status(t.Context()); err != nil || run.Corpus.Scenes != 2 {
			t.Errorf("%+v, %v", run.Corpus, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
