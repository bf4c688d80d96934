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

// sortKey is the position of a post within its thread.
type sortKey struct{ time, id int64 }

// missingPost reports a post that the corpus had earlier.
func missingPost(thread, post int64) error {
	return annotator.Errorf(annotator.NotFound, "post %d of thread %d is not in the corpus", post, thread).
		WithAdvice("if the corpus has changed since it was read, restore the earlier file, or start a new database")
}

// Scene returns the posts of a scene that was read before, in the order of the given ids. A post that is missing, or
// that has moved to another thread, is annotator.NotFound.
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
			return nil, missingPost(thread, id)
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
	at, err := db.sortKey(ctx, center.Thread, id)
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

// Range returns the posts of a thread from one post to another, both included, in (time, id) order: at most limit of
// them, or all if limit is 0. An id of 0 leaves that end open. With a tag, only posts with that tag are returned. A
// post that is not in the thread is annotator.NotFound.
func (db *DB) Range(ctx context.Context, thread, from, to int64, tag string, limit int) ([]annotator.Post, error) {
	low, high := sortKey{earliest, earliest}, sortKey{latest, latest}
	for _, end := range []struct {
		post int64
		key  *sortKey
	}{{from, &low}, {to, &high}} {
		if end.post == 0 {
			continue
		}
		var err error
		if *end.key, err = db.sortKey(ctx, thread, end.post); err != nil {
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
	err := db.each(ctx, func(p *annotator.Post) bool {
		posts = append(posts, *p)
		return true
	}, clauses, args...)
	return posts, err
}

// each yields the posts that the clauses select, until yield returns false.
func (db *DB) each(ctx context.Context, yield func(*annotator.Post) bool, clauses string, args ...any) error {
	rows, err := db.pool.QueryContext(ctx, db.shape.query("", clauses), args...)
	if err == nil {
		_, err = eachPost(rows, yield)
	}
	return sqlite.Wrap(err, "read posts of %s", db.path)
}
