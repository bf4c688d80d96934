package corpus

import (
	"context"
	"database/sql"
	"iter"

	"annotator"
	"annotator/internal/sqlite"
)

// DefaultMaxBytes is the default of the maximum length of a scene. It is more than fits into the context of a model.
const DefaultMaxBytes = 1 << 20

// Scenes yields every scene in story order. The bodies of a scene have at most maxBytes bytes; 0 means DefaultMaxBytes.
// A longer run of posts is split into several scenes, between posts. A single post is never split. The memory of the
// walk depends only on maxBytes and the number of threads. An error ends it. It holds a connection until the loop ends.
func (db *DB) Scenes(ctx context.Context, maxBytes int) iter.Seq2[*annotator.Scene, error] {
	return func(yield func(*annotator.Scene, error) bool) {
		n := 0
		for scene, err := range db.ScenesOf(ctx, maxBytes, func(int64) (int, bool) { return 0, false }) {
			if err == nil {
				n++
				scene.N = n
			}
			if !yield(scene, err) {
				return
			}
		}
	}
}

// ScenesOf yields the scenes of a run, and the new ones, in story order. A listed scene has its number of the run, and
// the posts that it was listed with, as far as the corpus has them. It does not matter whether the source still has
// their text. New posts are in scenes of their own, without a number. Those between the posts of a listed scene come
// after it. Former posts that the run has not listed are left out.
func (db *DB) ScenesOf(ctx context.Context, maxBytes int, listed Listed) iter.Seq2[*annotator.Scene, error] {
	return func(yield func(*annotator.Scene, error) bool) {
		threads, err := db.Threads(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		b := newBatcher(threads, maxBytes, listed)
		for post, err := range db.walk(ctx, threads) {
			if err != nil {
				yield(nil, err)
				return
			}
			b.add(post)
			if !b.yieldReady(yield) {
				return
			}
		}
		b.finish()
		b.yieldReady(yield)
	}
}

// yieldReady yields the scenes that are ready. It reports whether the walk goes on.
func (b *batcher) yieldReady(yield func(*annotator.Scene, error) bool) bool {
	for _, scene := range b.ready {
		if !yield(scene, nil) {
			return false
		}
	}
	b.ready = b.ready[:0]
	return true
}

// Former returns the posts whose text the source no longer has, in the order of their ids.
func (db *DB) Former(ctx context.Context) ([]int64, error) {
	if db.shape.former == "0" {
		return nil, nil
	}
	var ids []int64
	err := sqlite.Each(ctx, db.pool, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM post WHERE former = 1 ORDER BY id`)
	return ids, sqlite.Wrap(err, "read the former posts of %s", db.path)
}

// walk yields all posts in story order.
func (db *DB) walk(ctx context.Context, threads []annotator.Thread) iter.Seq2[*annotator.Post, error] {
	if !db.shape.indexed {
		// A query per thread would read the whole table each time. SQLite sorts on disk what does not fit into memory.
		return db.posts(ctx, threadStartsJoin, `ORDER BY s.start, p.thread_id, KEY, p.id`)
	}
	return func(yield func(*annotator.Post, error) bool) {
		for _, t := range threads {
			for post, err := range db.posts(ctx, "", `WHERE p.thread_id = ?1 ORDER BY KEY, p.id`, t.ID) {
				if !yield(post, err) || err != nil {
					return
				}
			}
		}
	}
}

// threadStartsJoin joins the time that determines the order of the threads, as in Threads.
const threadStartsJoin = ` JOIN (SELECT thread_id,
		ifnull(min(CASE WHEN id = thread_id THEN time END), ifnull(min(time), 0)) AS start
	FROM post WHERE thread_id IS NOT NULL GROUP BY thread_id) s ON s.thread_id = p.thread_id `
