package corpus_test

import (
	"runtime"
	"testing"
	"time"

	"annotator/corpus"
	"annotator/internal/longtest"
)

const million = 1_000_000

// generate returns SQL that creates a million posts of 250 bytes. Thread and story are SQL expressions of the post's
// number i.
func generate(thread, story string) string {
	return `
	INSERT INTO post (thread_id, id, name, trip_code, time, body)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999)
		SELECT ` + thread + `, i, 'QM', '!trip', i, printf('%d %.240c', i, 'x') FROM n;
	INSERT INTO tag SELECT id, 'qm_post' FROM post WHERE ` + story + `;`
}

const strictSchema = `
	CREATE TABLE thread (id INTEGER PRIMARY KEY, title TEXT);
	CREATE TABLE post (thread_id INTEGER NOT NULL, id INTEGER PRIMARY KEY, name TEXT, trip_code TEXT, subject TEXT,
		time INTEGER NOT NULL, body TEXT);
	CREATE TABLE tag (post_id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (post_id, name)) WITHOUT ROWID;
	CREATE INDEX post_in_thread ON post (thread_id, time, id);`

// A walk over a million story posts, a quarter of a gigabyte, uses a heap of a few megabytes. The test is not parallel:
// it measures the process.
func TestMemoryIsFlat(t *testing.T) {
	longtest.Only(t, "makes a database of 300 MB")
	db := open(t, foreign(t, strictSchema, generate("7", "true")))
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var posts, scenes int
	var most uint64
	started := time.Now()
	for s, err := range db.Scenes(t.Context(), 64<<10) {
		if err != nil {
			t.Fatal(err)
		}
		posts += len(s.Posts)
		if scenes++; scenes%200 == 0 {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
		}
	}
	t.Logf("%d posts in %d scenes, %v, heap %d MB over %d MB", posts, scenes, time.Since(started), most>>20,
		before.HeapInuse>>20)
	if posts != million {
		t.Errorf("%d posts", posts)
	}
	if limit := before.HeapInuse + 32<<20; most > limit {
		t.Errorf("heap of %d MB while walking, %d MB before", most>>20, before.HeapInuse>>20)
	}
}

// BenchmarkMillion walks 100,000 scenes of ten posts each, five of them readers', in 10,000 threads.
func BenchmarkMillion(b *testing.B) {
	for name, story := range map[string]string{"half story": "id % 10 < 5", "all story": "true"} {
		b.Run(name, func(b *testing.B) {
			path := foreign(b, strictSchema, generate("i / 100", story))
			db, err := corpus.Open(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			for b.Loop() {
				for _, err := range db.Scenes(b.Context(), 0) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
