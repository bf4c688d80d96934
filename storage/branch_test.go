package storage_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// dumped returns the rows of tables, without the columns that depend on the process.
func (s *story) dumped(tables ...string) []string {
	s.Helper()
	return dumped(s, s.path, tables...)
}

// everyTable names all tables with data of their own. The full-text indexes are derived from the entries.
func everyTable() []string {
	return append(slices.Clone(unaskedTables), "refusal", "run_state", "call", "summon", "summon_exchange")
}

func dumped(t tester, path string, tables ...string) []string {
	t.Helper()
	pool, err := sqlite.Open(context.Background(), path, sqlite.ReadOnly, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	var lines []string
	for _, table := range tables {
		rows, err := pool.QueryContext(context.Background(), `SELECT * FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, targets := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			if err := rows.Scan(targets...); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line(table, columns, values))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	return lines
}

func line(table string, columns []string, values []any) string {
	var b strings.Builder
	b.WriteString(table)
	for i, column := range columns {
		switch column {
		case "state", "holder", "updated_at", "begun_call", "begun_snapshot": // a branch begins a new run
			if table == "run_state" {
				continue
			}
		}
		fmt.Fprintf(&b, " %s=%v", column, values[i])
	}
	return b.String()
}

// TestBranchIsThePast walks at random and keeps a copy at some checkpoint. A branch of the last database at that
// snapshot has the same rows. The last database does not change.
func TestBranchIsThePast(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		s := newStory(t, inside, scenesOf(2, 1, 3))
		kept, at := filepath.Join(inside, "kept.db"), int64(rapid.IntRange(1, len(s.scenes)+2).Draw(t, "branch at"))
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			moves := s.moves(t)
			if len(s.calls) > 0 {
				moves["summon"] = func() { s.someSummon(t) }
			}
			move := rapid.SampledFrom(slices.Sorted(maps.Keys(moves))).Draw(t, "move")
			moves[move]()
			if (move == "checkpoint" || move == "create a snapshot") && s.snapshot == at {
				s.ok(s.db.Maintenance.Backup(s.ctx, kept))
			}
		}
		if _, err := os.Lstat(kept); err != nil {
			return // the walk took no such snapshot
		}
		s.person(t)
		before := s.dumped(everyTable()...)
		out := filepath.Join(inside, "branch.db")
		s.ok(storage.Branch(s.ctx, s.path, out, at))
		if diff := cmp.Diff(dumped(t, kept, everyTable()...), dumped(t, out, everyTable()...)); diff != "" {
			t.Fatalf("branch at snapshot %d (-then +branch):\n%s", at, diff)
		}
		s.sound(out)
		if diff := cmp.Diff(before, s.dumped(everyTable()...)); diff != "" {
			t.Fatalf("a branch has changed what it is a branch of:\n%s", diff)
		}
		if left, err := filepath.Glob(filepath.Join(inside, ".*")); err != nil || len(left) > 0 {
			t.Fatalf("left behind: %v, %v", left, err)
		}
	})
}

// someSummon answers a call by a conversation with a snapshot, as far as there is one.
func (s *story) someSummon(t *rapid.T) {
	open, err := s.db.Conversations.Current(s.ctx)
	s.ok(err)
	snapshots, err := s.db.Snapshots.List(s.ctx, storage.SnapshotQuery{})
	s.ok(err)
	switch {
	case open != nil && rapid.Bool().Draw(t, "dismiss"):
		s.summon(storage.ConversationChange{Dismiss: true, Summary: "enough"}, "")
	case open != nil:
		s.summon(storage.ConversationChange{}, "And then?")
	case len(snapshots) > 0:
		s.summon(storage.ConversationChange{Open: rapid.SampledFrom(snapshots).Draw(t, "snapshot").ID}, "What was it?")
	default:
		s.summon(storage.ConversationChange{}, "")
	}
}

// person asks a snapshot, if there is one.
func (s *story) person(t *rapid.T) {
	snapshots, err := s.db.Snapshots.List(s.ctx, storage.SnapshotQuery{})
	s.ok(err)
	if len(snapshots) == 0 {
		return
	}
	g, err := storage.OpenSnapshotWriter(s.ctx, s.path, clock)
	s.ok(err)
	snapshot := rapid.SampledFrom(snapshots).Draw(t, "asked")
	c := &annotator.Call{Scene: snapshot.Scene, Purpose: "ask", Attempt: 1, Usage: annotator.Usage{Prompt: 5}}
	s.ok(g.Open(s.ctx, c))
	s.ok(g.Answer(s.ctx, &storage.Conversation{Snapshot: snapshot.ID}, c, storage.Exchange{Question: "?", Answer: "!"}))
	s.ok(g.Close())
	if e, err := s.db.Glossary.WholeEntry(s.ctx, 1); err == nil && len(e.Claims) > 0 {
		s.checks(e.Claims[0].ID)
	}
}

// checks records that a new chapter does not go together with a claim of the first entry.
func (s *story) checks(claim int64) {
	g, err := storage.OpenSnapshotWriter(s.ctx, s.path, clock)
	s.ok(err)
	c := &annotator.Call{Purpose: annotator.PurposeCheck, Attempt: 1, Usage: annotator.Usage{Prompt: 5}}
	s.ok(g.Open(s.ctx, c))
	_, err = g.Check(s.ctx, c, []annotator.Finding{{
		Sort: annotator.Contradiction, Entry: 1, Claim: claim, Chapter: "new.md", Quote: "She flies.",
		Reason: "She sails.",
	}})
	s.ok(err)
	s.ok(g.Close())
}

// sound fails unless a database satisfies all laws.
func (s *story) sound(path string) {
	s.Helper()
	db, err := storage.Open(s.ctx, path)
	s.ok(err)
	defer func() { _ = db.Close() }()
	findings, err := db.Maintenance.Verify(s.ctx, sourceOf(s.scenes))
	s.ok(err)
	for _, f := range findings {
		if len(f.Violations) > 0 {
			s.Fatalf("%s: %s: %v", path, f.Check, f.Violations)
		}
	}
}

func TestBranchRefuses(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read()
	taken := filepath.Join(t.TempDir(), "taken.db")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	free := filepath.Join(t.TempDir(), "free.db")
	for name, test := range map[string]struct {
		out      string
		snapshot int64
		kind     annotator.Kind
	}{
		"a name that is taken": {taken, 1, annotator.Misused},
		"no such snapshot":     {free, 2, annotator.NotFound},
	} {
		if err := storage.Branch(t.Context(), s.path, test.out, test.snapshot); annotator.KindOf(err) != test.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(taken); string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(free); !os.IsNotExist(err) {
		t.Errorf("something is at %s: %v", free, err)
	}
}
