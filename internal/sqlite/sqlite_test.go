package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/sqlite"

	"pgregory.net/rapid"
)

// table creates a database with a table at path, and closes it.
func table(t rapid.TB, path string) {
	t.Helper()
	db := open(t, path, sqlite.Create)
	exec(t, db, `CREATE TABLE word (w TEXT NOT NULL UNIQUE CHECK (w <> 'no')) STRICT; INSERT INTO word VALUES ('yes')`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func open(t rapid.TB, path string, mode sqlite.Mode) *sql.DB {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path, mode, 2)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func exec(t rapid.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func ask(t rapid.TB, db *sql.DB, query string) string {
	t.Helper()
	var answer string
	if err := db.QueryRowContext(context.Background(), query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// isFileName reports whether a name is valid for files of this system.
func isFileName(name string) bool {
	return runtime.GOOS != "windows" || !strings.ContainsAny(name, "<>:\"/\\|?*\n")
}

// TestSpecialCharactersInAPathAreTheFilesName opens files whose names have a meaning in a URI. The database is in the
// file with exactly that name.
func TestSpecialCharactersInAPathAreTheFilesName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"plain.db", "two words.db", "why?.db", "why?mode=memory", "no#1.db", "100%.db", "%41.db", "a&b=c.db",
		"file:x.db", ":memory:", "Größe 東京.db",
		"semi;colon", "'quoted' \"twice\"", "~", "+", "back\\slash", "line\nbreak",
	} {
		if !isFileName(name) {
			continue
		}
		folder := t.TempDir()
		table(t, filepath.Join(folder, name))
		files, err := os.ReadDir(folder)
		if err != nil || len(files) != 1 || files[0].Name() != name {
			t.Errorf("%q made %v (%v)", name, files, err)
		}
	}
}

func TestAnyPathIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table(t, filepath.Join(dir, "made"))
	bytes, err := os.ReadFile(filepath.Join(dir, "made"))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, rapid.StringMatching(`[a-z?#%&=:;+ '"\\~.éπ漢]{1,12}db`).Filter(isFileName).
			Draw(t, "name"))
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		db := open(t, path, sqlite.ReadOnly)
		defer func() { _ = db.Close() }()
		if got := ask(t, db, `SELECT w FROM word`); got != "yes" {
			t.Fatalf("%q holds %q", path, got)
		}
	})
}

// TestPathsOfWindows: SQLite reads the text between the second and the third slash of an address as the name of a
// machine.
func TestPathsOfWindows(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/home/a b.db":        "file:///home/a%20b.db?mode=ro",
		"C:/böse/why.db":      "file:///C:/b%C3%B6se/why.db?mode=ro",
		"//server/share/x.db": "file:////server/share/x.db?mode=ro",
		"//?/C:/very/long.db": "file:////%3F/C:/very/long.db?mode=ro",
	} {
		if got := sqlite.URI(path, url.Values{"mode": {"ro"}}); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
}

func TestRelativePathIsOpened(t *testing.T) {
	t.Chdir(t.TempDir())
	table(t, "relative.db")
	if _, err := os.Stat("relative.db"); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyConnectionCannotWrite tries every way to write through a connection that is for reading.
func TestReadOnlyConnectionCannotWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	table(t, path)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, path, sqlite.ReadOnly)
	for _, statement := range []string{
		`INSERT INTO word VALUES ('more')`, `CREATE TABLE x (y)`, `PRAGMA user_version = 7`, `VACUUM`,
		`PRAGMA journal_mode = DELETE`,
		`PRAGMA query_only = 0; INSERT INTO word VALUES ('more')`, `DROP TABLE word`,
	} {
		_, _ = db.ExecContext(t.Context(), statement)
	}
	if got := ask(t, db, `SELECT group_concat(w) FROM word`); got != "yes" {
		t.Errorf("the table holds %s", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v)", err)
	}
}

// TestReadOnlyClean lists the files next to a database after a read. There are none if no other process uses it, except
// those of a killed process.
func TestReadOnlyClean(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	table(t, path)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, path, sqlite.ReadOnlyClean)
	for _, statement := range []string{
		`INSERT INTO word VALUES ('more')`, `CREATE TABLE x (y)`,
		`PRAGMA user_version = 7`, `VACUUM`, `DROP TABLE word`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("such a reader may %s", statement)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v)", err)
	}
	if names := siblings(t, path); names != "" {
		t.Errorf("such a reader leaves %s", names)
	}

	writer := open(t, path, sqlite.ReadWrite)
	exec(t, writer, `INSERT INTO word VALUES ('more')`)
	killed := filepath.Join(t.TempDir(), "killed.db")
	for _, end := range []string{"", "-wal"} {
		bytes, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(killed+end, bytes, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{path, killed} {
		db := open(t, path, sqlite.ReadOnlyClean)
		if got := ask(t, db, `SELECT count(*) FROM word`); got != "2" {
			t.Errorf("%s: such a reader sees %s words", path, got)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if names := siblings(t, path); !strings.Contains(names, "-wal") {
			t.Errorf("%s: such a reader leaves only %q of what was there", path, names)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
}

// siblings names the files next to a file of the test.
func siblings(t *testing.T, path string) string {
	t.Helper()
	found, err := filepath.Glob(path + "-*")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// TestSettingsHoldForEachConnection queries each of two connections of a pool: a statement would set a pragma of only
// one of them.
func TestSettingsHoldForEachConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	table(t, path)
	for mode, want := range map[sqlite.Mode]map[string]string{
		sqlite.ReadWrite: {
			"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "trusted_schema": "0",
			"busy_timeout": "10000", "wal_autocheckpoint": "16000",
			"query_only": "0",
		},
		sqlite.ReadOnly: {
			"journal_mode": "wal", "foreign_keys": "1", "trusted_schema": "0", "busy_timeout": "10000",
			"query_only": "1",
		},
	} {
		db := open(t, path, mode)
		for range 2 { // the first connection is in use while the second is queried
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			for pragma, value := range want {
				var got string
				if err := conn.QueryRowContext(t.Context(), `PRAGMA `+pragma).Scan(&got); err != nil || got != value {
					t.Errorf("mode %s: %s is %s, want %s (%v)", mode, pragma, got, value, err)
				}
			}
			if _, err := conn.ExecContext(t.Context(), `SELECT "no such column"`); err == nil {
				t.Errorf("mode %s takes a misspelt name for text", mode)
			}
			if _, err := conn.ExecContext(t.Context(), `PRAGMA writable_schema = 1; UPDATE sqlite_schema `+
				`SET sql = ''`); err == nil {
				t.Errorf("mode %s lets the schema be written", mode)
			}
		}
		defer func() { _ = db.Close() }()
	}
}

// TestTransactionsAreImmediate: two transactions read first and write later. If they were deferred, the second would
// read old data, and could not write after the first commits.
func TestTransactionsAreImmediate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	table(t, path)
	first, second := open(t, path, sqlite.ReadWrite), open(t, path, sqlite.ReadWrite)
	defer func() { _, _ = first.Close(), second.Close() }()
	begun, written := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- readThenWrite(second, func() { close(begun); <-written })
	}()
	<-begun
	go func() {
		done <- readThenWrite(first, func() {})
	}()
	time.Sleep(20 * time.Millisecond) // enough time for a read without a lock
	close(written)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := ask(t, first, `SELECT count(*) FROM word`); got != "3" {
		t.Errorf("there are %s words", got)
	}
}

// readThenWrite adds a word that depends on the existing ones.
func readThenWrite(db *sql.DB, between func()) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var n int
	if err := tx.QueryRowContext(context.Background(), `SELECT count(*) FROM word`).Scan(&n); err != nil {
		return err
	}
	between()
	if _, err := tx.ExecContext(context.Background(), `INSERT INTO word VALUES (?)`,
		fmt.Sprint("word ", n)); err != nil {
		return err
	}
	return tx.Commit()
}

func TestNothingIsMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, mode := range []sqlite.Mode{sqlite.ReadOnly, sqlite.ReadWrite} {
		if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "missing.db"), mode, 1); annotator.KindOf(
			err) != annotator.NotFound {
			t.Errorf("mode %s: %v", mode, err)
		}
		if _, err := sqlite.Open(t.Context(), dir, mode, 1); annotator.KindOf(err) != annotator.Misused {
			t.Errorf("mode %s, a folder: %v", mode, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("made %v (%v)", files, err)
	}
}

func TestErrorsHaveKinds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	table(t, path)
	db := open(t, path, sqlite.ReadWrite)
	defer func() { _ = db.Close() }()
	for statement, constraint := range map[string]bool{
		`INSERT INTO word VALUES ('yes')`:                   true,
		`INSERT INTO word (rowid, w) VALUES (1, 'another')`: true,
		`INSERT INTO word VALUES ('no')`:                    true,
		`INSERT INTO word VALUES (NULL)`:                    true,
		`INSERT INTO nowhere VALUES (1)`:                    false,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		if err == nil || sqlite.IsConstraint(err) != constraint || sqlite.IsCorrupt(err) {
			t.Errorf("%s: %v (code %d)", statement, err, sqlite.Code(err))
		}
	}
	if sqlite.Code(nil) != 0 || sqlite.Code(errors.New("x")) != 0 || sqlite.IsConstraint(nil) {
		t.Error("an error that is not SQLite's has a code")
	}
}

// TestWrapAdvises provokes the errors that a user may meet, and expects a word of the advice.
func TestWrapAdvises(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	table(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, bytes []byte) string {
		if err := os.WriteFile(filepath.Join(dir, name), bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	opening := func(path string, mode sqlite.Mode) error {
		_, err := sqlite.Open(t.Context(), path, mode, 1)
		return err
	}
	reader := open(t, path, sqlite.ReadOnly)
	defer func() { _ = reader.Close() }()
	full := open(t, path, sqlite.ReadWrite)
	defer func() { _ = full.Close() }()
	exec(t, full, `PRAGMA max_page_count = 1`)
	for _, test := range []struct {
		name string
		err  error
		says string
	}{
		{"garbage", opening(write("garbage", []byte(strings.Repeat("x", 5000))), sqlite.ReadWrite), "restore a backup"},
		{"cut off", opening(write("cut", whole[:5000]), sqlite.ReadOnly), "restore a backup"},
		{
			"no folder", opening(filepath.Join(dir, "no", "folder"), sqlite.Create),
			"file can be read, and that it and its folder can be written",
		},
		{"no table", failing(full, `INSERT INTO sentence VALUES ('x')`), "put it back as it was"},
		{"for reading", failing(reader, `INSERT INTO word VALUES ('x')`), "can be written"},
		{"full", failing(full, `CREATE TABLE big AS SELECT printf('%.*c', 1000000, 'x')`), "free space"},
	} {
		err := sqlite.Wrap(test.err, "try %s", test.name)
		if annotator.KindOf(err) == "" || !strings.Contains(fmt.Sprint(err), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func failing(db *sql.DB, statement string) error {
	_, err := db.ExecContext(context.Background(), statement)
	return err
}

// TestWrapKeepsOtherErrors: errors of other packages, and those with a kind, are unchanged.
func TestWrapKeepsOtherErrors(t *testing.T) {
	t.Parallel()
	known := annotator.Errorf(annotator.InUse, "held")
	for _, err := range []error{nil, sql.ErrNoRows, known, fmt.Errorf("more: %w", known)} {
		if got := sqlite.Wrap(err, "try"); fmt.Sprint(got) != fmt.Sprint(err) || !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	cause := errors.New("cause")
	if err := sqlite.Wrap(cause, "try %d", 1); !errors.Is(err, cause) || annotator.KindOf(err) != annotator.Storage ||
		err.Error() != "try 1: cause" {
		t.Errorf("an unknown error became %v", err)
	}
}
