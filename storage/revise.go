package storage

import (
	"cmp"
	"context"
	"errors"

	"annotator"
	"annotator/codex"
)

// Revise applies revisions to one entry and records them. An entry id of 0 in them creates an entry. It returns the
// entry after that. It works inside RunTool only.
func (g *Glossary) Revise(ctx context.Context, revisions []annotator.Revision) (*annotator.Entry, error) {
	if g.tx == nil {
		return nil, errors.New("the codex is open for reading only")
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
		e, created := entries[id], false
		if id == 0 {
			if e, created, err = g.entryToRevise(ctx, id); err != nil {
				return err
			}
		}
		if e == nil {
			return annotator.Errorf(annotator.NotFound, "there is no entry %d", id)
		}
		if err := g.revise(e, created, revisions[:n]); err != nil {
			return err
		}
		revisions = revisions[n:]
	}
	return nil
}

// revise applies revisions to an entry, and records both.
func (g *Glossary) revise(e *annotator.Entry, created bool, revisions []annotator.Revision) error {
	status := e.Status
	if created {
		status = ""
	}
	for i := range revisions {
		r := &revisions[i]
		r.ID, r.Entry = g.tx.head.revision+1+int64(i), e.ID
		if r.Actor != annotator.ActorPerson { // a person's is set, and may be from before the story
			r.Seen = cmp.Or(r.Seen, g.tx.head.seen)
		}
		r.Turn, r.Trace, r.Changed = g.turn, g.tx.head.trace+1, g.tx.now
		if err := codex.Apply(e, r); err != nil {
			return err
		}
	}
	g.tx.setEntry(e, revisions)
	g.tx.countLive(status, e.Status)
	for i := range revisions {
		r := &revisions[i]
		g.tx.execOne(`INSERT INTO revision (id, entry_id, field, at, seen, actor, turn, trace_id, changed_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.Entry, r.Field, r.At, r.Seen, r.Actor, r.Turn, r.Trace, r.Changed)
		g.tx.head.revision = r.ID
		g.tx.setValue(r)
	}
	return g.tx.err
}

// entryToRevise returns the entry with an id, or a new one for the id 0.
func (g *Glossary) entryToRevise(ctx context.Context, id int64) (e *annotator.Entry, created bool, err error) {
	if id != 0 {
		e, err = g.Reader().held(ctx, id)
		return e, false, err
	}
	e = &annotator.Entry{Status: annotator.Tentative}
	err = g.q.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) + 1 FROM entry`).Scan(&e.ID)
	return e, true, err
}

// setEntry brings the row of an entry up to date after its newest revisions, or makes it.
func (tx *tx) setEntry(e *annotator.Entry, revisions []annotator.Revision) {
	var name any
	if e.Status.Live() {
		name = codex.Normalize(e.Name())
	}
	claims := 0
	for i := range e.Claims {
		if e.Claims[i].Until == 0 {
			claims++
		}
	}
	changes, asked := changedClaims(revisions)
	tx.execOne(`INSERT INTO entry (id, name, first_at, last_at, revisions, revision, claims, changes, status, claimed)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?10, ?11)
		ON CONFLICT (id) DO UPDATE SET status = ?10, name = ?2, first_at = ?3, last_at = ?4, revisions = ?5,
		  revision = ?6, claims = ?7, changes = iif(?9, 0, changes) + ?8, claimed = ?11`,
		e.ID, name, e.First, e.Last, e.Revisions, e.Revision, claims, changes, asked, e.Status, e.Claimed)
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
