package corpus

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
)

// sortKey is the position of a post within its thread.
type sortKey struct{ time, id int64 }

// missingPost returns the error of a post that the corpus had earlier.
func missingPost(thread, post int64) error {
	return annotator.Errorf(annotator.NotFound, "post %d of thread %d is not in the corpus", post, thread).
		WithAdvice("if the corpus has changed since it was read, restore the earlier file, or start a new database")
}

// Scene returns the posts of a scene that was read before, in the order of the given ids. A post that is missing, or
// that has moved to another thread, is annotator.NotFound.
func (db *DB) Scene(ctx context.Context, thread int64, posts []int64) ([]annotator.Post, error) {
	if scene, known := db.recent.find(thread, posts); known {
		return scene, nil
	}
	ids, err := json.Marshal(posts)
	if err != nil {
		return nil, err
	}
	found, err := db.list(ctx, `WHERE p.thread_id = ?1 AND p.id IN (SELECT value FROM json_each(?2)) ORDER BY p.id`,
		thread, string(ids))
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]annotator.Post, len(found))
	for i := range found {
		byID[found[i].ID] = found[i]
	}
	scene := make([]annotator.Post, len(posts))
	for i, id := range posts {
		post, ok := byID[id]
		if !ok {
			return nil, missingPost(thread, id)
		}
		scene[i] = post
	}
	db.recent.keep(scene)
	return scene, nil
}

// Origins returns the positions of a thread's posts in their sources, by id. A corpus of another program has none.
func (db *DB) Origins(ctx context.Context, thread int64) (map[int64]Origin, error) {
	found := map[int64]Origin{}
	if !db.shape.origins {
		return found, nil
	}
	return found, sqlite.Each(ctx, db.pool, func(rows *sql.Rows) error {
		var id int64
		var o Origin
		err := rows.Scan(&id, &o.Document, &o.Offset, &o.ID)
		found[id] = o
		return err
	}, `SELECT id, coalesce(source_document, ''), coalesce(source_offset, 0), coalesce(source_id, 0) FROM post
		WHERE thread_id = ? ORDER BY id`, thread)
}

// Post returns a post by its id, or annotator.NotFound.
func (db *DB) Post(ctx context.Context, id int64) (*annotator.Post, error) {
	found, err := db.list(ctx, `WHERE p.id = ?1 LIMIT 1`, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, annotator.Errorf(annotator.NotFound, "there is no post %d in the corpus", id)
	}
	return &found[0], nil
}

// Around returns a post with up to n posts before and n after it in its thread, in story order. It leaves out posts
// whose text the source no longer has, but not the post itself.
func (db *DB) Around(ctx context.Context, id int64, n int) ([]annotator.Post, error) {
	center, err := db.Post(ctx, id)
	if err != nil {
		return nil, err
	}
	at, err := db.sortKey(ctx, center.Thread, id)
	if err != nil {
		return nil, err
	}
	before, err := db.list(ctx,
		`WHERE p.thread_id = ?1 AND (KEY, p.id) < (?2, ?3) AND FORMER = 0 ORDER BY KEY DESC, p.id DESC LIMIT ?4`,
		center.Thread, at.time, at.id, n)
	if err != nil {
		return nil, err
	}
	after, err := db.list(ctx,
		`WHERE p.thread_id = ?1 AND (KEY, p.id) > (?2, ?3) AND FORMER = 0 ORDER BY KEY, p.id LIMIT ?4`,
		center.Thread, at.time, at.id, n)
	slices.Reverse(before)
	return slices.Concat(before, []annotator.Post{*center}, after), err
}

// Range returns the posts of a thread from one post to another, including both, in story order. It leaves out posts
// whose text the source no longer has. It returns at most limit posts, or all if limit is 0. An id of 0 leaves that end
// open. With a tag, only posts with that tag are returned. A post that is not in the thread is annotator.NotFound.
func (db *DB) Range(ctx context.Context, thread, from, to int64, tag string, limit int) ([]annotator.Post, error) {
	low, high := sortKey{earliest, earliest}, sortKey{latest, latest}
	var err error
	if from != 0 {
		if low, err = db.sortKey(ctx, thread, from); err != nil {
			return nil, err
		}
	}
	if to != 0 {
		if high, err = db.sortKey(ctx, thread, to); err != nil {
			return nil, err
		}
	}
	var posts []annotator.Post
	for p, err := range db.posts(ctx, "",
		`WHERE p.thread_id = ?1 AND (KEY, p.id) >= (?2, ?3) AND (KEY, p.id) <= (?4, ?5) AND FORMER = 0
		ORDER BY KEY, p.id`,
		thread, low.time, low.id, high.time, high.id) {
		if err != nil {
			return nil, err
		}
		if tag == "" || slices.Contains(p.Tags, tag) {
			posts = append(posts, *p)
		}
		if len(posts) == limit && limit > 0 {
			break
		}
	}
	return posts, nil
}

// sortKey looks up the position of a post within its thread.
func (db *DB) sortKey(ctx context.Context, thread, post int64) (sortKey, error) {
	var at sortKey
	err := db.pool.QueryRowContext(ctx, `SELECT CAST(`+db.shape.key+` AS INTEGER), p.id FROM post p
		WHERE p.thread_id = ?1 AND p.id = ?2 LIMIT 1`, thread, post).Scan(&at.time, &at.id)
	if errors.Is(err, sql.ErrNoRows) {
		return at, missingPost(thread, post)
	}
	return at, sqlite.Wrap(err, "look up post %d in %s", post, db.path)
}

func (db *DB) list(ctx context.Context, clauses string, args ...any) ([]annotator.Post, error) {
	var posts []annotator.Post
	for p, err := range db.posts(ctx, "", clauses, args...) {
		if err != nil {
			return nil, err
		}
		posts = append(posts, *p)
	}
	return posts, nil
}

// posts yields the posts that the clauses select, with joins. An error is the last that it yields.
func (db *DB) posts(ctx context.Context, joins, clauses string, args ...any) iter.Seq2[*annotator.Post, error] {
	return func(yield func(*annotator.Post, error) bool) {
		rows, err := db.pool.QueryContext(ctx, db.shape.query(joins, clauses), args...)
		if err != nil {
			yield(nil, sqlite.Wrap(err, "read posts of %s", db.path))
			return
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			p, err := scanPost(rows)
			if err != nil {
				yield(nil, sqlite.Wrap(err, "read posts of %s", db.path))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, sqlite.Wrap(err, "read posts of %s", db.path))
		}
	}
}
