package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator/internal/longtest"

	"github.com/google/go-cmp/cmp"
)

// partedBook is a story of six chapters, of which several have the same people.
func partedBook() string {
	var b strings.Builder
	for chapter := range 6 {
		fmt.Fprintf(&b, "CHAPTER %d\n\n", chapter+1)
		for scene := range 3 {
			fmt.Fprintf(&b, "On night %d.%d Captain Ysolde Marrow walked down to Gallows Quay, and Hadrian Thesk saw "+
				"her there. The lamp of watchman %d was out.\n\n* * *\n\n", chapter+1, scene+1, chapter*3+scene)
		}
	}
	return b.String()
}

// joinedState returns what of a joined database does not depend on times: its codex, and the rows of the join.
func (b *books) joinedState(folder string) string {
	b.Helper()
	b.succeeds(folder, "verify", "--db", "book.annotator.db")
	state := string(b.succeeds(folder, "export", "--db", "book.annotator.db", "--format", "json"))
	for _, limit := range []string{"scene:18", "chapter:3"} { // the first part has two chapters
		state += string(b.succeeds(folder, "story", "--db", "book.annotator.db", "--as-of", limit))
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "book.annotator.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(b.Context(), `SELECT hex(hash) || content FROM trace ORDER BY id`)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			b.Fatal(err)
		}
		state += row + "\n"
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return state
}

// TestPartsKilled kills a run in parts at each step of parts and join, also where a limit stops it. The same command
// then resumes it, and codex and journal of the join are those of an undisturbed run.
func TestPartsKilled(t *testing.T) {
	t.Parallel()
	b := newPrograms(t)
	if err := os.WriteFile(filepath.Join(b.finished, "book.txt"), []byte(partedBook()), 0o600); err != nil {
		t.Fatal(err)
	}
	command := []string{"run", "book.txt", "--parts", "3", "--endpoint", b.endpoint, "--scene-tokens", "60"}
	calm := b.folder()
	b.succeeds(calm, command...)
	requests := b.requests.Load()
	want := b.joinedState(calm)
	type step struct {
		name, file string
		request    int64
		limit      int // of the scenes that the killed run may read; 0: all
	}
	steps := []step{
		{"the story is imported", "book.corpus.db", 0, 0},
		{"a corpus is written", "book.parts/.part2.corpus.db.*.draft", 0, 0},
		{"a corpus is there", "book.parts/part2.corpus.db", 0, 0},
		{"a database is made", "book.parts/.part3.annotator.db.*.draft", 0, 0},
		{"a database is there", "book.parts/part3.annotator.db", 0, 0},
		{"the joined database is made", ".book.annotator.db.*.draft", 0, 0},
	}
	for i := range longtest.Pick(6, 40) {
		steps = append(steps, step{"the parts are read", "", 1 + requests*int64(i)/int64(longtest.Pick(6, 40)), 0})
	}
	for i := range longtest.Pick(6, 60) {
		after := fmt.Sprintf("book.annotator.db@%dms", i*longtest.Pick(20, 2))
		steps = append(steps, step{"the parts are joined: " + after, after, 0, 0})
	}
	const some, all = 7, 18
	for i := range longtest.Pick(2, 12) {
		request := 1 + requests*some*int64(i)/int64(all*longtest.Pick(2, 12))
		steps = append(steps, step{"some scenes of the parts are read", "", request, some})
	}
	for i := range longtest.Pick(1, 10) {
		after := fmt.Sprintf("book.annotator.db@%dms", (i+1)*longtest.Pick(20, 12))
		steps = append(steps, step{"the last scenes are read, and the parts are joined: " + after, after, 0, all})
	}
	killed := 0
	for _, step := range steps {
		folder := b.folder()
		limited := append(slices.Clip(command), "--limit", fmt.Sprint(step.limit))
		_, err := b.run(folder, step.file, step.request, limited...)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && !exit.Exited() {
			killed++
		}
		if _, err := b.run(folder, "", 0, limited...); err != nil {
			t.Errorf("%s, request %d: the same command ends with %v", step.name, step.request, err)
			continue
		}
		if step.limit == some {
			if exists(filepath.Join(folder, "book.annotator.db")) {
				t.Errorf("%s: %d of %d scenes are joined", step.name, 2*some, all)
			}
			b.succeeds(folder, command...)
		}
		if diff := cmp.Diff(want, b.joinedState(folder)); diff != "" {
			t.Errorf("%s, request %d: it differs (-undisturbed +killed):\n%s", step.name, step.request, diff)
		}
		if drafts, _ := filepath.Glob(filepath.Join(folder, "*", ".*.draft*")); len(drafts) > 0 {
			t.Errorf("%s: it leaves %s", step.name, drafts)
		}
	}
	if killed < len(steps)/2 {
		t.Errorf("%d of %d runs were killed", killed, len(steps))
	}
}
