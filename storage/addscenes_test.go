package storage_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestOrdersBetween(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		after, before annotator.Order
		count         int
		want          []annotator.Order // nil: there is no room
	}{
		{0, 0, 2, []annotator.Order{1_000_000, 2_000_000}},
		{3_000_000, 0, 1, []annotator.Order{4_000_000}},
		{3_001_000, 0, 1, []annotator.Order{4_000_000}},
		{3_000_000, 4_000_000, 2, []annotator.Order{3_001_000, 3_002_000}},
		{0, 1_000_000, 1, []annotator.Order{1_000}},
		{3_000_000, 3_001_000, 3, []annotator.Order{3_000_250, 3_000_500, 3_000_750}},
		{7, 10, 2, []annotator.Order{8, 9}},
		{7, 10, 3, nil},
		{7, 8, 1, nil},
	} {
		got, err := storage.OrdersBetween(test.after, test.before, test.count)
		if !slices.Equal(got, test.want) || (annotator.KindOf(err) == annotator.Halted) != (test.want == nil) {
			t.Errorf("%d between %d and %d: %v, %v; want %v", test.count, test.after, test.before, got, err, test.want)
		}
	}
}

// TestOrdersAscend inserts scenes at random. They keep the order of the story, and there is an error only where the
// numbers between two scenes are used up.
func TestOrdersAscend(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var orders []annotator.Order
		for range rapid.IntRange(1, 40).Draw(t, "insertions") {
			at, count := rapid.IntRange(0, len(orders)).Draw(t, "at"), rapid.IntRange(1, 60).Draw(t, "count")
			var after, before annotator.Order
			if at > 0 {
				after = orders[at-1]
			}
			if at < len(orders) {
				before = orders[at]
			}
			added, err := storage.OrdersBetween(after, before, count)
			full := before != 0 && annotator.Order(count) >= before-after
			if full != (err != nil) || !full && len(added) != count {
				t.Fatalf("%d between %d and %d: %v, %v", count, after, before, added, err)
			}
			orders = slices.Insert(orders, at, added...)
		}
		if !slices.IsSorted(orders) || len(slices.Compact(slices.Clone(orders))) != len(orders) || orders[0] < 1 {
			t.Fatalf("orders %v", orders)
		}
	})
}

// insert adds scenes of a thread to the corpus after the scene with a number; 0 is the beginning.
func (s *story) insert(after int, thread int64, count int) {
	s.Helper()
	corpus := inOrder(s.scenes)
	at := 1 + slices.IndexFunc(corpus, func(scene *annotator.Scene) bool { return scene.N == after })
	var added []*annotator.Scene
	for i := range count {
		id := int64(len(s.scenes)+i+1) * 10
		added = append(added, &annotator.Scene{
			Thread: annotator.Thread{ID: thread, Title: fmt.Sprintf("Chapter of %d", thread)},
			Posts:  []annotator.Post{post(id, thread), post(id+1, thread)},
		})
	}
	s.ok(s.extend(fmt.Sprint("with ", len(s.scenes)), slices.Insert(corpus, at, added...)...))
	for _, scene := range added {
		row, err := s.db.Scenes.Get(s.ctx, len(s.scenes)+1)
		s.ok(err)
		scene.N, scene.Order = row.N, row.Order
		s.scenes = append(s.scenes, scene)
	}
}

// inOrder returns scenes in story order.
func inOrder(scenes []*annotator.Scene) []*annotator.Scene {
	return slices.SortedFunc(slices.Values(scenes), func(a, b *annotator.Scene) int { return int(a.Order - b.Order) })
}

// numbers returns the numbers of all scenes in story order.
func (s *story) numbers() (numbers []int) {
	s.Helper()
	orders, err := s.db.Scenes.Orders(s.ctx)
	s.ok(err)
	for _, o := range orders {
		numbers = append(numbers, o.N)
	}
	return numbers
}

// TestInsertionsChangeNoRow inserts scenes into a thread that has ended, and a thread between two others. Every row
// that was there is there as before, but for the state of the run and the digests.
func TestInsertionsChangeNoRow(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3, 2, 2))
	s.read(creates("Dawn (ship)", "Dawn is a ship. She sails.", "ship"))
	s.read()
	s.read(creates("Mik", "Mik is a sailor."), revises(1, codex.Edit{Aliases: []string{"port"}}))
	s.read()
	s.read(creates("Ysolde", "Ysolde is a smith."))
	s.createSnapshot()
	tables := strings.Fields(ask[string](t, s.path, `SELECT group_concat(name, ' ') FROM pragma_table_list
		WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT IN ('digest', 'run_state', 'sqlite_schema')`))
	before := s.dumped(tables...)
	s.insert(2, 1000, 2)
	s.insert(3, 500, 1)
	after := map[string]bool{}
	for _, row := range s.dumped(tables...) {
		after[row] = true
	}
	for _, row := range before {
		if !after[row] {
			t.Errorf("not as before: %s", row)
		}
	}
	if got, want := s.numbers(), []int{1, 2, 8, 9, 3, 10, 4, 5, 6, 7}; !slices.Equal(got, want) {
		t.Fatalf("the scenes are in the order %v, want %v", got, want)
	}
	s.clean()
	threads, err := view.At(s.db, view.Moment{}).Threads(s.ctx)
	s.ok(err)
	var spans []string
	for _, span := range threads {
		spans = append(spans, fmt.Sprint(span.ID, span.First, span.Last))
	}
	if want := []string{"1000 1 3", "500 10 10", "999 4 5", "998 6 7"}; !slices.Equal(spans, want) {
		t.Errorf("threads %v, want %v", spans, want)
	}
	row, err := s.db.Scenes.Get(s.ctx, 8)
	s.ok(err)
	if index, err := s.db.Scenes.Index(s.ctx, row); err != nil || index != 2 || row.Opens || row.Ends {
		t.Errorf("scene 8 has the index %d, %v: %+v", index, err, row)
	}
}

// TestInsertedScenesAreReadLate: a limit at a scene that was inserted shows nothing that is told after it. What is
// learned in it later is known from the furthest scene that was read.
func TestInsertedScenesAreReadLate(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3, 2))
	s.read(creates("Dawn (ship)", "Dawn is a ship. She sails.", "ship"))
	s.read()
	s.read(creates("Mik", "Mik is a sailor."))
	s.read()
	s.insert(2, 1000, 1)
	s.insert(6, 1000, 1)
	s.insert(0, 400, 1)
	s.reopen()
	names := func(point string) (names []string) {
		p, err := view.ParsePoint(point)
		s.ok(err)
		m, err := view.LimitAt(s.ctx, s.db, p)
		s.ok(err)
		for e, err := range view.At(s.db, m).All(s.ctx) {
			s.ok(err)
			names = append(names, e.Name())
		}
		return names
	}
	for _, n := range []int{8, 6, 7, 5} {
		if got := s.next(); got != n {
			t.Fatalf("scene %d is next, want %d", got, n)
		}
		switch n {
		case 6:
			s.read(creates("Ysolde", "Ysolde is a smith."))
		default:
			s.read()
		}
		s.clean()
	}
	for point, want := range map[string][]string{
		"scene:8": nil, "scene:1": {"Dawn (ship)"}, "scene:6": {"Dawn (ship)"}, "post:60": {"Dawn (ship)"},
		"scene:7": {"Dawn (ship)"}, "scene:3": {"Dawn (ship)", "Mik"}, "scene:4": {"Dawn (ship)", "Mik", "Ysolde"},
		"snapshot:4": {"Dawn (ship)", "Mik"}, "snapshot:6": {"Dawn (ship)", "Mik", "Ysolde"},
	} {
		if got := names(point); !slices.Equal(got, want) {
			t.Errorf("%s shows %q, want %q", point, got, want)
		}
	}
	for n := 1; n <= len(s.scenes); n++ {
		s.seenAt(s.db, view.Point{Kind: view.PointScene, ID: int64(n)})
		s.seenAt(s.db, view.Point{Kind: view.PointSnapshot, ID: int64(n)})
	}
	s.seenAt(s.db, view.Point{Kind: view.PointPost, ID: 60})
}

// TestExtendKeepsItsScenes: a corpus without a scene of the run, or with two of them exchanged, adds nothing.
func TestExtendKeepsItsScenes(t *testing.T) {
	t.Parallel()
	for _, corpus := range [][]int{{0, 2, 3}, {0, 2, 1, 3}, {}} {
		s := newStory(t, t.TempDir(), scenesOf(3))
		grown := scenesOf(4)
		var given []*annotator.Scene
		for _, i := range corpus {
			given = append(given, grown[i])
		}
		if err := s.extend("2", given...); annotator.KindOf(err) != annotator.Misused {
			t.Errorf("%v: %v", corpus, err)
		}
		if got := s.numbers(); len(got) != 3 {
			t.Errorf("%v: scenes %v", corpus, got)
		}
		s.clean()
	}
}

// TestMentionCountsOfInsertedScenes compares the counts within limits with those of all mentions, in threads with
// several blocks to which scenes were added anywhere.
func TestMentionCountsOfInsertedScenes(t *testing.T) {
	t.Parallel()
	const entries = 5
	rapid.Check(t, func(r *rapid.T) {
		s := newStory(t, t.TempDir(), scenesOf(rapid.IntRange(1, 130).Draw(r, "scenes"), 3))
		s.seedEntries(entries)
		most := 200 // at once; later ones may be between these, where there is less room
		for i := range rapid.IntRange(1, 3).Draw(r, "insertions") {
			after := s.scenes[rapid.IntRange(0, len(s.scenes)-1).Draw(r, "after")]
			thread := after.Thread.ID
			row, err := s.db.Scenes.Get(s.ctx, after.N)
			if s.ok(err); row.Ends && rapid.Bool().Draw(r, "new thread") {
				thread = int64(100 + i)
			}
			s.insert(after.N, thread, rapid.IntRange(1, most).Draw(r, "added"))
			most = 25
		}
		s.bulk(`WITH RECURSIVE e (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM e WHERE id < ?1)
			INSERT INTO mention (entry_id, place, start_at, end_at, set_by, from_seen)
			SELECT id, ord * 1000000 + n % 2, id, id + 1, 3 * id, iif(n % 4, 1, ord + 5000000) FROM scene, e WHERE (n * id) % (id + 2) < 2`, entries)
		s.bulk(storage.FillCounts)
		ids := []int64{1, 2, 3, 4, 5}
		for range 6 {
			limit := s.scenes[rapid.IntRange(0, len(s.scenes)-1).Draw(r, "limit")]
			m, err := view.LimitAt(s.ctx, s.db, view.Point{
				Kind: view.PointPost, ID: limit.Posts[rapid.IntRange(0, 1).Draw(r, "post")].ID,
			})
			s.ok(err)
			v := view.At(s.db, m)
			whole := m.Place.Order() - annotator.Order(1-m.Place.Rank())
			where := fmt.Sprintf(`place <= %d AND from_seen <= %d`, m.Place, whole)
			check(s, "threads", v.MentionCounts, ids, `SELECT group_concat(x, ' ') FROM
				(SELECT entry_id || ':' || thread_id || ':' || count(*) AS x FROM mention
				JOIN scene s ON s.ord = place / 1000000 WHERE `+where+`
				GROUP BY entry_id, thread_id ORDER BY entry_id, min(place))`,
				func(c view.ThreadCount) string { return fmt.Sprintf("%d:%d:%d", c.Entry, c.Thread, c.Count) })
			check(s, "pairs", v.Together, ids, `WITH m AS (SELECT entry_id, place / 1000000 AS scene FROM mention
				WHERE `+where+`) SELECT group_concat(x, ' ') FROM
				(SELECT a.entry_id || ':' || b.entry_id || ':' || count(DISTINCT a.scene) AS x
				FROM m a JOIN m b ON a.scene = b.scene AND a.entry_id < b.entry_id GROUP BY a.entry_id, b.entry_id ORDER BY a.entry_id, b.entry_id)`,
				func(p view.Pair) string { return fmt.Sprintf("%d:%d:%d", p.A, p.B, p.Scenes) })
		}
		s.ok(s.db.Close())
	})
}

// asked returns the text that a query finds.
func (s *story) asked(query string) (text string) {
	s.Helper()
	s.ok(s.db.Reader(storage.Limit{}).Row(s.ctx, query).Scan(&text))
	return text
}

// check compares what a view returns with what a query finds.
func check[T any](s *story, what string, read func(context.Context, []int64) ([]T, error), ids []int64,
	query string, text func(T) string,
) {
	s.Helper()
	found, err := read(s.ctx, ids)
	s.ok(err)
	got := []string{}
	for _, f := range found {
		got = append(got, text(f))
	}
	want := strings.Fields(s.asked(`SELECT coalesce((` + query + `), '')`))
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Fatalf("%s (-mentions +counts):\n%s", what, diff)
	}
}
