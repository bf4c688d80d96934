package storage_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/context/mention"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
	"annotator/storage"
	"annotator/view"
)

// grown is a story with n scenes that are read, each a thread, and n entries. More is the number of scenes that are not
// read yet.
func grown(t tester, dir string, n, more int) *story {
	t.Helper()
	threads := make([]int, n+more)
	for i := range threads {
		threads[i] = 1
	}
	s := newStory(t, dir, scenesOf(threads...))
	s.seedScenes(n)
	s.seedEntries(n)
	s.kept = mention.NewCache(s.db.Glossary)
	return s
}

// costs are the operations of a run for every scene, and those at its start. Operations that make the story longer come
// last.
var costs = []struct {
	name string
	do   func(*story)
}{
	{"next scene", func(s *story) { _, err := s.db.Scenes.Next(s.ctx); s.ok(err) }},
	{"scene", func(s *story) { _, err := s.db.Scenes.Get(s.ctx, 7); s.ok(err) }},
	{"turn", func(s *story) { _, err := s.db.Journal.Turn(s.ctx, 7); s.ok(err) }},
	{"window", func(s *story) { _, err := s.db.Journal.Window(s.ctx, 0); s.ok(err) }},
	{"old window", func(s *story) { _, err := s.db.Journal.Window(s.ctx, 150); s.ok(err) }},
	{"last usage", func(s *story) { _, _, err := s.db.Calls.Last(s.ctx); s.ok(err) }},
	// No call has a counted prompt, which takes longest.
	{"prompts counted", func(s *story) { _, err := s.db.Calls.Counted(s.ctx, 32); s.ok(err) }},
	{"questions in a row", func(s *story) { _, _, err := s.db.Calls.ConsecutiveFailures(s.ctx, "ask", 3); s.ok(err) }},
	{"scenes in a row", func(s *story) { _, _, err := s.db.Scenes.ConsecutiveFailures(s.ctx, 3); s.ok(err) }},
	{"fold", func(s *story) { _, _, err := s.db.Episodes.WindowState(s.ctx, 0); s.ok(err) }},
	{"memory", func(s *story) { _, _, err := s.db.Episodes.InForce(s.ctx); s.ok(err) }},
	{"scene of a turn", func(s *story) { _, err := s.db.Scenes.OfTurn(s.ctx, 7); s.ok(err) }},
	{"changed", func(s *story) {
		_, err := s.db.Glossary.ChangedIn(s.ctx, &annotator.Episode{FromTurn: 7, ToTurn: 17, ToScene: 99})
		s.ok(err)
	}},
	{"made", func(s *story) { _, err := s.db.Glossary.OfScene(s.ctx, 7, 7); s.ok(err) }},
	{"questions", func(s *story) { _, err := s.db.Conversations.Questions(s.ctx, 7); s.ok(err) }},
	{"open conversation", func(s *story) { _, err := s.db.Conversations.Current(s.ctx); s.ok(err) }},
	{"thread", func(s *story) { _, err := s.db.Threads.Get(s.ctx, 90); s.ok(err) }},
	{"entries", func(s *story) { _, err := s.db.Glossary.Entries(s.ctx, []int64{7, 90}); s.ok(err) }},
	{"rewritten", func(s *story) {
		_, err := s.db.Glossary.ChangedSince(s.ctx,
			[]annotator.Shown{{Entry: 7, Revision: 7}, {Entry: 90, Revision: 90}}, []int64{1, 2}, false)
		s.ok(err)
	}},
	{"names", func(s *story) { _, err := s.db.Glossary.Names(s.ctx, 7, 90); s.ok(err) }},
	{"lookup", func(s *story) { _, err := s.db.Glossary.Lookup(s.ctx, "Name90"); s.ok(err) }},
	{"search", func(s *story) { s.names(annotator.Query{Text: "Name90", Limit: 10}) }},
	{"open", func(s *story) {
		db, err := storage.Open(s.ctx, s.path)
		s.ok(err)
		s.ok(db.Close())
	}},
	{"record and checkpoint", func(s *story) { s.blank(1) }},
	{"a scene's worth", func(s *story) { s.read(reads) }},
}

// TestCostIsFlat runs the same operations on a short and on a long story. The cost of a scene must not grow with the
// number of scenes before it.
func TestCostIsFlat(t *testing.T) {
	longtest.Only(t, "makes a long story")
	short, long := grown(t, t.TempDir(), 100, 1000), grown(t, t.TempDir(), 10_000, 40_000)
	for _, cost := range costs {
		a, b := quickest(short, cost.do), quickest(long, cost.do)
		grows := func() bool { return b > 3*a+100*time.Microsecond }
		// A single result may be caused by other load on the machine.
		for tries := 0; grows() && tries < 10; tries++ {
			a, b = min(a, quickest(short, cost.do)), min(b, quickest(long, cost.do))
		}
		if grows() {
			t.Errorf("%s: %v after 100 scenes, %v after 10000", cost.name, a, b)
		}
	}
	// A query that reads a whole table for each row would make ten times the story cost a hundred times as much.
	middle := grown(t, t.TempDir(), 1_000, 4_000)
	for _, whole := range wholes {
		a, b := processorTime(t, middle, 1_000, whole.do), processorTime(t, long, 10_000, whole.do)
		if b > 25*a {
			t.Errorf("%s: %v of the processor for 1000 scenes, %v for 10000", whole.name, a, b)
		}
	}
}

// wholes are the operations that read a whole run.
var wholes = []struct {
	name string
	do   func(testing.TB, *story, int64)
}{
	{"verify", func(_ testing.TB, s *story, _ int64) { _, err := s.db.Maintenance.Verify(s.ctx, nil); s.ok(err) }},
	{"branch", func(t testing.TB, s *story, scenes int64) {
		s.ok(storage.Branch(s.ctx, s.path, filepath.Join(t.TempDir(), "branch.db"), scenes/2))
	}},
}

// processorTime returns what an operation on a story of that many scenes takes of the processor.
func processorTime(t testing.TB, s *story, scenes int64, do func(testing.TB, *story, int64)) time.Duration {
	start := longtest.ProcessorTime(t)
	do(t, s, scenes)
	return longtest.ProcessorTime(t) - start
}

// quickest returns the shortest of some times, which depends least on other load.
func quickest(s *story, do func(*story)) time.Duration {
	least := time.Hour
	for range 20 {
		start := time.Now()
		do(s)
		least = min(least, time.Since(start))
	}
	return least
}

// BenchmarkCost times the operations of a run at two lengths of the story. The times should be similar.
func BenchmarkCost(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		s := grown(b, b.TempDir(), n, 20_000)
		for _, cost := range costs {
			b.Run(fmt.Sprintf("%s/%d", cost.name, n), func(b *testing.B) {
				for b.Loop() {
					cost.do(s)
				}
			})
		}
	}
}

// BenchmarkSearchName looks for one name among many: 100 times the entries should cost no more than twice the time.
func BenchmarkSearchName(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		s := newStory(b, b.TempDir(), scenesOf(1))
		s.seedEntries(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s.names(annotator.Query{Text: "Name777", Limit: 10})
			}
		})
	}
}

// BenchmarkResume opens a database to write and reads where to go on.
func BenchmarkResume(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		s := grown(b, b.TempDir(), n, 3*n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s.reopen()
				_, err := s.db.Run.Status(s.ctx)
				s.ok(err)
				_, err = s.db.Journal.Window(s.ctx, 0)
				s.ok(err)
				_, err = s.db.Scenes.Next(s.ctx)
				s.ok(err)
			}
		})
	}
}

// BenchmarkVerify proves the laws of a long story.
func BenchmarkVerify(b *testing.B) {
	s := grown(b, b.TempDir(), 10_000, 0)
	for b.Loop() {
		_, err := s.db.Maintenance.Verify(s.ctx, nil)
		s.ok(err)
	}
}

// TestLawsScanNoTableForEachRow: no query of an invariant reads a whole table for each row of another.
func TestLawsScanNoTableForEachRow(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadOnly, 1)
	s.ok(err)
	defer func() { _ = pool.Close() }()
	for law, query := range storage.InvariantQueries() {
		type step struct {
			parent int
			detail string
		}
		steps := map[int]step{}
		s.ok(sqlite.Each(s.ctx, pool, func(rows *sql.Rows) error {
			var id, unused int
			var step step
			err := rows.Scan(&id, &step.parent, &unused, &step.detail)
			steps[id] = step
			return err
		}, `EXPLAIN QUERY PLAN `+query))
		for id, at := range steps {
			for other, before := range steps { // a co-routine in an inner loop runs for each row of the outer one
				if name, is := strings.CutPrefix(before.detail, "CO-ROUTINE "); !is || at.detail != "SCAN "+name ||
					at.parent != before.parent {
					continue
				}
				for outer, loop := range steps {
					if loop.parent == at.parent && other < outer && outer < id &&
						(strings.HasPrefix(loop.detail, "SCAN ") || strings.HasPrefix(loop.detail, "SEARCH ")) {
						t.Errorf("%s: %s for each row of %s", law, before.detail, loop.detail)
					}
				}
			}
			if !strings.HasPrefix(at.detail, "SCAN") || strings.Contains(at.detail, "VIRTUAL TABLE") {
				continue
			}
			up := at.parent // a materialized part is read once
			for up != 0 && !strings.HasPrefix(steps[up].detail, "MATERIALIZE") &&
				!strings.HasPrefix(steps[up].detail, "CORRELATED") {
				up = steps[up].parent
			}
			if strings.HasPrefix(steps[up].detail, "CORRELATED") {
				t.Errorf("%s: %s in a %s", law, at.detail, steps[up].detail)
			}
		}
	}
}

// TestMentionsOfAPostAreReadOnce reads the mentions in a post with few of them and in one with sixteen times as many.
// It takes no more than some sixteen times as long; what reads all for each takes 256 times as long.
func TestMentionsOfAPostAreReadOnce(t *testing.T) {
	t.Parallel()
	const few, many = 250, 4_000
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Dawn", "Dawn is a ship."))
	for scene, n := range map[int]int{2: few, 3: many} {
		s.bulk(`WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?2)
			INSERT INTO mention (entry_id, place, start_at, end_at, set_by, from_seen) SELECT 1, ?1, n, n + 1, 1, 1 FROM c`, annotator.PlaceAt(orderOf(scene), 0), n)
	}
	in := func(scene, want int) func(*story) {
		return func(s *story) {
			found, err := view.At(s.db, view.Moment{}).MentionsIn(s.ctx, orderOf(scene), orderOf(scene))
			if s.ok(err); len(found) != want {
				s.Fatalf("%d mentions, not %d", len(found), want)
			}
		}
	}
	if a, b := quickest(s, in(2, few)), quickest(s, in(3, many)); b > 64*a {
		t.Errorf("%v for %d mentions, %v for %d", a, few, b, many)
	}
}
