package storage

import (
	"context"
	"encoding/json"
	"errors"

	"annotator"
	"annotator/codex"
)

// Revise applies revisions to one entry and records them. An entry id of 0 in them creates an entry. It returns the
// entry after that. It works inside RunTool only.
func (g *Glossary) Revise(ctx context.Context, revisions []annotator.Revision) (*annotator.Entry, error) {
	if g.tx == nil {
		return nil, errors.New("the glossary is open for reading only")
	}
	if len(revisions) == 0 {
		return nil, errors.New("no revision to write")
	}
	e, created, err := g.entryToRevise(ctx, revisions[0].Entry)
	if err != nil {
		return nil, err
	}
	return e, g.revise(e, created, revisions)
}

// reviseAll applies revisions of several entries, each entry in one piece. It reads all entries at once.
func (g *Glossary) reviseAll(ctx context.Context, revisions []annotator.Revision) error {
	var ids []int64
	for i := range revisions {
		ids = append(ids, revisions[i].Entry)
	}
	entries, err := g.Entries(ctx, ids)
	if err != nil {
		return err
	}
	for len(revisions) > 0 {
		id, n := revisions[0].Entry, 1
		for n < len(revisions) && revisions[n].Entry == id {
			n++
		}
		if entries[id] == nil {
			return annotator.Errorf(annotator.NotFound, "there is no entry %d", id)
		}
		if err := g.revise(entries[id], false, revisions[:n]); err != nil {
			return err
		}
		revisions = revisions[n:]
	}
	return nil
}

// revise applies revisions to an entry, and records both.
func (g *Glossary) revise(e *annotator.Entry, created bool, revisions []annotator.Revision) error {
	status := e.Status
	versions := make([]listed, 1, len(revisions)+1) // before and after each revision
	if !created {
		versions[0] = listedOf(e)
	}
	for i := range revisions {
		r := &revisions[i]
		r.ID, r.Entry = g.tx.head.revision+1+int64(i), e.ID
		r.Seen, r.Turn, r.Trace, r.Changed = g.tx.head.seen, g.turn, g.tx.head.trace+1, g.tx.now
		if err := codex.Apply(e, r); err != nil {
			return err
		}
		versions = append(versions, listedOf(e))
	}
	if created {
		status = ""
		g.tx.insertEntry(e)
	} else {
		g.tx.updateEntry(e)
	}
	g.tx.countLive(status, e.Status)
	for i := range revisions {
		r := &revisions[i]
		g.tx.exec(`INSERT INTO revision (id, entry_id, field, old_value, new_value, at, seen, actor, turn, trace_id, changed_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.Entry, r.Field, r.Old, r.New, r.At, r.Seen, r.Actor, r.Turn, r.Trace, r.Changed)
		g.tx.head.revision = r.ID
		g.tx.applyRevision(r)
		g.tx.setVersion(versions[i], versions[i+1], r)
	}
	g.tx.countFacts(e, revisions)
	return g.tx.err
}

// entryToRevise returns the entry with an id, or a new one for the id 0.
func (g *Glossary) entryToRevise(ctx context.Context, id int64) (e *annotator.Entry, created bool, err error) {
	if id != 0 {
		e, err = g.Entry(ctx, id)
		return e, false, err
	}
	e = &annotator.Entry{Status: annotator.Tentative}
	err = g.q.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) + 1 FROM glossary_entry`).Scan(&e.ID)
	return e, true, err
}

// columnsOf returns the columns of an entry's row.
func (tx *tx) columnsOf(e *annotator.Entry) []any {
	return []any{
		e.ID, tx.now, e.Term, e.Disambiguator, codex.Normalize(e.Name()), e.Definition(), e.Status, e.First, e.Last, e.Revisions, e.Revision,
		e.Locked, e.MergedInto, e.Present, e.PresentAt, e.PresentRevision,
	}
}

// insertEntry inserts the row of a new entry.
func (tx *tx) insertEntry(e *annotator.Entry) {
	tx.execOne(`INSERT INTO glossary_entry (id, created_at, updated_at, term, disambiguator, term_normalized, definition, status, first_at,
		last_at, revisions, revision, locked, merged_into, present, present_at, present_revision)
		VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)`, tx.columnsOf(e)...)
}

// updateEntry updates the row of an entry.
func (tx *tx) updateEntry(e *annotator.Entry) {
	tx.execOne(`UPDATE glossary_entry SET updated_at = ?2, term = ?3, disambiguator = ?4, term_normalized = ?5, definition = ?6, status = ?7,
		first_at = ?8, last_at = ?9, revisions = ?10, revision = ?11, locked = ?12, merged_into = ?13, present = ?14, present_at = ?15,
		present_revision = ?16 WHERE id = ?1`, tx.columnsOf(e)...)
}

// countLive keeps the number of live entries, after the status of one has changed.
func (tx *tx) countLive(before, now annotator.Status) {
	if before.Live() == now.Live() {
		return
	}
	change := 1
	if before.Live() {
		change = -1
	}
	tx.execOne(`UPDATE run_state SET entries = entries + ? WHERE id = 1`, change)
}

// applyRevision applies a revision to the tables beside the entry's own row, which holds the rest.
func (tx *tx) applyRevision(r *annotator.Revision) {
	tx.setValidity(r)
	switch r.Field {
	case annotator.FieldTag:
		tx.applyTag(r)
	case annotator.FieldAlias:
		tx.applyAlias(r)
	case annotator.FieldClaim:
		c := decode[annotator.Claim](tx, r.New)
		tx.execOne(`INSERT INTO claim (entry_id, id, ord, text, kind, from_at, until_at, speaker, state, replaced_by, revision)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (entry_id, id) DO UPDATE SET ord = excluded.ord, text = excluded.text, kind = excluded.kind, from_at = excluded.from_at,
			  until_at = excluded.until_at, speaker = excluded.speaker, state = excluded.state, replaced_by = excluded.replaced_by, revision = excluded.revision`,
			r.Entry, c.ID, c.Ord, c.Text, c.Kind, c.From, c.Until, c.Speaker, c.State, c.ReplacedBy, r.ID)
	case annotator.FieldEvidence:
		v := decode[annotator.Evidence](tx, r.New)
		tx.execOne(`INSERT INTO evidence (entry_id, claim_id, post_id, start_at, end_at, quote, weak) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			r.Entry, v.Claim, v.Post, v.Start, v.End, v.Quote, v.Weak)
	}
}

func (tx *tx) applyTag(r *annotator.Revision) {
	if r.Old != "" {
		tx.execOne(`DELETE FROM glossary_tag WHERE entry_id = ? AND tag = ?`, r.Entry, r.Old)
	}
	if r.New != "" {
		tx.execOne(`INSERT INTO glossary_tag (entry_id, tag) VALUES (?, ?)`, r.Entry, r.New)
	}
}

func (tx *tx) applyAlias(r *annotator.Revision) {
	if r.Old != "" {
		old := decode[annotator.Alias](tx, r.Old)
		tx.execOne(`DELETE FROM glossary_alias WHERE entry_id = ? AND name_normalized = ?`, r.Entry, codex.Normalize(old.Name))
	}
	if r.New != "" {
		alias := decode[annotator.Alias](tx, r.New)
		tx.execOne(`INSERT INTO glossary_alias (entry_id, name_normalized, name, from_at) VALUES (?, ?, ?, ?)`,
			r.Entry, codex.Normalize(alias.Name), alias.Name, alias.From)
	}
}

// decode reads a value of a revision.
func decode[T any](tx *tx, value string) (v T) {
	tx.fail(json.Unmarshal([]byte(value), &v))
	return v
}
