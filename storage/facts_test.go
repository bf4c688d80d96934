package storage_test

import (
	"testing"

	"annotator/codex"
	"annotator/view"
)

// TestListsDropWhatNoLongerHolds: a list omits claims that have ended. If the claim was a state, the list also omits
// the present statement that is older than its end.
func TestListsDropWhatNoLongerHolds(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read(creates("Dawn", "She sails."),
		revises(1, codex.Edit{Facts: []codex.Fact{{Text: "She is a captain.", State: true}}}),
		restates(1, "A captain."))
	s.read(revises(1, codex.Edit{Close: []codex.Closing{{Fact: 2}}}))
	for point, want := range map[string]string{"scene:1": "A captain.", "scene:2": ""} {
		p, err := view.ParsePoint(point)
		s.ok(err)
		seen := s.seenAt(s.db, p)
		if len(seen.Entries) != 1 || codex.Present(&seen.Entries[0]) != want || codex.Present(seen.ByID[1]) != want {
			t.Errorf("%s: listed as %+v, want the statement %q", point, seen.Entries, want)
		}
	}
}
