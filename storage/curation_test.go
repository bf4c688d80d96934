package storage_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

// twoThreads is a story with entries 1 and 2 of the first thread, and 3 of the second, of which a scene is still to be
// read.
func twoThreads(t *testing.T) *story {
	t.Helper()
	s := newStory(t, t.TempDir(), scenesOf(2, 2))
	s.read(creates("Dawn (ship)", "Dawn is a ship. She sails.", "ship"))
	s.read(creates("Dusk", "Dusk is a ship. She sails.", "wreck"))
	s.read(func(ctx context.Context, g *storage.Glossary) error {
		revisions, err := codex.Revise(&annotator.Entry{}, codex.Edit{
			Name: new("Mik's Dawn"), Facts: factsOf("A song.", nil), Actor: annotator.ActorModel,
			At: annotator.PlaceAt(orderOf(3), 0),
		})
		if err != nil {
			return err
		}
		_, err = g.Revise(ctx, revisions)
		return err
	})
	return s
}

func (s *story) entry(id int64) *annotator.Entry {
	s.Helper()
	e, err := s.db.Glossary.Entry(s.ctx, id)
	s.ok(err)
	return e
}

// curates begins a call of the curator's.
func (s *story) curates() *annotator.Call {
	s.Helper()
	c := &annotator.Call{Purpose: "curate", Attempt: 1, Estimate: 100}
	s.ok(s.db.Calls.Open(s.ctx, c))
	return c
}

// newest is the newest row of the journal outside any turn; the zero row where there is none.
func (s *story) newest() (row annotator.Trace) {
	s.Helper()
	rows, err := s.db.Journal.Turn(s.ctx, 0)
	s.ok(err)
	for i := range rows {
		if rows[i].ID > row.ID {
			row = rows[i]
		}
	}
	return row
}

// lastCheckpoint returns the newest row of the journal at the newest snapshot.
func (s *story) lastCheckpoint() (row int64) {
	s.Helper()
	all, err := s.db.Snapshots.List(s.ctx, storage.SnapshotQuery{})
	s.ok(err)
	for i := range all {
		row = max(row, all[i].Trace)
	}
	return row
}

func record(entry int64, actor annotator.Actor) annotator.Revision {
	return annotator.Revision{
		Entry: entry, Field: annotator.FieldCuratorDecision, New: `{"decision":"NONE","thread":1000}`,
		At: annotator.PlaceAt(orderOf(3), 1), Actor: actor,
	}
}

func (s *story) undecided(after int64, threads ...int64) []int64 {
	s.Helper()
	open, err := s.db.Curation.Undecided(s.ctx, after, math.MaxInt64, threads...)
	s.ok(err)
	var ids []int64
	for _, u := range open {
		ids = append(ids, u.Entry)
	}
	return ids
}

func TestUndecided(t *testing.T) {
	t.Parallel()
	s := twoThreads(t)
	check := func(what string, got []int64, want ...int64) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("all", s.undecided(0), 1, 2, 3)
	check("the first thread", s.undecided(0, 1000), 1, 2)
	check("the second thread", s.undecided(0, 999), 3)
	check("both", s.undecided(0, 999, 1000), 1, 2, 3)
	check("no thread of the story", s.undecided(0, 0))
	before := s.lastCheckpoint()
	s.ok(s.db.Curation.Decide(s.ctx, nil, &annotator.Trace{Kind: annotator.TraceNote, Content: "No answer."},
		[]annotator.Revision{record(1, annotator.ActorRule)}, nil))
	check("after a decision", s.undecided(before, 1000), 2)
	check("once more", s.undecided(before+1, 1000), 1, 2)
	s.clean()
	confirmed := codex.Edit{Status: new(annotator.Confirmed)}
	s.read(revises(1, confirmed), func(ctx context.Context, g *storage.Glossary) error {
		_, err := g.Revise(ctx,
			[]annotator.Revision{{
				Entry: 2, Field: annotator.FieldLock, New: codex.LockEntry, At: annotator.PlaceAt(orderOf(4), 0),
				Actor: annotator.ActorModel,
			}})
		return err
	})
	check("confirmed and locked", s.undecided(0), 3)
}

// TestUndecidedAgain: to ask about an entry again is no decision. The reason is returned until there is a decision.
func TestUndecidedAgain(t *testing.T) {
	t.Parallel()
	s := twoThreads(t)
	before := s.lastCheckpoint()
	again := record(2, annotator.ActorRule)
	again.New = `{"decision":"AGAIN","reason":"It says nothing.","thread":1000}`
	s.ok(s.db.Curation.Decide(s.ctx, nil, &annotator.Trace{Kind: annotator.TraceNote, Content: "No answer."},
		[]annotator.Revision{record(1, annotator.ActorRule), again}, nil))
	for after, want := range map[int64][]annotator.UndecidedEntry{
		before:     {{Entry: 2, RetryReason: "It says nothing."}, {Entry: 3}},
		before + 1: {{Entry: 1}, {Entry: 2}, {Entry: 3}}, // earlier decisions do not count
	} {
		got, err := s.db.Curation.Undecided(s.ctx, after, math.MaxInt64)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("after row %d: %v %s", after, err, diff)
		}
	}
	s.ok(s.db.Curation.Decide(s.ctx, nil, &annotator.Trace{Kind: annotator.TraceNote, Content: "No answer."},
		[]annotator.Revision{record(2, annotator.ActorRule)}, nil))
	if got := s.undecided(before); !slices.Equal(got, []int64{3}) {
		t.Errorf("after the decision: %v", got)
	}
	s.clean()
}

// TestDecisionsFollowTheRules merges one entry into another, in one transaction with the answer that asked for it.
func TestDecisionsFollowTheRules(t *testing.T) {
	t.Parallel()
	s := twoThreads(t)
	revisions, err := codex.Merge(s.entry(1), s.entry(2), annotator.ActorCurator, annotator.PlaceAt(orderOf(3), 1))
	s.ok(err)
	revisions = append(revisions, record(1, annotator.ActorCurator))
	row := &annotator.Trace{Kind: annotator.TraceReply, Content: `{"decision":"MERGE","target":2}`}
	call := s.curates()
	call.Usage = annotator.Usage{Prompt: 50, Completion: 10, Exact: true}
	s.ok(s.db.Curation.Decide(s.ctx, call, row, revisions, nil))
	s.clean()
	for _, r := range revisions {
		if r.Trace != row.ID || r.Turn != 0 {
			t.Errorf("revision %d commits with row %d of turn %d, the answer is row %d", r.ID, r.Trace, r.Turn, row.ID)
		}
	}
	if e := s.entry(1); e.Status != annotator.Merged || e.MergedInto != 2 {
		t.Errorf("entry 1 is %s into %d", e.Status, e.MergedInto)
	}
	target := s.entry(2)
	if diff := cmp.Diff([]string{"ship", "wreck"}, target.Tags); diff != "" ||
		target.Definition() != "Dusk is a ship. She sails. Dawn is a ship." {
		t.Errorf("the target: %q %s", target.Definition(), diff)
	}
	if quoted := target.Claims[2].Evidence; len(quoted) != 1 {
		t.Errorf("the evidence of both: %+v", target.Claims)
	}
	if found, err := s.db.Glossary.Lookup(s.ctx, "Dawn"); err != nil || found.ID != 2 {
		t.Errorf("the merged entry's name leads to %v, %v", found, err)
	}
	if newest := s.newest(); newest.ID != row.ID || newest.Content != row.Content {
		t.Errorf("the journal ends with %+v", newest)
	}
}

// TestDecideIsWhole: a decision that cannot be written in full is not written at all, and the call stays open.
func TestDecideIsWhole(t *testing.T) {
	t.Parallel()
	s := twoThreads(t)
	before := s.newest()
	call := s.curates()
	row := &annotator.Trace{Kind: annotator.TraceReply}
	err := s.db.Curation.Decide(s.ctx, call, row,
		[]annotator.Revision{record(1, annotator.ActorCurator), record(99, annotator.ActorCurator)}, nil)
	if annotator.KindOf(err) == "" {
		t.Fatalf("a decision on an entry that is not there: %v", err)
	}
	after := s.newest()
	if history, err := s.db.Glossary.Revisions(s.ctx, 1); err != nil ||
		history[len(history)-1].Field == annotator.FieldCuratorDecision {
		t.Errorf("half a decision was written: %v", err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	call.Outcome, call.Fault, call.Decision = annotator.CallOutcome(annotator.Malformed), "no JSON",
		annotator.DecisionDiscarded
	s.ok(s.db.Curation.Decide(s.ctx, call, &annotator.Trace{Kind: annotator.TraceNote, Content: "Once more."}, nil,
		nil))
	s.clean()
	report, err := s.db.Run.Report(s.ctx)
	s.ok(err)
	if report.Calls["malformed"] != 1 || report.Calls["open"] != 0 {
		t.Errorf("calls %v", report.Calls)
	}
}
