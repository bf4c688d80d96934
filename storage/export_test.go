package storage

import (
	"context"
	"errors"
	"iter"
	"time"

	"annotator/internal/sqlite"
	"annotator/migrations"
)

// Differing applies a further migration to a database, then a change by a transaction, and returns the tables whose
// digests do not hold.
func Differing(ctx context.Context, path, step, change string) ([]string, error) {
	w, err := openWriter(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }()
	m := &migration{pool: w.DB, path: path, steps: append(migrations.All(), step)}
	if _, err := m.step(ctx); err != nil {
		return nil, err
	}
	err = transact(ctx, w, time.Now, func(tx *tx) { tx.exec(change) })
	tables, _, found := differing(ctx, querier(w.DB))
	return tables, errors.Join(err, found)
}

// FillTables fills the tables of a database that follow from its revisions and mentions, as migrations do.
func FillTables(ctx context.Context, path string) error {
	pool, err := sqlite.Open(ctx, path, sqlite.ReadWrite, 1)
	if err != nil {
		return err
	}
	t, err := pool.BeginTx(ctx, nil)
	if err == nil {
		err = fillValidity(ctx, t)
	}
	if err == nil {
		_, err = t.ExecContext(ctx, fillCounts)
	}
	if err == nil {
		err = t.Commit()
	}
	return errors.Join(err, pool.Close())
}

// CompanionsOfMany finds the companions of an entry as View.Companions does for one of many scenes.
func CompanionsOfMany(ctx context.Context, v *View, entry int64, limit int) ([]EntryCount, error) {
	scenes, err := v.scenesOf(ctx, entry)
	if err != nil {
		return nil, err
	}
	return v.companionsOfMany(ctx, entry, scenes[entry], limit)
}

// SetLogPatience sets how long a transaction waits for the readers of a long log.
func (db *DB) SetLogPatience(most time.Duration) { db.logPatience = most }

// InvariantQueries yields the queries of the invariants by their names.
func InvariantQueries() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, i := range invariants {
			if !yield(i.check, i.query) {
				return
			}
		}
	}
}

// EndQueries are what the ends of threads read, by what they look for.
var EndQueries = map[string]string{"ended": endedThreads, "undecided": undecidedEntries, "outdated": outdatedEntries}
