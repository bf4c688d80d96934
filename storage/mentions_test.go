package storage_test

import (
	"slices"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
)

// TestMentionsOfLaterNames reads scenes that say "Dawn – the ship" before the codex knows the name: it is found in the
// earlier posts, and not shown before it is known.
func TestMentionsOfLaterNames(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Mik", "Mik is a sailor."))
	s.read(revises(1, codex.Edit{Aliases: []string{"Dawn"}}))
	s.read(creates("Dawn (ship)", "Dawn is a ship."))
	mentions := func(point string, entry int64) []storage.SharedMention {
		var m storage.Moment
		if point != "" {
			p, err := storage.ParsePoint(point)
			s.ok(err)
			m, err = s.db.History.Moment(s.ctx, p)
			s.ok(err)
		}
		found, _, err := s.db.View(m).Mentions(s.ctx, entry, 0, 0)
		s.ok(err)
		return found
	}
	for _, c := range []struct {
		point  string
		entry  int64
		places []annotator.Place
	}{
		{"scene:1", 1, nil},
		{"scene:2", 1, []annotator.Place{1_000_000, 1_000_001, 2_000_000, 2_000_001}},
		{"scene:2", 2, nil},
		{"", 2, []annotator.Place{1_000_000, 1_000_001, 2_000_000, 2_000_001, 3_000_000, 3_000_001}},
	} {
		var places []annotator.Place
		for _, m := range mentions(c.point, c.entry) {
			if places = append(places, m.Place); m.Start != 0 || m.End != 4 {
				t.Errorf("%q: entry %d from %d to %d of the post, not 0 to 4", c.point, c.entry, m.Start, m.End)
			}
			if shared := c.point == ""; shared != slices.Equal(m.Others, []int64{1}) {
				t.Errorf("%q: entry %d shares its name with %v", c.point, c.entry, m.Others)
			}
		}
		if !slices.Equal(places, c.places) {
			t.Errorf("%q: entry %d is mentioned at %v, not %v", c.point, c.entry, places, c.places)
		}
	}
	s.clean()
}

// TestMentionsAreCountedByBlocks counts the mentions in threads of more scenes than a row of table mention_count has, up to
// the scenes around its ends. A name of the first scene is given up without a revision, as by another version's rules.
func TestMentionsAreCountedByBlocks(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(122, 2))
	s.read(creates("Dawn (ship)", "Dawn is a ship."))
	s.read(creates("Mik", "Mik is a sailor."), revises(1, codex.Edit{Aliases: []string{"port"}}))
	for s.scene < len(s.scenes) {
		s.read()
	}
	s.ok(s.db.Mentions.Update(s.ctx, []storage.SceneMentions{{Scene: 1}}))
	for _, n := range []int{2, 60, 61, 62, 120, 121, 122, 123, 124} {
		for _, p := range s.scenes[n-1].Posts {
			s.seenAt(s.db, storage.Point{Kind: storage.PointPost, ID: p.ID})
		}
		s.seenAt(s.db, storage.Point{Kind: storage.PointSnapshot, ID: int64(n)})
	}
}
