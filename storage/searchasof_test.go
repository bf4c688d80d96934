package storage_test

import (
	"testing"

	"annotator"
	"annotator/codex"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestHistorySearch asks of each snapshot what was asked when it was the newest: what came later neither adds to what
// is found nor takes from it.
func TestHistorySearch(t *testing.T) {
	t.Parallel()
	queries := []annotator.Query{
		{Text: "a ship of Vys"},
		{Text: "gale", Tags: []string{"place"}},
		{Text: "vys", Statuses: []annotator.Status{annotator.Retired}},
	}
	s := newStory(t, t.TempDir(), scenesOf(4))
	var found [][][]annotator.Entry // by snapshot and query
	note := func() {
		var now [][]annotator.Entry
		for _, q := range queries {
			entries, err := s.db.Glossary.Search(s.ctx, q)
			s.ok(err)
			now = append(now, entries)
		}
		found = append(found, now)
	}
	name, sinks, tags := "The Dawn of Vys", "Dawn is a ship. A gale sinks her.", []string{"place"}
	s.read(creates("Dawn", "Dawn is a ship."), creates("Vys", "Vys is a town."))
	note()
	s.read(revises(1, codex.Edit{Definition: &sinks}), revises(2, codex.Edit{Tags: tags}), creates("Mik", "Mik is on a ship."))
	note()
	s.read(retires(2))
	note()
	s.read(revises(1, codex.Edit{Name: &name}), creates("Vys", "Vys is a gale."))
	note()
	if cmp.Equal(found[0], found[2]) {
		t.Error("what is found has not changed: it proves nothing")
	}
	for _, i := range []int{0, 2} {
		snapshot, err := s.db.Snapshots.Get(s.ctx, int64(i+1))
		s.ok(err)
		moment, err := s.db.History.MomentOf(s.ctx, &snapshot)
		s.ok(err)
		for k, q := range queries {
			past, err := s.db.History.Search(s.ctx, moment, q)
			s.ok(err)
			if diff := cmp.Diff(found[i][k], past, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%+v of snapshot %d (-then +now):\n%s", q, i+1, diff)
			}
		}
	}
	s.clean()
}
