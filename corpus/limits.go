package corpus

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"annotator"
)

// A corpus of another program may have views, whose queries may not terminate.
const (
	viewTime    = 30 * time.Second // until the first row of a query that reads views
	viewThreads = 200_000          // that views may yield
	viewTitles  = 16 << 20         // bytes of their titles
)

// reader is the pool of a corpus. If the corpus has views, a query fails if its first row takes longer than the limit.
// All queries of posts and threads are sorted, so the first row shows that the query terminates.
type reader struct {
	*sql.DB
	path  string
	limit time.Duration // 0 for none
}

// QueryContext runs a query.
func (r reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if r.limit == 0 {
		return r.DB.QueryContext(ctx, query, args...)
	}
	limited, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(r.limit, cancel)
	rows, err := r.DB.QueryContext(limited, query, args...)
	if timer.Stop() || ctx.Err() != nil { // the rows use the context while they are read
		return rows, err
	}
	if err == nil {
		_ = rows.Close() //nolint:sqlclosecheck // otherwise the caller closes them
	}
	return nil, annotator.Errorf(annotator.Misused, "a view of the corpus %s gives no row within %s", r.path, r.limit).
		WithAdvice("make tables of its views, with CREATE TABLE ... AS SELECT")
}

// QueryRowContext runs a query that returns at most one row.
func (r reader) QueryRowContext(ctx context.Context, query string, args ...any) row {
	rows, err := r.QueryContext(ctx, query, args...) //nolint:rowserrcheck // Scan checks it
	return row{rows, err}
}

// row is the result of QueryRowContext.
type row struct {
	rows *sql.Rows
	err  error
}

// Scan reads the row; sql.ErrNoRows if there is none.
func (r row) Scan(values ...any) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	return errors.Join(r.rows.Scan(values...), r.rows.Close())
}

// hasViews reports whether a table that is read is a view.
func hasViews(ctx context.Context, pool *sql.DB) (has bool, err error) {
	err = pool.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'view'
		AND lower(name) IN ('thread', 'post', 'tag', 'meta'))`).Scan(&has)
	return has, err
}
