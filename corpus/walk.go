package corpus

import (
	"context"
	"database/sql"
	"iter"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
)

// DefaultMaxBytes is the default of Limits.MaxBytes. It is more than fits into the context of a model.
const DefaultMaxBytes = 1 << 20

// Limits bounds the memory of a walk.
type Limits struct {
	// MaxBytes is the maximum length of the bodies of a scene. A longer run of posts is split into several scenes,
	// between posts. A single post is never split. 0 means DefaultMaxBytes.
	MaxBytes int
}

// Cursor identifies a scene, so that a walk can continue after it.
type Cursor struct {
	N      int   // the scene's number, from 1 over the whole story; 0 is before the first scene
	Thread int64 // its thread
	Index  int   // its number within the thread, from 0
	Post   int64 // its last post
}

// Scenes yields every scene in story order. Its memory depends only on Limits and the number of threads. An error ends
// the walk. The walk holds a connection until the loop ends.
func (db *DB) Scenes(ctx context.Context, limits Limits) iter.Seq2[*annotator.Scene, error] {
	return db.ScenesAfter(ctx, limits, Cursor{})
}

// ScenesAfter yields the scenes after a cursor. It does not read earlier posts, unless the corpus has no index on the
// threads of posts. With the same limits it yields the same scenes as Scenes. If the cursor's post is missing, it
// yields one error, annotator.NotFound.
func (db *DB) ScenesAfter(ctx context.Context, limits Limits, last Cursor) iter.Seq2[*annotator.Scene, error] {
	return func(yield func(*annotator.Scene, error) bool) {
		threads, err := db.Threads(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		b := newBatcher(threads, limits, last)
		for post, err := range db.posts(ctx, threads, last) {
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

func newBatcher(threads []annotator.Thread, limits Limits, last Cursor) *batcher {
	b := &batcher{threads: make(map[int64]annotator.Thread, len(threads)), limit: limits.MaxBytes, n: last.N}
	if b.limit <= 0 {
		b.limit = DefaultMaxBytes
	}
	for _, t := range threads {
		b.threads[t.ID] = t
	}
	if last.N > 0 {
		b.enter(last.Thread)
		b.index = last.Index + 1
	}
	return b
}

// posts yields the posts after the cursor, in story order.
func (db *DB) posts(ctx context.Context, threads []annotator.Thread, last Cursor) iter.Seq2[*annotator.Post, error] {
	return func(yield func(*annotator.Post, error) bool) {
		walk := db.sortedPosts
		if db.shape.indexed {
			walk = db.threadPosts
		}
		err := walk(ctx, threads, last, func(p *annotator.Post) bool { return yield(p, nil) })
		if err != nil {
			yield(nil, sqlite.Wrap(err, "walk the corpus %s", db.path))
		}
	}
}

// threadPosts queries one thread after the other, by an index.
func (db *DB) threadPosts(ctx context.Context, threads []annotator.Thread, last Cursor, yield func(*annotator.Post) bool) error {
	after := sortKey{earliest, earliest}
	if last.N > 0 {
		var err error
		if after, err = db.sortKey(ctx, last.Thread, last.Post); err != nil {
			return err
		}
		i := slices.IndexFunc(threads, func(t annotator.Thread) bool { return t.ID == last.Thread })
		threads = threads[max(i, 0):]
	}
	query, err := db.pool.PrepareContext(ctx, db.shape.query("", `WHERE p.thread_id = ?1 AND (KEY, p.id) > (?2, ?3) ORDER BY KEY, p.id`))
	if err != nil {
		return err
	}
	defer func() { _ = query.Close() }()
	for _, t := range threads {
		rows, err := query.QueryContext(ctx, t.ID, after.time, after.id)
		if err != nil {
			return err
		}
		if more, err := eachPost(rows, yield); err != nil || !more {
			return err
		}
		after = sortKey{earliest, earliest}
	}
	return nil
}

// threadStartsJoin joins the time that determines the order of the threads, as in Threads.
const threadStartsJoin = ` JOIN (SELECT thread_id,
		ifnull(min(CASE WHEN id = thread_id THEN time END), ifnull(min(time), 0)) AS start
	FROM post WHERE thread_id IS NOT NULL GROUP BY thread_id) s ON s.thread_id = p.thread_id `

// sortedPosts lets SQLite sort all posts, for a database without indexes. A query per thread would read the whole table
// each time. SQLite sorts on disk what does not fit into memory.
func (db *DB) sortedPosts(ctx context.Context, _ []annotator.Thread, last Cursor, yield func(*annotator.Post) bool) error {
	rows, err := db.pool.QueryContext(ctx, db.shape.query(threadStartsJoin, `ORDER BY s.start, p.thread_id, KEY, p.id`))
	if err != nil {
		return err
	}
	skipping := last.N > 0
	_, err = eachPost(rows, func(p *annotator.Post) bool {
		if skipping {
			skipping = p.Thread != last.Thread || p.ID != last.Post
			return true
		}
		return yield(p)
	})
	if err == nil && skipping {
		return missingPost(last.Thread, last.Post)
	}
	return err
}

// eachPost yields the posts of rows and closes them. It returns false if yield did.
func eachPost(rows *sql.Rows, yield func(*annotator.Post) bool) (more bool, err error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		p, err := scanPost(rows)
		if err != nil {
			return false, err
		}
		if !yield(p) {
			return false, nil
		}
	}
	return true, rows.Err()
}
