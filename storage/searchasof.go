package storage

import (
	"context"
	"database/sql"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// Search returns entries as Glossary.Search does, from the glossary as it was at a moment. No later revision affects
// what is found, or its order: the entries of that moment are put into a database in memory, and searched there.
func (s *History) Search(ctx context.Context, m Moment, query annotator.Query) ([]annotator.Entry, error) {
	entries, err := s.AsOf(ctx, m)
	if err != nil {
		return nil, err
	}
	pool, err := memoryGlossary(ctx, entries)
	if err != nil {
		return nil, sqlite.Wrap(err, "search the entries as of a moment in %s", s.db.path)
	}
	defer func() { _ = pool.Close() }()
	found, err := (&Glossary{q: pool, path: s.db.path}).Search(ctx, query)
	whole := byID(entries)
	for i := range found {
		found[i] = *whole[found[i].ID]
	}
	return found, err
}

// memoryGlossary returns a database in memory with the columns of entries that a search reads.
func memoryGlossary(ctx context.Context, entries []annotator.Entry) (*sql.DB, error) {
	pool, err := sqlite.Memory(ctx)
	if err != nil {
		return nil, err
	}
	if err = migrate(ctx, pool, "the entries as of a moment"); err == nil {
		err = transact(ctx, &writer{DB: pool}, time.Now, func(tx *tx) {
			// Two entries may have had a name: revisions of a scene that was read late have its place.
			tx.exec(`DROP INDEX glossary_entry_live`)
			for i := range entries {
				tx.insertAsOf(&entries[i])
			}
		})
	}
	if err != nil {
		_ = pool.Close()
		return nil, err
	}
	return pool, nil
}

func (tx *tx) insertAsOf(e *annotator.Entry) {
	tx.insertEntry(e)
	for _, a := range e.Aliases {
		tx.exec(`INSERT INTO glossary_alias (entry_id, name_normalized, name, from_at) VALUES (?, ?, ?, ?)`,
			e.ID, codex.Normalize(a.Name), a.Name, a.From)
	}
	for _, tag := range e.Tags {
		tx.exec(`INSERT INTO glossary_tag (entry_id, tag) VALUES (?, ?)`, e.ID, tag)
	}
}
