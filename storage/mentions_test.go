package storage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"
)

// TestMentionsOfLaterNames reads scenes that say "Dawn – the ship" before the codex knows the name: it is found in the
// earlier posts, and not shown before it is known.
func TestMentionsOfLaterNames(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Mik", "Mik is a sailor."))
	s.read(revises(1, codex.Edit{Aliases: []string{"Dawn"}}))
	s.read(creates("Dawn (ship)", "Dawn is a ship."))
	mentions := func(point string, entry int64) []view.SharedMention {
		var m view.Moment
		if point != "" {
			p, err := view.ParsePoint(point)
			s.ok(err)
			m, err = view.MomentAt(s.ctx, s.db, p)
			s.ok(err)
		}
		found, _, err := view.At(s.db, m).Mentions(s.ctx, entry, 0, 0)
		s.ok(err)
		return found
	}
	for _, c := range []struct {
		point  string
		entry  int64
		places []annotator.Place
	}{
		{"scene:1", 1, nil},
		{"scene:2", 1, []annotator.Place{1_000_000_000_000, 1_000_000_000_001, 2_000_000_000_000, 2_000_000_000_001}},
		{"scene:2", 2, nil},
		{"", 2, []annotator.Place{
			1_000_000_000_000, 1_000_000_000_001, 2_000_000_000_000, 2_000_000_000_001, 3_000_000_000_000,
			3_000_000_000_001,
		}},
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

// TestMentionsAreCountedByBlocks counts the mentions in threads of more scenes than a row of table mention_count has,
// up to the scenes around its ends. A name of the first scene is removed without a revision, as another version's rules
// may do.
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
			s.seenAt(s.db, view.Point{Kind: view.PointPost, ID: p.ID})
		}
		s.seenAt(s.db, view.Point{Kind: view.PointSnapshot, ID: int64(n)})
	}
}

// TestCompanionsOfMany compares the companions of an entry with many scenes, which are counted by blocks, with all its
// mentions.
func TestCompanionsOfMany(t *testing.T) {
	t.Parallel()
	const scenes, entries = 260, 60
	s := grown(t, t.TempDir(), scenes, 1)
	s.bulk(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1), e (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM e WHERE id < ?2)
		INSERT INTO mention (entry_id, place, start_at, end_at, set_by, from_seen) SELECT id, n * 1000000000000, id, id + 1, 3 * id, 1 FROM n, e
		  WHERE id = 1 AND n % 9 OR n % id = id % 5`, scenes, entries)
	s.bulk(storage.FillCounts)
	want := ask[string](t, s.path,
		`SELECT group_concat(entry || ' ' || n) FROM (SELECT o.entry_id AS entry, count(DISTINCT o.place) AS n FROM mention m
		JOIN mention o ON o.place = m.place AND o.entry_id <> 1 WHERE m.entry_id = 1 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5)`)
	found, err := view.At(s.db, view.Moment{}).Companions(s.ctx, 1, 5)
	s.ok(err)
	var got []string
	for _, c := range found {
		got = append(got, fmt.Sprint(c.Entry, c.Count))
	}
	if strings.Join(got, ",") != want || len(got) != 5 {
		t.Errorf("%v, want %s", got, want)
	}
}
