package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"annotator/codex"
	"annotator/internal/sqlite"
)

// querier reads: a pool, or a transaction that has to see its own writes.
type querier interface {
	sqlite.Querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// pool are connections for reading. A run's queries are short, so it does not cancel them. For a query that can be
// cancelled, two goroutines are started.
type pool struct {
	*sql.DB
	uncancelled bool
}

func (p pool) context(ctx context.Context) context.Context {
	if p.uncancelled {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// QueryContext runs a query.
func (p pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return p.DB.QueryContext(p.context(ctx), query, args...)
}

// QueryRowContext runs a query of one row.
func (p pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return p.DB.QueryRowContext(p.context(ctx), query, args...)
}

// collect returns all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, query string,
	args ...any,
) ([]T, error) {
	var all []T
	err := sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var v T
		err := scan(rows, &v)
		all = append(all, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ScanValue scans a row of one column.
func ScanValue[T any](rows *sql.Rows, v *T) error { return rows.Scan(v) }

// readAll is collect outside a transaction. Its error says what was read, and from which file.
func readAll[T any](ctx context.Context, db *DB, what string, scan func(*sql.Rows, *T) error, query string,
	args ...any,
) ([]T, error) {
	return Rows(ctx, db.Reader(Limit{}), what, scan, query, args...)
}

// readFirst is readAll for the first row. The error is missing where there is none.
func readFirst[T any](ctx context.Context, db *DB, what string, missing error, scan func(*sql.Rows, *T) error,
	query string, args ...any,
) (T, error) {
	return First(ctx, db.Reader(Limit{}), what, missing, scan, query, args...)
}

// readValue is readAll for a query of one row and one column.
func readValue[T any](ctx context.Context, db *DB, what, query string, args ...any) (v T, err error) {
	err = db.read.QueryRowContext(ctx, query, args...).Scan(&v)
	return v, sqlite.Wrap(err, "%s in %s", what, db.path)
}

// orNone takes an error that says that there is no row for no error.
func orNone(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// Phrase quotes words for the full-text indexes.
func Phrase(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// AnyPhrase is a query of the full-text indexes for any of some names; empty if none has a word.
func AnyPhrase(names []string) string {
	var phrases []string
	for _, name := range names {
		if codex.HasWord(name) {
			phrases = append(phrases, Phrase(name))
		}
	}
	return strings.Join(phrases, " OR ")
}

// List encodes numbers or words for json_each.
func List[T ~int | ~int64 | ~string](list []T) string {
	text, _ := json.Marshal(append([]T{}, list...)) // fails for no such list
	return string(text)
}

// Rows returns all rows of a query. The error says what was read, and from which file.
func Rows[T any](ctx context.Context, r Reader, what string, scan func(*sql.Rows, *T) error, query string,
	args ...any,
) ([]T, error) {
	all, err := collect(ctx, r.q, scan, query, args...)
	return all, sqlite.Wrap(err, "%s in %s", what, r.path)
}

// First is Rows for the first row. The error is missing where there is none.
func First[T any](ctx context.Context, r Reader, what string, missing error, scan func(*sql.Rows, *T) error,
	query string, args ...any,
) (first T, err error) {
	all, err := Rows(ctx, r, what, scan, query, args...)
	if err == nil && len(all) == 0 {
		err = missing
	}
	if err != nil {
		return first, err
	}
	return all[0], nil
}

// Each calls a function for each row of a query.
func (r Reader) Each(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	return sqlite.Each(ctx, r.q, scan, query, args...)
}

// Row queries one row.
func (r Reader) Row(ctx context.Context, query string, args ...any) *sql.Row {
	return r.q.QueryRowContext(ctx, query, args...)
}
