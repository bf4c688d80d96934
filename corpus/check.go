package corpus

import (
	"context"
	"database/sql"
	"errors"

	"annotator"
	"annotator/internal/sqlite"
)

// CheckIDs checks that the id of each post is a unique whole number; evidence refers to posts by id. If the schema
// guarantees it, nothing is read. A violation is annotator.Misused.
func (db *DB) CheckIDs(ctx context.Context) error {
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
		err = annotator.Errorf(annotator.Misused, "%s has a post with the id %s, which is not a whole number", db.path, clean(id)).
			WithAdvice("give every post a whole number for an id")
	}
	return err
}

// idIsRowID reports whether the id of a post is its row id.
func (db *DB) idIsRowID(ctx context.Context) (bool, error) {
	var columns, ids int
	err := db.pool.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE lower(name) = 'id' AND upper(type) = 'INTEGER')
		FROM pragma_table_info('post') WHERE pk > 0`).Scan(&columns, &ids)
	return columns == 1 && ids == 1, err
}
