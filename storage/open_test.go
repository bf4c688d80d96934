package storage_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
	"annotator/migrations"
	"annotator/storage"
)

// making makes a database out of SQL and returns its path.
func making(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "annotator.db")
	pool, err := sqlite.Open(t.Context(), path, sqlite.Create, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{`PRAGMA journal_mode = DELETE`}, statements...) {
		if _, err := pool.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%.60s: %v", s, err)
		}
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask reads one value out of a database.
func ask[T any](t *testing.T, path, query string) T {
	t.Helper()
	pool, err := sqlite.Open(t.Context(), path, sqlite.ReadOnly, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	var v T
	if err := pool.QueryRowContext(t.Context(), query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// schemaOf reads the version of the schema.
func schemaOf(t *testing.T, path string) int {
	return ask[int](t, path, `PRAGMA user_version`) & 0xffff
}

const ours = `PRAGMA application_id = 0x414e4e4f`

// atVersion makes a database as the first n migrations leave it.
func atVersion(t *testing.T, n int, more ...string) string {
	t.Helper()
	statements := append([]string{ours, fmt.Sprintf(`PRAGMA user_version = %d`, n)}, migrations.All()[:n]...)
	return making(t, append(statements, more...)...)
}

// TestRefusesWhatIsNotOurs opens files that are no database of this program, or one of a later version. Each is refused
// with advice, and does not change.
func TestRefusesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	whole := making(t, `CREATE TABLE thread (id INTEGER, title TEXT)`,
		`INSERT INTO thread VALUES (1, printf('%.*c', 20000, 'x'))`)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	file := func(bytes []byte) string {
		path := filepath.Join(t.TempDir(), "annotator.db")
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newest := fmt.Sprintf(`PRAGMA user_version = %d`, len(migrations.All())+1)
	for _, test := range []struct {
		name, path string
		kind       annotator.Kind
		says       string
	}{
		{"somebody else's", whole, annotator.Misused, "not one of annotator's; " +
			string(annotator.ReasonForeignDatabase)},
		{"a newer one", making(t, ours, newest, `CREATE TABLE x (y)`), annotator.Misused, "use the newer annotator"},
		{
			"one of before 0.9.0", making(t, `PRAGMA application_id = 0x416e6e6f`, `PRAGMA user_version = 24`,
				`CREATE TABLE x (y)`), annotator.Misused,
			"before 1.0.0, which this one does not read; " + string(annotator.ReasonUnreleased),
		},
		{
			"one of 0.9.0", making(t, `PRAGMA application_id = 0x416e4e4f`, `PRAGMA user_version = 1`,
				`CREATE TABLE x (y)`), annotator.Misused,
			"before 1.0.0, which this one does not read; " + string(annotator.ReasonUnreleased),
		},
		{"garbage", file([]byte(strings.Repeat("not a database ", 1000))), annotator.Misused, "restore a backup"},
		{"cut off", file(text[:6000]), annotator.Storage, "restore a backup"},
		{"a folder", t.TempDir(), annotator.Misused, "is a folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before, _ := os.ReadFile(test.path)
			_, reading := storage.Open(t.Context(), test.path)
			_, writing := storage.OpenWriter(t.Context(), test.path, "the test", clock)
			for _, err := range []error{reading, writing} {
				if annotator.KindOf(err) != test.kind ||
					!strings.Contains(fmt.Sprint(err)+"; "+string(reasonOf(err)), test.says) {
					t.Errorf("%v (%s)", err, annotator.KindOf(err))
				}
			}
			if after, _ := os.ReadFile(test.path); test.name != "a newer one" && string(after) != string(before) {
				t.Error("the file has changed")
			}
		})
	}
}

// A trigger runs within the transactions of the writer, and could undo them.
func TestWriterRefusesTriggers(t *testing.T) {
	t.Parallel()
	path := atVersion(t, len(migrations.All()),
		`CREATE TRIGGER theirs AFTER INSERT ON trace BEGIN DELETE FROM revision; END`)
	before, _ := os.ReadFile(path)
	_, err := storage.OpenWriter(t.Context(), path, "the test", clock)
	if annotator.KindOf(err) != annotator.Misused || !strings.Contains(err.Error(), "trigger theirs") {
		t.Errorf("%v (%s)", err, annotator.KindOf(err))
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file has changed")
	}
}

func TestOpenMakesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mistyped.db")
	if _, err := storage.Open(t.Context(), path); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("error %v", err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) > 0 {
		t.Errorf("left %v, %v", files, err)
	}
	if _, err := storage.OpenWriter(t.Context(), filepath.Join(t.TempDir(), "no", "such", "folder.db"), "x",
		clock); annotator.KindOf(err) != annotator.Misused {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

func TestOpenBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	db, err := storage.OpenWriter(t.Context(), filepath.Join(t.TempDir(), "new.db"), "x", clock)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Run.Status(t.Context()); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("the run: %v", err)
	}
	if _, err := db.Scenes.Next(t.Context()); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("the next scene: %v", err)
	}
}

// TestOwnerOnly looks at the files that hold the story.
func TestOwnerOnly(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "modes of files")
	s := newStory(t, t.TempDir(), scenesOf(1))
	files, err := os.ReadDir(filepath.Dir(s.path))
	s.ok(err)
	for _, f := range files {
		info, err := f.Info()
		s.ok(err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", f.Name(), info.Mode().Perm())
		}
	}
	if len(files) < 3 {
		t.Errorf("there are only %v", files)
	}
}

// TestReadOnlyPlaces needs a user without permission to write everywhere.
func TestReadOnlyPlaces(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "modes of folders")
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.ok(s.db.Close())
	folder := filepath.Dir(s.path)
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
	s.ok(errors.Join(os.Chmod(s.path, 0o400), os.Chmod(folder, 0o500)))
	_, err := storage.OpenWriter(t.Context(), s.path, "the test", clock)
	if err == nil || !strings.Contains(err.Error(), "can be written") {
		t.Errorf("to write: %v", err)
	}
	db, err := storage.Open(t.Context(), s.path)
	if err != nil {
		t.Fatalf("to read: %v", err)
	}
	s.ok(db.Close())
}

// TestKilledWhileSwitching: a process that dies before the file is in WAL mode leaves a rollback journal, which no
// connection for reading can play back.
func TestKilledWhileSwitching(t *testing.T) {
	t.Parallel()
	path := atVersion(t, len(migrations.All()))
	pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(DELETE)&_pragma=cache_size(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(t.Context(),
		`CREATE TABLE half (x); INSERT INTO half WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
		SELECT randomblob(1000) FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "killed.annotator.db")
	for _, suffix := range []string{"", "-journal"} {
		bytes, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+suffix, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := storage.Open(t.Context(), killed); err == nil || !strings.Contains(err.Error(), "run again") {
		t.Errorf("for reading: %v", err)
	}
	db, err := storage.OpenWriter(t.Context(), killed, "the test", clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if half := ask[int](t, killed, `SELECT count(*) FROM sqlite_schema WHERE name = 'half'`); half != 0 {
		t.Error("what was half done is there")
	}
}
