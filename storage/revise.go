package storage

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"annotator"
	"annotator/codex"
)

// Revise writes the revisions of one entry and the change that each makes; an entry id of 0 in them means a new entry. It
// returns the entry as it is then. It can be used inside RunTool only.
func (g *Glossary) Revise(ctx context.Context, revisions []annotator.Revision) (*annotator.Entry, error) {
	if g.tx == nil {
		return nil, errors.New("the glossary is open for reading only")
	}
	if len(revisions) == 0 {
		return nil, errors.New("no revision to write")
	}
	e, created, err := g.subject(ctx, revisions[0].Entry)
	if err != nil {
		return nil, err
	}
	before := e.Status
	for i := range revisions {
		r := &revisions[i]
		r.ID, r.Entry = g.tx.head.revision+1+int64(i), e.ID
		r.Turn, r.Trace, r.Changed = g.turn, g.tx.head.trace+1, g.tx.now
		if err := codex.Apply(e, r); err != nil {
			return nil, err
		}
	}
	if created {
		before = ""
	}
	if err := g.tx.putEntry(e, created, before); err != nil {
		return nil, err
	}
	for i := range revisions {
		if err := g.tx.putRevision(&revisions[i]); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (g *Glossary) subject(ctx context.Context, id int64) (e *annotator.Entry, created bool, err error) {
	if id != 0 {
		e, err = g.Entry(ctx, id)
		return e, false, err
	}
	e = &annotator.Entry{Status: annotator.Tentative}
	err = g.q.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) + 1 FROM glossary_entry`).Scan(&e.ID)
	return e, true, err
}

func (tx *tx) putEntry(e *annotator.Entry, created bool, before annotator.Status) error {
	names := make([]string, len(e.Aliases))
	for i := range e.Aliases {
		names[i] = e.Aliases[i].Name
	}
	values := []any{
		e.Term, e.Disambiguator, codex.Normalize(e.Name()), strings.Join(names, "\n"), e.Definition(), e.Status, e.First, e.Last,
		e.Revisions, e.Revision, e.Locked, e.MergedInto, tx.now, e.ID,
	}
	query := `UPDATE glossary_entry SET term = ?, disambiguator = ?, term_normalized = ?, names = ?, definition = ?, status = ?,
		first_at = ?, last_at = ?, revisions = ?, revision = ?, locked = ?, merged_into = ?, updated_at = ? WHERE id = ?`
	if created {
		query = `INSERT INTO glossary_entry (term, disambiguator, term_normalized, names, definition, status, first_at, last_at,
			revisions, revision, locked, merged_into, updated_at, id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
		values = append(values, tx.now)
	}
	if err := tx.execOne(query, values...); err != nil {
		return err
	}
	change := 0
	if e.Status.Live() {
		change++
	}
	if before.Live() {
		change--
	}
	if change == 0 {
		return nil
	}
	return tx.execOne(`UPDATE run_state SET entries = entries + ?`, change)
}

// putRevision writes a revision and what it changes in the tables beside the entry's own row.
func (tx *tx) putRevision(r *annotator.Revision) error {
	_, err := tx.exec(`INSERT INTO revision (id, entry_id, field, old_value, new_value, at, actor, turn, trace_id, changed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.Entry, r.Field, r.Old, r.New, r.At, r.Actor, r.Turn, r.Trace, r.Changed)
	if err != nil {
		return err
	}
	tx.head.revision = r.ID
	return tx.putPart(r)
}

// putPart writes what a revision changes in the tables beside the entry's own row.
func (tx *tx) putPart(r *annotator.Revision) error {
	switch r.Field {
	case annotator.FieldTag:
		return tx.putTag(r)
	case annotator.FieldAlias:
		return tx.putAlias(r)
	case annotator.FieldClaim:
		return tx.putClaim(r)
	case annotator.FieldEvidence:
		return tx.putEvidence(r)
	}
	return nil // the entry's row holds the rest
}

func (tx *tx) putTag(r *annotator.Revision) error {
	if r.Old != "" {
		if err := tx.execOne(`DELETE FROM glossary_tag WHERE entry_id = ? AND tag = ?`, r.Entry, r.Old); err != nil {
			return err
		}
	}
	if r.New == "" {
		return nil
	}
	return tx.execOne(`INSERT INTO glossary_tag (entry_id, tag) VALUES (?, ?)`, r.Entry, r.New)
}

func (tx *tx) putAlias(r *annotator.Revision) error {
	var alias annotator.Alias
	if r.Old != "" {
		if err := json.Unmarshal([]byte(r.Old), &alias); err != nil {
			return err
		}
		err := tx.execOne(`DELETE FROM glossary_alias WHERE entry_id = ? AND name_normalized = ?`, r.Entry, codex.Normalize(alias.Name))
		if err != nil {
			return err
		}
	}
	if r.New == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(r.New), &alias); err != nil {
		return err
	}
	return tx.execOne(`INSERT INTO glossary_alias (entry_id, name_normalized, name, from_at) VALUES (?, ?, ?, ?)`,
		r.Entry, codex.Normalize(alias.Name), alias.Name, alias.From)
}

func (tx *tx) putClaim(r *annotator.Revision) error {
	var c annotator.Claim
	if err := json.Unmarshal([]byte(r.New), &c); err != nil {
		return err
	}
	return tx.execOne(`INSERT INTO claim (entry_id, id, ord, text, kind, from_at, until_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (entry_id, id) DO UPDATE SET ord = excluded.ord, text = excluded.text, kind = excluded.kind,
		  from_at = excluded.from_at, until_at = excluded.until_at`, r.Entry, c.ID, c.Ord, c.Text, c.Kind, c.From, c.Until)
}

func (tx *tx) putEvidence(r *annotator.Revision) error {
	var v annotator.Evidence
	if err := json.Unmarshal([]byte(r.New), &v); err != nil {
		return err
	}
	return tx.execOne(`INSERT INTO evidence (entry_id, claim_id, post_id, start_at, end_at, quote) VALUES (?, ?, ?, ?, ?, ?)`,
		r.Entry, v.Claim, v.Post, v.Start, v.End, v.Quote)
}
