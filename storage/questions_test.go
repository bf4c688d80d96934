package storage_test

import (
	"strconv"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"
)

// TestSuggestionsOfCalls: what a call would have changed and a person has locked is a suggestion from that scene on.
// The fact is perhaps out of date. A person who accepts it applies the stored operation.
func TestSuggestionsOfCalls(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Dawn", "One. Two.", "ship"))
	if !s.decides(annotator.Operation{Do: annotator.DeedLock, Entry: 1, Fact: 1}) {
		t.Fatal("the fact is not locked")
	}
	for range 2 {
		s.begin("scene " + strconv.Itoa(s.scene+1))
		s.reply("It is over.", "glossary_update")
		row := s.row(annotator.TraceResult, "")
		row.CallID, row.Tool, row.Content, row.Error = s.calls[0].CallID, s.calls[0].Tool, "{}", codex.Locked
		over := annotator.Operation{Do: annotator.DeedEnd, Entry: 1, Fact: 1, Ended: annotator.EndOver}
		row.Parsed.Suggests = []annotator.Operation{over}
		s.calls = nil
		refused := func(*storage.Glossary, *annotator.Trace) error { return nil }
		s.ok(s.db.Journal.RunTool(s.ctx, &row, nil, refused, nil))
		s.take(row)
		s.reply("Nothing more.")
		s.record(annotator.SceneRecorded)
		s.checkpoint()
	}
	for n, times := range map[int]int{1: 0, 2: 1, 3: 2} {
		point, err := view.ParsePoint(strconv.Itoa(n))
		s.ok(err)
		moment, err := view.MomentAt(s.ctx, s.db, point)
		s.ok(err)
		v := view.At(s.db, moment)
		found, err := v.Suggestions(s.ctx)
		s.ok(err)
		e, err := v.Entry(s.ctx, 1)
		s.ok(err)
		doubted := e.Claims[0].Doubted
		if doubted != (times > 0) || e.Claims[1].Doubted || len(found) != min(times, 1) ||
			times > 0 && (found[0].Times != times || found[0].Scene != n) {
			t.Errorf("at scene %d: %+v, doubted: %v", n, found, doubted)
		}
	}
	open, err := view.At(s.db, view.Moment{}).Suggestions(s.ctx)
	s.ok(err)
	if len(open) != 1 || !s.decides(open[0].Operation) {
		t.Fatalf("%+v cannot be accepted", open)
	}
	if left, err := view.At(s.db, view.Moment{}).Suggestions(s.ctx); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	s.clean()
}
