package storage

import (
	"context"
	"errors"
	"iter"
	"time"

	"annotator"
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

// OpenWriterOf opens a database for writing with other migrations than the program's.
func OpenWriterOf(ctx context.Context, path string, steps []string, migrating ...func(schema, last int)) (*DB, error) {
	return openWriterOf(ctx, path, "the test", time.Now, steps, migrating)
}

// OpenOf opens a database for reading with other migrations than the program's.
func OpenOf(ctx context.Context, path string, steps []string) (*DB, error) {
	return open(ctx, path, steps)
}

// FillCounts is a statement that fills the tables of counts from the mentions.
var FillCounts = fillCounts

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
var EndQueries = map[string]string{
	"ended": endedThreads, "undecided": undecidedEntries, "outdated": outdatedEntries,
	"states asked": askedStates, "open states": openStates, "facts since": addedClaims,
	"new entries": unlookedEntries,
}

// OrdersBetween computes the orders of new scenes.
var OrdersBetween = ordersBetween

// LookBack is the number of scenes in which a name of several entries looks for the one that it means.
const LookBack = lookBack

// Lookup returns the oldest live entry with a name; NotFound if there is none.
func (g *Glossary) Lookup(ctx context.Context, name string) (*annotator.Entry, error) {
	found, err := g.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, annotator.Errorf(annotator.NotFound, "there is no such entry")
	}
	return &found[0], nil
}
