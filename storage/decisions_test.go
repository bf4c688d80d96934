package storage_test

import (
	"testing"

	"annotator"
	"annotator/storage"
)

// TestDecisions: the newest decision on a suggestion counts, unless it was taken back. Those of somebody who was shown
// later scenes are not listed.
func TestDecisions(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2, 2))
	s.read(creates("Dawn", "Dawn is a ship."))
	file := func(key string, answer annotator.Verdict, scene int) *annotator.Decision {
		d := &annotator.Decision{Key: key, Digest: "0a", Verdict: answer, Seen: orderOf(scene)}
		s.ok(storage.FileDecision(s.ctx, s.path, clock, d))
		return d
	}
	file("double/1/2", annotator.VerdictLater, 1)
	never := file("double/1/2", annotator.VerdictNever, 2)
	file("state/1/1", annotator.VerdictWait, 1)
	answers := func() (first, second annotator.Verdict) {
		found, err := s.db.Decisions.InForce(s.ctx)
		s.ok(err)
		return found["double/1/2"].Verdict, found["state/1/1"].Verdict
	}
	if first, second := answers(); first != annotator.VerdictNever || second != annotator.VerdictWait {
		t.Errorf("the answers are %q and %q", first, second)
	}
	latest, err := s.db.Decisions.Latest(s.ctx, orderOf(1), 10)
	s.ok(err)
	if len(latest) != 2 || latest[0].Key != "state/1/1" || latest[1].Verdict != annotator.VerdictLater {
		t.Errorf("under a limit: %+v", latest)
	}
	s.ok(storage.TakeBackDecision(s.ctx, s.path, clock, never.ID))
	if first, _ := answers(); first != annotator.VerdictLater {
		t.Errorf("after that was taken back: %q", first)
	}
	if err := storage.TakeBackDecision(s.ctx, s.path, clock, never.ID); err == nil {
		t.Error("it was taken back twice")
	}
	s.clean()
}

// TestRowsOfADecision: an operation that waits has no row, and has one once it is applied, until it is undone.
func TestRowsOfADecision(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2, 2))
	s.read(creates("Dawn", "Dawn is a ship."))
	op := annotator.Operation{Do: annotator.DeedLock, Entry: 1}
	s.ok(storage.FileEdit(s.ctx, s.path, clock, &op))
	row := func() int64 {
		decided := annotator.Decision{Edits: []annotator.DecidedEdit{{Operation: op}}}
		rows, waits, err := s.db.Edits.RowsOf(s.ctx, &decided)
		s.ok(err)
		if waits {
			return 0
		}
		return rows[0]
	}
	if row() != 0 {
		t.Error("it waits, and has a row")
	}
	applied, err := s.db.Edits.ApplyPending(s.ctx)
	s.ok(err)
	if row() != applied[0].Row {
		t.Errorf("row %d, want %d", row(), applied[0].Row)
	}
	_, err = s.db.Edits.Apply(s.ctx, annotator.Operation{Do: annotator.DeedUndo, Row: row()})
	s.ok(err)
	if row() != 0 {
		t.Error("it was undone, and has a row")
	}
}
