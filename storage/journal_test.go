package storage_test

import (
	"testing"

	"annotator/codex"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
)

// TestViews reads a run through the views: over more rows than are read at a time, and of one turn.
func TestViews(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(700))
	s.seedScenes(600)
	s.begin("scene 601")
	s.reply("Let me see.", "glossary_create", "glossary_create", "read_post")
	s.tool(creates("Dawn (ship)", "Dawn is a ship. She sails."))
	s.tool(creates("Dawn (ship)", "Dawn is a ship."))
	last := int64(0)
	for row, err := range s.db.Journal.Rows(s.ctx, 0) {
		s.ok(err)
		if row.ID != last+1 {
			t.Fatalf("row %d after row %d", row.ID, last)
		}
		last = row.ID
	}
	if want := ask[int64](t, s.path, `SELECT count(*) FROM trace`); last != want {
		t.Errorf("%d rows, want %d", last, want)
	}
	rows := 0
	for row, err := range s.db.Journal.Rows(s.ctx, 601) {
		s.ok(err)
		rows++
		if row.Turn != 601 || row.At != clock().UnixMilli() {
			t.Errorf("%+v", row)
		}
	}
	if rows != 7 {
		t.Errorf("%d rows", rows)
	}
	calls := 0
	for i, err := range s.db.Journal.Interactions(s.ctx, 0) {
		s.ok(err)
		if calls++; i.Turn != int64(calls) && i.Turn != 601 {
			t.Fatalf("%+v is call %d", i, calls)
		}
	}
	if calls != 603 {
		t.Errorf("%d calls", calls)
	}
	var got []storage.InteractionStatus
	for i, err := range s.db.Journal.Interactions(s.ctx, 601) {
		s.ok(err)
		got = append(got, i.Status)
	}
	if diff := cmp.Diff([]storage.InteractionStatus{storage.Success, storage.Failed, storage.Pending},
		got); diff != "" {
		t.Error(diff)
	}
}

func TestClaimProvenance(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read(creates("Dawn (ship)", "Dawn is a ship."))
	definition := "Dawn is a ship. She sinks."
	s.read(revises(1, codex.Edit{Facts: factsOf(definition, nil)}))
	got, err := view.ClaimProvenance(s.ctx, s.db)
	s.ok(err)
	want := map[view.ClaimKey]view.Provenance{
		{Entry: 1, Claim: 1}: {Turns: []int64{1}, Changed: clock().UnixMilli()},
		{Entry: 1, Claim: 2}: {Turns: []int64{2}, Changed: clock().UnixMilli()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHashTellsPromptFromTools(t *testing.T) {
	t.Parallel()
	if storage.HashPrompt("ab", "c", "") == storage.HashPrompt("a", "bc", "") {
		t.Error("what moves from the prompt to the tools leaves the hash as it is")
	}
}
