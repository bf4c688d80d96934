package corpus

import (
	"context"
	"iter"

	"annotator"
)

// DefaultMaxBytes is the default of the maximum length of a scene. It is more than fits into the context of a model.
const DefaultMaxBytes = 1 << 20

// Scenes yields every scene in story order. The bodies of a scene have at most maxBytes bytes; 0 means DefaultMaxBytes.
// A longer run of posts is split into several scenes, between posts. A single post is never split. The memory of the
// walk depends only on maxBytes and the number of threads. An error ends it. It holds a connection until the loop ends.
func (db *DB) Scenes(ctx context.Context, maxBytes int) iter.Seq2[*annotator.Scene, error] {
	return func(yield func(*annotator.Scene, error) bool) {
		threads, err := db.Threads(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		b := newBatcher(threads, maxBytes)
		for post, err := range db.walk(ctx, threads) {
			if err != nil {
				yield(nil, err)
				return
			}
			if scene := b.add(post); scene != nil && !yield(scene, nil) {
				return
			}
		}
		if scene := b.finish(); scene != nil {
			yield(scene, nil)
		}
	}
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
