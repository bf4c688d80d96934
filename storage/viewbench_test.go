package storage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"annotator"
	"annotator/storage"
	"annotator/view"
)

// The sizes of the story that the view is timed with.
const (
	benchScenes  = 20_000
	benchEntries = 100_000
	heavyEntries = 20    // have heavyClaims
	heavyClaims  = 2_000 // of which 40 hold at a time
)

// longCodex makes a story of benchScenes with benchEntries, and for comparison one of a hundredth in a folder "short".
func longCodex(b *testing.B) *storage.DB {
	b.Helper()
	dir := os.Getenv("ANNOTATOR_BENCH_DIR") // keeps the databases for the next run
	if dir == "" {
		dir = b.TempDir()
	}
	short := filepath.Join(dir, "short")
	if err := os.MkdirAll(short, 0o700); err != nil {
		b.Fatal(err)
	}
	makeCodex(b, short, benchScenes/100, benchEntries/100)
	makeCodex(b, dir, benchScenes, benchEntries)
	db, err := storage.Open(b.Context(), filepath.Join(dir, "annotator.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// makeCodex makes a story of some scenes with some entries, unless the folder has one. Each entry has a name, an
// alias, a tag, and a confirmation. It has four claims with a quotation each, spread over the rest of the story. Of
// twenty claims one has a relation, one is a promise and one a state; of twenty entries one is an event.
func makeCodex(b *testing.B, dir string, scenes, entries int) {
	b.Helper()
	threads := make([]int, scenes/50)
	for i := range threads {
		threads[i] = 50
	}
	path := filepath.Join(dir, "annotator.db")
	if _, err := os.Stat(path); err != nil {
		s := newStory(b, dir, scenesOf(threads...))
		s.seedScenes(scenes)
		s.bulk(`CREATE TEMP TABLE nth AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?1) SELECT n FROM c;
		CREATE TEMP TABLE claims AS SELECT n, k, iif(k > 3, 2 * k, (k * 997) % 4000) AS after, 'Name' || n || ' sails the sea to harbour '
		    || ((n * 7 + k) % 5000) || ' with ' || iif(n % 10, 'a sailor', 'the captain') || ' of the ship.' AS text FROM (
		  SELECT n, 0 AS k FROM nth UNION ALL SELECT n, 1 FROM nth UNION ALL SELECT n, 2 FROM nth UNION ALL SELECT n, 3 FROM nth
		  UNION ALL SELECT h.n, c.n + 3 FROM nth h, nth c WHERE h.n <= ?3 AND c.n <= ?4 - 4);
		CREATE TEMP TABLE made AS SELECT *, row_number() OVER (ORDER BY at, n, field = 'evidence', field <> 'term', ends IS NOT NULL) AS id FROM (
		  SELECT n, field, key, holds, replace(replace(json, '"from":1', '"from":' || since), '"until":2', '"until":' || at) AS json, ends, at FROM (
		  SELECT n, field, key, holds, json, ends, 1000000000000 * (1 + min(n * ?2 / ?1 + at * (?2 - n * ?2 / ?1) / 4000, ?2 - 1)) AS at,
		    1000000000000 * (1 + min(n * ?2 / ?1 + since * (?2 - n * ?2 / ?1) / 4000, ?2 - 1)) AS since FROM (
		  SELECT n, 'term' AS field, 'name' || n AS key, 1 AS holds, json_quote('Name' || n) AS json, NULL AS ends, 0 AS at, 0 AS since FROM nth
		  UNION ALL SELECT n, 'alias', 'name' || n, 1, json_object('name', 'Name' || n, 'from', 1), NULL, 0, 0 FROM nth
		  UNION ALL SELECT n, 'alias', 'the captain of port' || (n / 7), 1, json_object('name', 'the Captain of Port' || (n / 7), 'from', 1), NULL, 500, 500 FROM nth
		  UNION ALL SELECT n, 'tag', iif(n % 3, 'person', 'place'), 1, json_quote(iif(n % 3, 'person', 'place')), NULL, 0, 0 FROM nth
		  UNION ALL SELECT n, 'tag', 'event', 1, json_quote('event'), NULL, 0, 0 FROM nth WHERE n % 20 = 11
		  UNION ALL SELECT n, 'status', 'confirmed', 1, '"confirmed"', NULL, 700, 0 FROM nth
		  UNION ALL SELECT n, 'claim', k + 1, 1, json_patch(json_object('id', k + 1, 'ord', k, 'text', text, 'kind', 'narrated', 'from', 1), CASE (n + k) % 20
		      WHEN 1 THEN json_object('relation', 'sister of', 'object', 'Name' || (n * 7 % ?1 + 1))
		      WHEN 2 THEN json_object('relation', 'promised', 'object', 'Name' || (n * 7 % ?1 + 1), 'state', json('true'))
		      WHEN 3 THEN json_object('state', json('true')) ELSE '{}' END), NULL, after, after FROM claims
		  UNION ALL SELECT n, 'claim', k + 1, 0, json_object('id', k + 1, 'ord', k, 'text', text, 'kind', 'narrated', 'from', 1, 'until', 2),
		      k + 1, after + 80, after FROM claims WHERE k BETWEEN 4 AND ?4 - 40
		  UNION ALL SELECT n, 'evidence', (k + 1) || '/' || (10 + (n + k) * 3 % ?2 * 10) || '/0-4', 1,
		      json_object('claim', k + 1, 'post', 10 + (n + k) * 3 % ?2 * 10, 'start', 0, 'end', 4, 'quote', 'Dawn'), NULL, after, 0 FROM claims)));
		CREATE INDEX temp.made_ends ON made (n, ends);
		INSERT INTO entry (id, status, name, first_at, last_at, revisions, revision, claims, changes, claimed)
		  SELECT n, 'confirmed', 'name' || n, min(at), max(at), count(*), max(id), 1, 0, 1 FROM made GROUP BY n;
		INSERT INTO revision (id, entry_id, field, at, seen, actor, turn, changed_at) SELECT id, n, field, at, at / 1000000, 'rule', 0, 0 FROM made ORDER BY id;
		INSERT INTO value (id, entry_id, field, key, json, holds, set_by, ended_by, from_seen, until_seen)
		  SELECT (m.at / 1000000 << 20) + (m.id & 1048575), m.n, m.field, m.key, m.json, m.holds, m.id, e.id, m.at / 1000000, e.at / 1000000
		  FROM made m LEFT JOIN made e ON m.field = 'claim' AND m.holds AND e.n = m.n AND e.ends = m.key ORDER BY m.at / 1000000, m.id;
		UPDATE snapshot SET revision_id = (SELECT count(*) FROM revision WHERE at < 1000000000000 * (snapshot.scene + 1)) WHERE id % 1000 = 0;
		UPDATE run_state SET entries = ?1`, entries, scenes, heavyEntries, heavyClaims)
		s.bulk(`CREATE TEMP TABLE nth AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?1) SELECT n FROM c;
		CREATE TEMP TABLE at AS WITH RECURSIVE c (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM c WHERE k < 39) SELECT k FROM c;
		CREATE TEMP TABLE known AS SELECT entry_id, min(id) AS first, min(seen) AS first_at, max(id) AS last, max(seen) AS last_at FROM revision
		  WHERE field = 'alias' GROUP BY entry_id;
		CREATE UNIQUE INDEX temp.known_entry ON known (entry_id);
		INSERT INTO mention (entry_id, place, start_at, end_at, set_by, from_seen)
		  SELECT entry_id, place, start_at, start_at + 4, iif(start_at % 30, first, last), iif(start_at % 30, first_at, last_at) FROM
		    (SELECT iif(k < 30, 1 + (n * 7 + k) % ?2, 1 + (n * 37 + k * 997) % (5 * n)) AS entry_id, n * 1000000000000 + k % 2 AS place, 10 * k AS start_at
		     FROM nth, at) CROSS JOIN known USING (entry_id)`, scenes, heavyEntries)
		s.bulk(storage.FillCounts)
		s.ok(s.db.Close())
	}
}

// BenchmarkView times what pages ask, with and without a limit: each should take less than 100 ms.
func BenchmarkView(b *testing.B) {
	db := longCodex(b)
	asks := []struct {
		name string
		ask  func(context.Context, *view.View) error
	}{
		{"list", func(ctx context.Context, v *view.View) error {
			_, err := v.Find(ctx, annotator.Query{Limit: 50})
			return err
		}},
		{"list of a tag", func(ctx context.Context, v *view.View) error {
			_, err := v.Find(ctx, annotator.Query{Tags: []string{"place"}, Limit: 50})
			return err
		}},
		{"a page behind", func(ctx context.Context, v *view.View) error {
			_, err := v.Find(ctx, annotator.Query{Offset: 9_000, Limit: 50})
			return err
		}},
		{"search of a name", func(ctx context.Context, v *view.View) error { return found(ctx, v, "name777") }},
		{"search of a common word", func(ctx context.Context, v *view.View) error { return found(ctx, v, "captain") }},
		{"search of rare and common words", func(ctx context.Context, v *view.View) error {
			return found(ctx, v, "the harbour 777")
		}},
		{"search of common words", func(ctx context.Context, v *view.View) error {
			return found(ctx, v, "the captain of the ship")
		}},
		{"search inside names", func(ctx context.Context, v *view.View) error { return found(ctx, v, "ame777") }},
		{"entry", func(ctx context.Context, v *view.View) error {
			_, err := v.Entry(ctx, 777)
			return err
		}},
		{"entry of many claims", func(ctx context.Context, v *view.View) error {
			_, err := v.Entry(ctx, 7)
			return err
		}},
		{"name", func(ctx context.Context, v *view.View) error {
			_, err := v.Named(ctx, "Name777")
			return err
		}},
		{"totals", func(ctx context.Context, v *view.View) error {
			_, err := v.Totals(ctx)
			return err
		}},
		{"threads", func(ctx context.Context, v *view.View) error {
			_, err := v.Threads(ctx)
			return err
		}},
		{"summaries", func(ctx context.Context, v *view.View) error {
			_, err := v.Summaries(ctx)
			return err
		}},
		{"snapshots", func(ctx context.Context, v *view.View) error {
			_, err := v.Snapshots(ctx, storage.SnapshotQuery{Limit: 50})
			return err
		}},
		{"mentions of a main character", func(ctx context.Context, v *view.View) error {
			_, _, err := v.Mentions(ctx, 7, 0, 50)
			return err
		}},
		{"mentions in a scene", func(ctx context.Context, v *view.View) error {
			_, err := v.MentionsIn(ctx, 900*annotator.OrderStep, 900*annotator.OrderStep)
			return err
		}},
		{"cast by thread", func(ctx context.Context, v *view.View) error {
			_, err := v.MentionCounts(ctx, []int64{
				1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
				20,
			})
			return err
		}},
		{"most mentioned", func(ctx context.Context, v *view.View) error {
			_, err := v.MostMentioned(ctx, 20)
			return err
		}},
		{"companions", func(ctx context.Context, v *view.View) error {
			_, err := v.Companions(ctx, 7, 20)
			return err
		}},
		{"place of a post", func(ctx context.Context, v *view.View) error {
			_, err := v.PlaceOf(ctx, 99_990)
			return err
		}},
	}
	limits := map[string]view.Moment{"no limit": {}}
	for _, point := range []string{"scene:10000", "scene:1000", "snapshot:10000"} {
		p, err := view.ParsePoint(point)
		if err == nil {
			limits[point], err = view.MomentAt(b.Context(), db, p)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, a := range asks {
		for _, limit := range []string{"no limit", "scene:10000", "scene:1000", "snapshot:10000"} {
			b.Run(fmt.Sprintf("%s/%s", a.name, limit), func(b *testing.B) {
				for b.Loop() {
					if err := a.ask(b.Context(), view.At(db, limits[limit])); err != nil &&
						annotator.KindOf(err) != annotator.NotFound {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func found(ctx context.Context, v *view.View, text string) error {
	page, err := v.Find(ctx, annotator.Query{Text: text, Limit: 50})
	if err == nil && page.Total == 0 {
		err = fmt.Errorf("%q is not found", text)
	}
	return err
}
