package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRescuedRunIsResumed runs the same command again after the database was lost and rescued as a copy.
func TestRescuedRunIsResumed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		lose   func(t *testing.T, db string)
		status int
		says   string
	}{
		{"gone", func(*testing.T, string) {}, exitDone, "is gone; the run continues in"},
		{
			"replaced by an empty file", func(t *testing.T, db string) { write(t, db, nil) }, exitMisused,
			"has 0 turns of this run, and",
		},
		{"rescued twice", func(t *testing.T, db string) {
			copyTo(t, db+".rescued", db+".rescued.rescued")
		}, exitDone, "is gone; the run continues in"},
		{"put back", func(t *testing.T, db string) {
			copyTo(t, db+".rescued", db)
		}, exitDone, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, out, db := finishedRun(t)
			move(t, db, db+".rescued")
			c.lose(t, db)
			out.Reset()
			source := filepath.Join(filepath.Dir(db), "quay.jsonl")
			status := a.run(t.Context(), []string{"run", source})
			if status != c.status || !strings.Contains(out.String(), c.says) ||
				strings.Contains(out.String(), "2 scenes to read") {
				t.Errorf("the run ends with %d: %s", status, out)
			}
			if again, err := os.Stat(db); c.name == "gone" && err == nil {
				t.Errorf("the run has begun again, in a file of %d bytes", again.Size())
			}
		})
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	whole, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, whole)
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
