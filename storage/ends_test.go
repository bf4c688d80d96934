package storage_test

import (
	"database/sql"
	"math"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// plainlyEnded reads every thread. Threads.Ended finds the same threads by stored columns.
const plainlyEnded = `SELECT thread_id, summarised, unanswered, last_turn FROM
	 (SELECT t.thread_id, t.ord, t.unanswered, (SELECT max(s.turn) FROM scene s WHERE s.thread_id = t.thread_id AND s.state = 'recorded') AS last_turn,
	    EXISTS (SELECT 1 FROM episode e WHERE e.kind = 'thread' AND e.thread_id = t.thread_id) AS summarised
	  FROM thread_state t JOIN scene l ON l.n = t.last_scene AND l.state IN ('recorded', 'quarantined')) ended
	WHERE last_turn > coalesce((SELECT through_turn FROM compaction ORDER BY trace_id DESC LIMIT 1), 0)
	  OR EXISTS (SELECT 1 FROM episode e WHERE e.kind = 'chunk' AND e.thread_id = ended.thread_id AND e.gone IS NULL)
	  OR NOT summarised AND last_turn > 0
	    AND (SELECT max(id) FROM trace WHERE turn = last_turn) > (SELECT summaries_after FROM run_state)
	ORDER BY ord`

// endsPlainly compares the threads that have ended with those that are found by looking at every thread.
func (s *story) endsPlainly() {
	s.Helper()
	pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadOnly, 1)
	s.ok(err)
	defer func() { _ = pool.Close() }()
	var want []annotator.EndedThread
	s.ok(sqlite.Each(s.ctx, pool, func(rows *sql.Rows) error {
		var t annotator.EndedThread
		err := rows.Scan(&t.ID, &t.Summarised, &t.Unanswered, &t.LastTurn)
		want = append(want, t)
		return err
	}, plainlyEnded))
	got, err := s.db.Threads.Ended(s.ctx)
	s.ok(err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("threads that have ended (-looked at +kept):\n%s", diff)
	}
}

// chapters is a story of n chapters with a scene each, all read. The newest threads have no summary yet, and the newest
// entries no decision. The newest of the larger entries have no present statement.
func chapters(t tester, dir string, n int) *story {
	s := grown(t, dir, n, 10)
	s.bulk(`INSERT INTO episode (kind, thread_id, idx, from_scene, to_scene, from_turn, to_turn, summary, author, tokens, trace_id, created_at)
		  SELECT 'thread', thread_id, 0, first_scene, last_scene, first_scene, last_scene, 'It went on.', 'model', 1, 1, 0 FROM thread_state WHERE ord < (?1 - 5) * 1000000;
		UPDATE thread_state SET summary_due = ord >= (?1 - 5) * 1000000 AND ord <= ?1 * 1000000;
		UPDATE entry SET first_at = id * 1000000000000, last_at = id * 1000000000000, status = iif(id < ?1 - 20, 'confirmed', 'tentative'),
		  claims = 9, changes = 5 * (id >= ?1 - 10);
		UPDATE snapshot SET revision_id = 3 * scene;`, n)
	return s
}

// endCosts are the operations at every end of a thread.
var endCosts = map[string]func(*story, int){
	"threads that have ended": func(s *story, _ int) { _, err := s.db.Threads.Ended(s.ctx); s.ok(err) },
	"undecided entries": func(s *story, n int) {
		_, err := s.db.Curation.Undecided(s.ctx, 0, orderOf(n))
		s.ok(err)
	},
	"present statements due": func(s *story, _ int) { _, err := s.db.Curation.Outdated(s.ctx, 5, 5, 20); s.ok(err) },
	"present statements asked": func(s *story, n int) {
		_, err := s.db.Curation.Restated(s.ctx, orderOf(n-30))
		s.ok(err)
	},
	"states asked about": func(s *story, n int) {
		_, _, _, err := s.db.OpenStates.Asked(s.ctx, orderOf(n-3))
		s.ok(err)
	},
	"open states": func(s *story, n int) {
		_, err := s.db.OpenStates.Waiting(s.ctx, math.MaxInt64, orderOf(n), 40)
		s.ok(err)
	},
	"facts since": func(s *story, _ int) { _, err := s.db.OpenStates.Added(s.ctx, 50); s.ok(err) },
	"states that name an entry": func(s *story, _ int) {
		_, err := s.db.OpenStates.Naming(s.ctx, []string{"Lantern"}, true, 50)
		s.ok(err)
	},
	"scenes of the next thread": func(s *story, n int) {
		_, err := s.db.Threads.ScenesAfter(s.ctx, orderOf(n))
		s.ok(err)
	},
	"the story so far": func(s *story, _ int) {
		_, err := s.db.Episodes.Newest(s.ctx, annotator.EpisodeCumulative, 0)
		s.ok(err)
	},
}

// TestThreadEndsCostTheSame at the 100th, the 1,000th and the 6,000th chapter.
func TestThreadEndsCostTheSame(t *testing.T) {
	t.Parallel()
	lengths := []int{100, 1_000, 6_000}
	var stories []*story
	for _, n := range lengths {
		s := chapters(t, t.TempDir(), n)
		if got, err := s.db.Threads.Ended(s.ctx); err != nil || len(got) < 6 || len(got) > 60 {
			t.Fatalf("%d threads of %d have ended and are due, %v", len(got), n, err)
		}
		if got, err := s.db.Curation.Undecided(s.ctx, 0, orderOf(n+1)); err != nil || len(got) != 21 {
			t.Fatalf("%d entries of %d are undecided, %v", len(got), n, err)
		}
		if got, err := s.db.Curation.Outdated(s.ctx, 5, 5, 20); err != nil || len(got) != 11 {
			t.Fatalf("%d entries of %d are due, %v", len(got), n, err)
		}
		stories = append(stories, s)
	}
	for name, do := range endCosts {
		took := make([]time.Duration, len(stories))
		measure := func() {
			for i, s := range stories {
				d := quickest(s, func(s *story) { do(s, lengths[i]) })
				if took[i] == 0 || d < took[i] {
					took[i] = d
				}
			}
		}
		measure()
		grows := func() bool { return max(took[1], took[2]) > 2*took[0]+100*time.Microsecond }
		for tries := 0; grows() && tries < 10; tries++ {
			measure()
		}
		t.Logf("%s: %v at %v chapters, %.2f times the first", name, took, lengths, float64(took[2])/float64(took[0]))
		if grows() {
			t.Errorf("%s: %v at %v chapters", name, took, lengths)
		}
	}
}

// TestManyEntriesOfManyThreads: the cost of Undecided depends on the number of entries, not on that of threads.
func TestManyEntriesOfManyThreads(t *testing.T) {
	t.Parallel()
	n := longtest.Pick(4_000, 10_000)
	s := chapters(t, t.TempDir(), n)
	s.bulk(`UPDATE entry SET status = 'tentative'`)
	all, err := s.db.Threads.All(s.ctx)
	s.ok(err)
	threads := make([]int64, len(all))
	for i := range all {
		threads[i] = all[i].ID
	}
	start := longtest.ProcessorTime(t)
	got, err := s.db.Curation.Undecided(s.ctx, 0, math.MaxInt64, threads...)
	if took := longtest.ProcessorTime(t) - start; err != nil || len(got) != n || took > 5*time.Second {
		t.Errorf("%d of %d entries in %v, %v", len(got), n, took, err)
	}
}

// TestEndsReadByIndex: no query of a thread's end reads all rows of a table that grows with the story.
func TestEndsReadByIndex(t *testing.T) {
	t.Parallel()
	s := chapters(t, t.TempDir(), 100)
	pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadOnly, 1)
	s.ok(err)
	defer func() { _ = pool.Close() }()
	for name, query := range storage.EndQueries {
		s.ok(sqlite.Each(s.ctx, pool, func(rows *sql.Rows) error {
			var a, b, c int
			var step string
			err := rows.Scan(&a, &b, &c, &step)
			for _, table := range []string{"thread_state", "scene", "entry", "revision", "trace", "episode", "value"} {
				for _, alias := range []string{
					table,
					map[string]string{"scene": "s", "entry": "e", "trace": "o", "episode": "e"}[table],
				} {
					if alias != "" && (step == "SCAN "+alias || strings.HasPrefix(step, "SCAN "+alias+" ") &&
						!strings.Contains(step, "INDEX")) {
						t.Errorf("%s: %s", name, step)
					}
				}
			}
			return err
		}, "EXPLAIN QUERY PLAN "+query, 1, 1, 1, 1))
	}
}
