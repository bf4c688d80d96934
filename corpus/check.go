package corpus

import (
	"context"
	"database/sql"
	"errors"

	"annotator"
	"annotator/internal/sqlite"
)

// CheckIDs checks that each post has the number of a thread, and that its id is a unique whole number. Evidence refers
// to posts by id. The ids are not read if the schema guarantees that. A violation is annotator.Misused.
func (db *DB) CheckIDs(ctx context.Context) error {
	if err := db.checkThreads(ctx); err != nil {
		return err
	}
	if guaranteed, err := db.idIsRowID(ctx); guaranteed || err != nil {
		return sqlite.Wrap(err, "read the schema of %s", db.path)
	}
	var id string
	var whole bool
	err := db.pool.QueryRowContext(ctx, `SELECT ifnull(CAST(id AS TEXT), 'NULL'), typeof(id) = 'integer' FROM post
		GROUP BY id HAVING count(*) > 1 OR typeof(id) <> 'integer' LIMIT 1`).Scan(&id, &whole)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return sqlite.Wrap(err, "read the ids of %s", db.path)
	case whole:
		err = annotator.Errorf(annotator.Misused, "%s has more than one post %s", db.path, id).
			WithAdvice("give every post an id that is unique over all threads")
	default:
		err = annotator.Errorf(annotator.Misused, "%s has a post with the id %s, which is not a whole number", db.path,
			clean(id)).
			WithAdvice("give every post a whole number for an id")
	}
	return err
}

// checkThreads checks that each post has the number of a thread. An index finds NULL and texts, which sort before and
// after all numbers.
func (db *DB) checkThreads(ctx context.Context) error {
	var post, thread string
	err := db.pool.QueryRowContext(ctx,
		`SELECT ifnull(CAST(id AS TEXT), 'NULL'), ifnull(CAST(thread_id AS TEXT), 'NULL') FROM post
		WHERE thread_id IS NULL OR thread_id >= '' LIMIT 1`).Scan(&post, &thread)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return sqlite.Wrap(err, "read the threads of the posts of %s", db.path)
	}
	return annotator.Errorf(annotator.Misused, "post %s of %s has the thread_id %s, which is no thread's number",
		clean(post), db.path, clean(thread)).
		WithAdvice("give every post the number of its thread")
}

// idIsRowID reports whether the id of a post is its row id.
func (db *DB) idIsRowID(ctx context.Context) (bool, error) {
	var columns, ids int
	err := db.pool.QueryRowContext(ctx,
		`SELECT count(*), count(*) FILTER (WHERE lower(name) = 'id' AND upper(type) = 'INTEGER')
		FROM pragma_table_info('post') WHERE pk > 0`).Scan(&columns, &ids)
	return columns == 1 && ids == 1, err
}
