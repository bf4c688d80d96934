package storage

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// verifyReplay compares each entry with the sum of its revisions, and the derived columns with the entry.
func (s *Maintenance) verifyReplay(ctx context.Context, f *Finding) error {
	refused := func(err error) error {
		f.add(err.Error())
		return nil
	}
	replayed, err := replay(ctx, s.db.read, refused, `true`)
	if err != nil {
		return err
	}
	columns, err := s.derived(ctx)
	if err != nil {
		return err
	}
	for e, err := range s.db.Glossary.All(ctx) {
		if err != nil {
			return err
		}
		if want := replayed[e.ID]; want == nil || !reflect.DeepEqual(plainEntry(e), plainEntry(want)) {
			f.add(fmt.Sprintf("entry %d (%s) is not the sum of its revisions", e.ID, e.Name()))
		}
		if columns[e.ID] != derivedOf(e) {
			f.add(fmt.Sprintf("entry %d (%s): the columns for searching are not derived from it", e.ID, e.Name()))
		}
		delete(replayed, e.ID)
	}
	for id := range replayed {
		f.add(fmt.Sprintf("entry %d has revisions, but is gone", id))
	}
	return nil
}

// plainEntry returns a copy with empty lists in place of nil ones.
func plainEntry(e *annotator.Entry) annotator.Entry {
	c := *e
	c.Tags = append([]string{}, e.Tags...)
	c.Aliases = append([]annotator.Alias{}, e.Aliases...)
	c.Claims = append([]annotator.Claim{}, e.Claims...)
	for i := range c.Claims {
		c.Claims[i].Evidence = append([]annotator.Evidence{}, c.Claims[i].Evidence...)
	}
	return c
}

// derived are the columns of an entry's row that searches read, and that follow from the entry.
type derived struct {
	normalized string // of its name
	indexed
}

func derivedOf(e *annotator.Entry) derived { return derived{codex.Normalize(e.Name()), indexedOf(e)} }

// derived returns the derived columns of all entries.
func (s *Maintenance) derived(ctx context.Context) (map[int64]derived, error) {
	all := map[int64]derived{}
	return all, sqlite.Each(ctx, s.db.read, func(rows *sql.Rows) error {
		var id int64
		var d derived
		err := rows.Scan(&id, &d.normalized, &d.term, &d.names, &d.definition)
		all[id] = d
		return err
	}, `SELECT id, term_normalized, term, names, definition FROM glossary_entry`)
}
