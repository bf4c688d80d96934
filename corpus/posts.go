package corpus

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
)

// key is what posts of a thread are sorted by.
type key struct{ time, id int64 }

// gone is the error for a post that a reader knew and the corpus no longer has.
func gone(thread, post int64) error {
	return annotator.Errorf(annotator.NotFound, "post %d of thread %d is not in the corpus", post, thread).
		WithAdvice("if the corpus was changed since it was read, put back the file it was, or begin again with a new database")
}

// Scene returns the posts of a scene that was read before, by their ids and in that order. If one is gone, or has moved to
// another thread, the error is annotator.NotFound.
func (db *DB) Scene(ctx context.Context, thread int64, posts []int64) ([]annotator.Post, error) {
	ids, err := json.Marshal(posts)
	if err != nil {
		return nil, err
	}
	found, err := db.list(ctx, `WHERE p.thread_id = ?1 AND p.id IN (SELECT value FROM json_each(?2))`, thread, string(ids))
	if err != nil {
		return nil, err
	}
	at := make(map[int64]int, len(found))
	for i := range found {
		at[found[i].ID] = i
	}
	scene := make([]annotator.Post, 0, len(posts))
	for _, id := range posts {
		i, ok := at[id]
		if !ok {
			return nil, gone(thread, id)
		}
		scene = append(scene, found[i])
	}
	return scene, nil
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

// Around returns a post with up to n posts before and n after it in its thread, in (time, id) order.
func (db *DB) Around(ctx context.Context, id int64, n int) ([]annotator.Post, error) {
	center, err := db.Post(ctx, id)
	if err != nil {
		return nil, err
	}
	at, err := db.key(ctx, center.Thread, id)
	if err != nil {
		return nil, err
	}
	before, err := db.list(ctx, `WHERE p.thread_id = ?1 AND (KEY, p.id) < (?2, ?3) ORDER BY KEY DESC, p.id DESC LIMIT ?4`,
		center.Thread, at.time, at.id, n)
	if err != nil {
		return nil, err
	}
	after, err := db.list(ctx, `WHERE p.thread_id = ?1 AND (KEY, p.id) > (?2, ?3) ORDER BY KEY, p.id LIMIT ?4`,
		center.Thread, at.time, at.id, n)
	slices.Reverse(before)
	return slices.Concat(before, []annotator.Post{*center}, after), err
}

// Range returns the posts of a thread from one post to another, both included, in (time, id) order, and at most limit of
// them, or all where limit is 0. An id of 0 leaves that end open; a tag leaves out the posts without it. A post that the thread does not have is
// annotator.NotFound.
func (db *DB) Range(ctx context.Context, thread, from, to int64, tag string, limit int) ([]annotator.Post, error) {
	low, high := key{earliest, earliest}, key{latest, latest}
	for _, end := range []struct {
		post int64
		key  *key
	}{{from, &low}, {to, &high}} {
		if end.post == 0 {
			continue
		}
		var err error
		if *end.key, err = db.key(ctx, thread, end.post); err != nil {
			return nil, err
		}
	}
	var posts []annotator.Post
	err := db.each(ctx, func(p *annotator.Post) bool {
		if tag == "" || slices.Contains(p.Tags, tag) {
			posts = append(posts, *p)
		}
		return limit <= 0 || len(posts) < limit
	}, `WHERE p.thread_id = ?1 AND (KEY, p.id) >= (?2, ?3) AND (KEY, p.id) <= (?4, ?5) ORDER BY KEY, p.id`,
		thread, low.time, low.id, high.time, high.id)
	return posts, err
}

// key looks up where a post stands in its thread.
func (db *DB) key(ctx context.Context, thread, post int64) (key, error) {
	var at key
	err := db.pool.QueryRowContext(ctx, `SELECT CAST(`+db.shape.key+` AS INTEGER), p.id FROM post p
		WHERE p.thread_id = ?1 AND p.id = ?2 LIMIT 1`, thread, post).Scan(&at.time, &at.id)
	if errors.Is(err, sql.ErrNoRows) {
		return at, gone(thread, post)
	}
	return at, sqlite.Wrap(err, "look up post %d in %s", post, db.path)
}

func (db *DB) list(ctx context.Context, clauses string, args ...any) ([]annotator.Post, error) {
	var posts []annotator.Post
	err := db.each(ctx, func(p *annotator.Post) bool {
		posts = append(posts, *p)
		return true
	}, clauses, args...)
	return posts, err
}

// each yields the posts that the clauses choose, until it is told to stop.
func (db *DB) each(ctx context.Context, yield func(*annotator.Post) bool, clauses string, args ...any) error {
	rows, err := db.pool.QueryContext(ctx, db.shape.query("", clauses), args...)
	if err == nil {
		_, err = eachPost(rows, yield)
	}
	return sqlite.Wrap(err, "read posts of %s", db.path)
}
