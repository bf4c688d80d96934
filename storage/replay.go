package storage

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"

	"annotator"
	"annotator/codex"
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
	for e, err := range s.db.Glossary.All(ctx) {
		if err != nil {
			return err
		}
		if want := replayed[e.ID]; want == nil || !reflect.DeepEqual(plainEntry(e), plainEntry(want)) {
			f.add(fmt.Sprintf("entry %d (%s) is not the sum of its revisions", e.ID, e.Name()))
		}
		delete(replayed, e.ID)
	}
	for id := range replayed {
		f.add(fmt.Sprintf("entry %d has revisions, but is gone", id))
	}
	return s.verifyDerived(ctx, f)
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

func (s *Maintenance) verifyDerived(ctx context.Context, f *Finding) error {
	derived := map[int64][3]string{}
	err := each(ctx, s.db.read, func(rows *sql.Rows) error {
		var id int64
		var columns [3]string
		err := rows.Scan(&id, &columns[0], &columns[1], &columns[2])
		derived[id] = columns
		return err
	}, `SELECT id, term_normalized, names, definition FROM glossary_entry`)
	if err != nil {
		return err
	}
	for e, err := range s.db.Glossary.All(ctx) {
		if err != nil {
			return err
		}
		names := make([]string, len(e.Aliases))
		for i, alias := range e.Aliases {
			names[i] = alias.Name
		}
		if derived[e.ID] != [3]string{codex.Normalize(e.Name()), strings.Join(names, "\n"), e.Definition()} {
			f.add(fmt.Sprintf("entry %d (%s): the columns for searching are not derived from it", e.ID, e.Name()))
		}
	}
	return nil
}
