package corpus

import (
	"context"
	"database/sql"
	"iter"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
)

// DefaultMaxBytes bounds a scene where Limits do not: more than any model reads at once.
const DefaultMaxBytes = 1 << 20

// Limits bounds what a walk holds in memory.
type Limits struct {
	// MaxBytes is what the bodies of a scene may hold together: a longer run of posts is read as several scenes, parted
	// between posts. A single post that is longer stays whole. 0 means DefaultMaxBytes.
	MaxBytes int
}

// Cursor names a scene that has been read, so that a walk can go on behind it.
type Cursor struct {
	N      int   // the scene's number, from 1 over the whole story; 0 is before the first scene
	Thread int64 // its thread
	Index  int   // its number within the thread, from 0
	Post   int64 // its last post
}

// Scenes walks the story: every scene in story order. Memory depends on Limits and on the number of threads alone. An error
// ends the walk. The database is being read until the loop over it ends; the loop may take as long as it likes.
func (db *DB) Scenes(ctx context.Context, limits Limits) iter.Seq2[*annotator.Scene, error] {
	return db.ScenesAfter(ctx, limits, Cursor{})
}

// ScenesAfter is Scenes from behind a scene on. It does not read what lies before, unless the corpus has no index on the
// threads of posts. With the limits that scene was read with, it gives what Scenes would have given next. Where the cursor's
// post is gone, the walk is one error, annotator.NotFound.
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

// posts yields the posts behind the cursor, in story order. A post is the caller's to keep.
func (db *DB) posts(ctx context.Context, threads []annotator.Thread, last Cursor) iter.Seq2[*annotator.Post, error] {
	return func(yield func(*annotator.Post, error) bool) {
		walk := db.wholePosts
		if db.shape.indexed {
			walk = db.threadPosts
		}
		err := walk(ctx, threads, last, func(p *annotator.Post) bool { return yield(p, nil) })
		if err != nil {
			yield(nil, sqlite.Wrap(err, "walk the corpus %s", db.path))
		}
	}
}

// threadPosts asks for one thread after the other: an index finds each, and where it also sorts them nothing is kept.
func (db *DB) threadPosts(ctx context.Context, threads []annotator.Thread, last Cursor, yield func(*annotator.Post) bool) error {
	after := key{earliest, earliest}
	if last.N > 0 {
		var err error
		if after, err = db.key(ctx, last.Thread, last.Post); err != nil {
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
		after = key{earliest, earliest}
	}
	return nil
}

// starts has the time that decides where a thread stands, as Threads does.
const starts = ` JOIN (SELECT thread_id,
		ifnull(min(CASE WHEN id = thread_id THEN time END), ifnull(min(time), 0)) AS start
	FROM post WHERE thread_id IS NOT NULL GROUP BY thread_id) s ON s.thread_id = p.thread_id `

// wholePosts has SQLite sort all posts at once, for a database without the indexes: to read it again for each thread would
// take forever, and SQLite sorts on disk what is too much for its memory.
func (db *DB) wholePosts(ctx context.Context, _ []annotator.Thread, last Cursor, yield func(*annotator.Post) bool) error {
	rows, err := db.pool.QueryContext(ctx, db.shape.query(starts, `ORDER BY s.start, p.thread_id, KEY, p.id`))
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
		return gone(last.Thread, last.Post)
	}
	return err
}

// eachPost yields the rows' posts and closes the rows. It returns false where the loop was left.
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
