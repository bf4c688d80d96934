package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"annotator/storage"
)

// TestReadOnlyConnectionCannotWrite reads a finished run in a folder without write permission, as on a read-only disk.
func TestReadOnlyConnectionCannotWrite(t *testing.T) {
	t.Parallel()
	a, out, db := finishedRun(t)
	forbid(t, filepath.Dir(db))
	asNobody(t, func() {
		for _, c := range []struct {
			args   string
			status int
			says   []string
		}{
			{"status", exitDone, []string{"2 of 2 (100 %)"}},
			{"show 1", exitDone, []string{"Ysolde Marrow  #1"}},
			{"verify", exitDone, []string{
				"integrity        not checked  the constraints",
				"full-text index  not checked  the index", "quotations       ok",
			}},
			{"verify --json", exitDone, []string{
				`"ok": true`,
				`"unchecked": "the index, since the file cannot be written`,
			}},
			{"verify --repair", exitHalted, []string{"check that the file and its folder can be written"}},
		} {
			out.Reset()
			if status := a.run(t.Context(), append(strings.Fields(c.args), "--db", db)); status != c.status {
				t.Errorf("%s ends with %d, want %d: %s", c.args, status, c.status, out)
			}
			for _, says := range c.says {
				if !strings.Contains(out.String(), says) {
					t.Errorf("%s says nothing of %q:\n%s", c.args, says, out)
				}
			}
		}
	})
}

// TestReadableCorpusIsPreferred: if this user cannot read the corpus of a run at its path, the one in the folder of the
// database is read.
func TestReadableCorpusIsPreferred(t *testing.T) {
	t.Parallel()
	a, out, db := finishedRun(t)
	folder, copied := filepath.Dir(db), filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(folder, "quay.corpus.db"), 0o000); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	forbid(t, copied)
	verify := func(db, says string) {
		out.Reset()
		a.run(t.Context(), []string{"verify", "--db", db})
		if !strings.Contains(out.String(), says) {
			t.Errorf("verify says nothing of %q: %s", says, out)
		}
	}
	asNobody(t, func() { verify(filepath.Join(copied, "quay.annotator.db"), "quotations       ok") })
	forbid(t, folder)
	if err := os.Chmod(filepath.Join(folder, "quay.corpus.db"), 0o000); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		verify(db, "unable to open database file (14)\nannotator: check that you may read "+filepath.Join(folder,
			"quay.corpus.db"))
	})
}

// TestReadOnlyBegins runs a story in a folder without write permission, and one without read permission.
func TestReadOnlyBegins(t *testing.T) {
	t.Parallel()
	folder, closed := filepath.Join(t.TempDir(), "book"), filepath.Join(t.TempDir(), "closed")
	for _, path := range []string{folder, closed} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "quay.jsonl"), []byte(twoScenes), 0o600); err != nil {
			t.Fatal(err)
		}
		forbid(t, path)
	}
	if err := os.Chmod(closed, 0o000); err != nil {
		t.Fatal(err)
	}
	quay, corpus := filepath.Join(folder, "quay"), filepath.Join(t.TempDir(), "quay.corpus.db")
	if err := os.Chmod(filepath.Dir(corpus), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(corpus)), 0o755); err != nil {
		t.Fatal(err)
	}
	a, out := newTestApp(nil)
	a.err, a.now = out, time.Now
	asNobody(t, func() {
		for _, c := range []struct {
			args []string
			says string
		}{
			{[]string{quay + ".jsonl"}, quay + ".corpus.db: permission denied\nannotator: put the database elsewhere " +
				"with --db, and the corpus goes there, too, or where --corpus says\n"},
			{
				[]string{quay + ".jsonl", "--corpus", corpus},
				"annotator: check that its folder can be written, or choose another database with --db\n",
			},
			{
				[]string{filepath.Join(closed, "quay.jsonl")},
				"permission denied\nannotator: name a file that is there and that you may read\n",
			},
		} {
			out.Reset()
			if status := a.run(t.Context(), append([]string{"run"}, c.args...)); status != exitMisused ||
				!strings.Contains(out.String(), c.says) {
				t.Errorf("%v ends with %d: %s", c.args, status, out)
			}
		}
	})
}

// TestReadOnlySourceWithADatabaseElsewhere: if the story's folder cannot be written, its corpus is written to the
// folder of the database. The next run finds it there.
func TestReadOnlySourceWithADatabaseElsewhere(t *testing.T) {
	t.Parallel()
	folder, elsewhere := filepath.Join(t.TempDir(), "book"), filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Mkdir(elsewhere, 0o777), os.Chmod(elsewhere, 0o777),
		os.Chmod(filepath.Dir(elsewhere), 0o755), os.WriteFile(filepath.Join(folder, "quay.jsonl"), []byte(twoScenes),
			0o600)); err != nil {
		t.Fatal(err)
	}
	forbid(t, folder)
	a, out := newTestApp(nil)
	a.err, a.now = out, time.Now
	asNobody(t, func() {
		for _, limit := range []string{"1", "0"} {
			args := []string{
				"run", filepath.Join(folder, "quay.jsonl"), "--db", filepath.Join(elsewhere, "mine.db"),
				"--limit", limit,
			}
			if status := a.run(t.Context(), args); status != exitDone {
				t.Fatalf("ends with %d: %s", status, out)
			}
		}
		if _, err := os.Stat(filepath.Join(elsewhere, "quay.corpus.db")); err != nil {
			t.Error(err)
		}
		if status := a.run(t.Context(), []string{
			"verify", "--db",
			filepath.Join(elsewhere, "mine.db"),
		}); status != exitDone {
			t.Errorf("verify ends with %d: %s", status, out)
		}
	})
}

// TestUnreleasedDatabaseIsRefused: readers and a run refuse a database of a version before the first release, with
// advice.
func TestUnreleasedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	a, out, db := finishedRun(t)
	pool, err := sql.Open("sqlite", db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), `PRAGMA application_id = 0x416e6e6f`); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status"}, {"verify"}, {"run", filepath.Join(filepath.Dir(db), "quay.jsonl")}} {
		out.Reset()
		status := a.run(t.Context(), append(args, "--db", db))
		if text := out.String(); status != exitMisused || !strings.Contains(text, "before 1.0.0") ||
			!strings.Contains(text, "start anew") {
			t.Errorf("%s ends with %d: %s", args[0], status, text)
		}
	}
}

// TestReadOnlyWithALog: after a kill the newest changes are in a write-ahead log, and its shared-memory index may be
// missing. The main file without the log is not accepted.
func TestReadOnlyWithALog(t *testing.T) {
	t.Parallel()
	for _, index := range []bool{true, false} {
		a, out, db := finishedRun(t)
		db = killAfterHalt(t, db, index)
		forbid(t, filepath.Dir(db))
		asNobody(t, func() {
			for command, says := range map[string]string{
				"status --json": `"halted": "in the log"`,
				"verify":        "quotations       ok", "verify --json": `"ok": true`,
			} {
				out.Reset()
				if status := a.run(t.Context(), append(strings.Fields(command), "--db", db)); status != exitDone ||
					!strings.Contains(out.String(), says) {
					t.Errorf("index %v: %s ends with %d: %s", index, command, status, out)
				}
			}
		})
	}
}

// killAfterHalt moves a database and its corpus in the state after a kill, with a halt recorded. With index, it keeps
// the index of the log. It returns the new path.
func killAfterHalt(t *testing.T, db string, index bool) string {
	t.Helper()
	store, err := storage.OpenWriter(t.Context(), db, "the test", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Run.Halt(t.Context(), "in the log"); err != nil {
		t.Fatal(err)
	}
	folder, killed := filepath.Dir(db), t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(killed, filepath.Base(db))
	if !index {
		if err := os.Remove(copied + "-shm"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	return copied
}

// forbid removes write permission from a folder and its contents until the test ends.
func forbid(t *testing.T, folder string) {
	t.Helper()
	for above := filepath.Dir(filepath.Dir(folder)); above != "/"; above = filepath.Dir(above) {
		if info, err := os.Stat(above); err != nil || info.Mode()&0o001 == 0 {
			t.Skipf("the folder for temporary files is not for everybody: %s (%v)", above, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{filepath.Dir(folder): 0o755, folder: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range files {
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
}

// asNobody runs a function as another user if the test runs as root, since root may always write.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // not unlocked: the thread ends with this user id
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}
