package storage_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/migrations"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
)

// longer are the migrations of the program with two more: one that changes a table and one that makes another.
var longer = append(migrations.All(),
	`ALTER TABLE scene ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'; UPDATE scene SET mood = 'stormy' WHERE n = 2`,
	`CREATE TABLE mood (name TEXT PRIMARY KEY) STRICT; INSERT INTO mood SELECT DISTINCT mood FROM scene`)

// TestMigrationKeepsTheRun: a database of this schema is migrated to a later one, verify finds it sound, and its run
// goes on.
func TestMigrationKeepsTheRun(t *testing.T) {
	t.Parallel()
	const schema = `SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY type, name)`
	s := newStory(t, t.TempDir(), scenesOf(2, 2))
	s.read(creates("Dawn", "Dawn is a ship."))
	codex := s.seenAt(s.db, view.Point{Kind: view.PointScene, ID: 1})
	s.ok(s.db.Close())
	if _, err := storage.OpenOf(s.ctx, s.path, longer); reasonOf(err) != annotator.ReasonFormerSchema {
		t.Errorf("a reader of the later schema: %v", err)
	}
	var told []int
	db, err := storage.OpenWriterOf(s.ctx, s.path, longer, func(schema, last int) { told = append(told, schema, last) })
	s.ok(err)
	if want := []int{2, 3, 3, 3}; !slices.Equal(told, want) {
		t.Errorf("told of the steps %v, want %v", told, want)
	}
	if version := schemaOf(t, s.path); version != len(longer) {
		t.Errorf("it has schema %d", version)
	}
	s.db = db
	s.read(creates("Mik", "Mik is a sailor."))
	s.clean()
	if diff := cmp.Diff(codex, s.seenAt(s.db, view.Point{Kind: view.PointScene, ID: 1})); diff != "" {
		t.Errorf("the codex of before (-before +after):\n%s", diff)
	}
	if got := ask[string](t, s.path, `SELECT group_concat(name) FROM mood`); got != "calm,stormy" {
		t.Errorf("the new table has %s", got)
	}
	s.ok(s.db.Close())
	if _, err := storage.Open(s.ctx, s.path); annotator.KindOf(err) != annotator.Misused ||
		!strings.Contains(err.Error(), "newer annotator") {
		t.Errorf("a reader of the earlier schema: %v", err)
	}
	made := filepath.Join(t.TempDir(), "new.db")
	db, err = storage.OpenWriterOf(s.ctx, made, longer)
	s.ok(err)
	s.ok(db.Close())
	if diff := cmp.Diff(ask[string](t, made, schema), ask[string](t, s.path, schema)); diff != "" {
		t.Errorf("-new +migrated:\n%s", diff)
	}
}

// inSchema makes the database of a short run in the program's schema, closed, and returns its path.
func inSchema(t *testing.T) string {
	t.Helper()
	s := newStory(t, t.TempDir(), scenesOf(2, 2))
	s.read(creates("Dawn", "Dawn is a ship."))
	s.ok(s.db.Close())
	return s.path
}

// TestMigrationCutOff makes the last step fail. The step has no effect, and can be made later.
func TestMigrationCutOff(t *testing.T) {
	t.Parallel()
	path := inSchema(t)
	broken := append(slices.Clone(longer[:len(longer)-1]), `CREATE TABLE mood (name TEXT); UPDATE nowhere SET x = 1`)
	_, err := storage.OpenWriterOf(t.Context(), path, broken)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("to schema %d", len(longer))) {
		t.Fatalf("the broken step: %v", err)
	}
	if version := schemaOf(t, path); version != len(longer)-1 {
		t.Errorf("it left version %d", version)
	}
	migrated(t, path)
}

// TestMigrationKilled kills a process in a step of a migration: the steps before are kept, and the next writer goes on
// with that one.
func TestMigrationKilled(t *testing.T) {
	t.Parallel()
	for step := len(migrations.All()) + 1; step <= len(longer); step++ {
		path := inSchema(t)
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%s", migrateEnv, step, path))
		if text, err := cmd.CombinedOutput(); err == nil || len(text) > 0 {
			t.Fatalf("step %d: the child ends with %v: %s", step, err, text)
		}
		if version := schemaOf(t, path); version != step-1 {
			t.Errorf("a process that died in step %d left version %d", step, version)
		}
		if told := migrated(t, path); !slices.Equal(told[:2], []int{step, len(longer)}) {
			t.Errorf("the next process is told of %v", told)
		}
	}
}

// migrated fails unless a database is sound after the missing steps. It returns the arguments of the function that is
// called before each step.
func migrated(t *testing.T, path string) (told []int) {
	t.Helper()
	db, err := storage.OpenWriterOf(t.Context(), path, longer, func(schema, last int) {
		told = append(told, schema, last)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	intact(t, db)
	return told
}

// intact fails unless the laws of a database hold.
func intact(t *testing.T, db *storage.DB) {
	t.Helper()
	findings, err := db.Maintenance.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if len(f.Violations) > 0 {
			t.Errorf("%s: %v", f.Check, f.Violations)
		}
	}
}
