package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// AppliedEdit is an operation of a person that was applied, or refused.
type AppliedEdit struct {
	Row       int64 // of the journal
	Operation annotator.Operation
	Revisions []annotator.Revision
	Refusal   *codex.Refusal // why it was refused; nil if it was not
}

// FileEdit stores an operation of a person, which the run of the database at path applies between two scenes. A run
// does not keep the stored operations in memory, so SQLite's own lock is enough. Open must accept the database.
func FileEdit(ctx context.Context, path string, now func() time.Time, op *annotator.Operation) error {
	return file(ctx, path, now, "store an edit", func(tx *tx) {
		tx.execOne(`INSERT INTO pending_edit (operation, asked_at) VALUES (?, ?)`, annotator.EncodeJSON(op), tx.now)
	})
}

// Pending returns the operations that wait to be applied, in order.
func (s *Edits) Pending(ctx context.Context) ([]annotator.Operation, error) {
	return readAll(ctx, s.db, "read the pending edits", scanOperation, pendingEdits)
}

const pendingEdits = `SELECT operation FROM pending_edit ORDER BY id`

func scanOperation(rows *sql.Rows, op *annotator.Operation) error {
	var text string
	if err := rows.Scan(&text); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), op)
}

// ReadTo returns the order of the furthest scene that was begun; 0 for none.
func (s *Edits) ReadTo(ctx context.Context) (annotator.Order, error) {
	return s.db.Reader(Limit{}).readTo(ctx)
}

func (r Reader) readTo(ctx context.Context) (read annotator.Order, err error) {
	err = r.Row(ctx, `SELECT coalesce(max(ord), 0) FROM scene
		WHERE attempts > 0 OR recorded_at IS NOT NULL`).Scan(&read)
	return read, sqlite.Wrap(err, "read the scenes")
}

// NewestRefused returns at most n of the stored operations that the rules refused when the run came to them, the newest
// first.
func (s *Edits) NewestRefused(ctx context.Context, n int) ([]AppliedEdit, error) {
	return readAll(ctx, s.db, "read the refused edits", func(rows *sql.Rows, a *AppliedEdit) error {
		var text string
		a.Refusal = &codex.Refusal{}
		if err := rows.Scan(&a.Row, &text, &a.Refusal.Code, &a.Refusal.Message); err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), &a.Operation)
	}, `SELECT id, arguments, error, content FROM trace WHERE kind = 'edit' AND error <> ''
		ORDER BY id DESC LIMIT ?`, n)
}

// Check returns why an operation would be refused now, as a *codex.Refusal; nil if it would not. A batch is not
// checked, because its parts may rest on each other.
func (s *Edits) Check(ctx context.Context, op annotator.Operation) error {
	if op.IsList() {
		return nil
	}
	_, err := (&edit{Reader: s.db.Reader(Limit{}), ctx: ctx, op: &op}).plan()
	return err
}

// Seed applies the entries that a run begins with, before its first scene is begun. The same seed again changes
// nothing, so that the command that began a run resumes it. Any other is annotator.Misused.
func (s *Edits) Seed(ctx context.Context, op *annotator.Operation) error {
	return s.db.update(ctx, "apply the seed", func(tx *tx) {
		var former string
		var begun bool
		tx.scan([]any{&former, &begun}, `SELECT
			coalesce((SELECT arguments FROM trace WHERE kind = 'edit' AND tool = 'seed'), ''),
			EXISTS (SELECT 1 FROM scene WHERE attempts > 0 OR recorded_at IS NOT NULL)`)
		switch {
		case tx.err != nil || isSeed(former, op):
		case former != "":
			tx.fail(annotator.Errorf(annotator.Misused, "the run began with another seed").
				WithReason(annotator.ReasonOtherSeed))
		case begun:
			tx.fail(annotator.Errorf(annotator.Misused, "the run began without a seed").
				WithReason(annotator.ReasonOtherSeed))
		default:
			seed := *op
			seed.Parts = slices.Clone(op.Parts) // the numbers of the entries are set in them
			tx.applyEdit(&AppliedEdit{Operation: seed})
		}
	})
}

// Seeded reports whether the run began with a seed, or its first scene is begun, so that it gets none any more.
func (s *Edits) Seeded(ctx context.Context) (bool, error) {
	return readValue[bool](ctx, s.db, "read the seed", `SELECT
		EXISTS (SELECT 1 FROM trace WHERE kind = 'edit' AND tool = 'seed')
		OR EXISTS (SELECT 1 FROM scene WHERE attempts > 0 OR recorded_at IS NOT NULL)`)
}

// isSeed reports whether a row's operation is a seed that was applied, with the numbers of its entries.
func isSeed(row string, seed *annotator.Operation) bool {
	var applied annotator.Operation
	if json.Unmarshal([]byte(row), &applied) != nil {
		return false
	}
	for i := range applied.Parts {
		applied.Parts[i].Entry = 0
	}
	return annotator.EncodeJSON(applied) == annotator.EncodeJSON(seed)
}

// Apply applies an operation in one transaction with its row of the journal. It works between scenes only. If the rules
// refuse it, nothing is recorded, and the error is a *codex.Refusal.
func (s *Edits) Apply(ctx context.Context, op annotator.Operation) (*AppliedEdit, error) {
	applied := &AppliedEdit{Operation: op}
	return applied, s.update(ctx, applied)
}

func (s *Edits) update(ctx context.Context, applied *AppliedEdit) error {
	return s.db.update(ctx, "apply an edit", func(tx *tx) {
		var open int
		tx.scan([]any{&open}, `SELECT open_scene FROM run_state`)
		if tx.err == nil && open != 0 {
			tx.fail(annotator.Errorf(annotator.InUse, "scene %d is not finished", open))
		}
		tx.applyEdit(applied)
	})
}

// ApplyPending applies the operations that wait, each in one transaction with its row of the journal, and returns them.
// The row of one that the rules refuse says why.
func (s *Edits) ApplyPending(ctx context.Context) (all []AppliedEdit, err error) {
	type pending struct {
		id int64
		op annotator.Operation
	}
	waiting, err := readAll(ctx, s.db, "read the pending edits", func(rows *sql.Rows, p *pending) error {
		var text string
		err := rows.Scan(&p.id, &text)
		return cmp.Or(err, json.Unmarshal([]byte(text), &p.op))
	}, `SELECT id, operation FROM pending_edit ORDER BY id`)
	for _, p := range waiting {
		applied := AppliedEdit{Operation: p.op}
		if err := s.applyPending(ctx, p.id, &applied); err != nil {
			return all, err
		}
		all = append(all, applied)
	}
	return all, err
}

// applyPending applies one operation that waits. If the rules or a constraint of the schema refuse it, another
// transaction records the refusal.
func (s *Edits) applyPending(ctx context.Context, id int64, applied *AppliedEdit) error {
	const remove = `DELETE FROM pending_edit WHERE id = ?`
	asked := applied.Operation
	err := s.db.update(ctx, "apply an edit", func(tx *tx) {
		tx.applyEdit(applied)
		tx.execOne(remove, id)
	})
	refusal := (*codex.Refusal)(nil)
	switch {
	case errors.As(err, &refusal):
	case sqlite.IsConstraint(err):
		refusal = &codex.Refusal{Code: "CONFLICT", Message: err.Error()}
	default:
		return err
	}
	*applied = AppliedEdit{Operation: asked, Refusal: refusal}
	return s.db.update(ctx, "record a refused edit", func(tx *tx) {
		row := editRow(applied)
		tx.append(row)
		applied.Row = row.ID
		tx.execOne(remove, id)
	})
}

// editRow returns the row of the journal of an operation.
func editRow(applied *AppliedEdit) *annotator.Trace {
	row := &annotator.Trace{
		Kind: annotator.TraceEdit, Tool: string(applied.Operation.Do),
		Arguments: annotator.EncodeJSON(applied.Operation),
		Content:   annotator.Quantity(len(applied.Revisions), "revision"),
	}
	if r := applied.Refusal; r != nil {
		row.Content, row.Error = r.Message, r.Code
	}
	return row
}

// applyEdit applies an operation and appends its row.
func (tx *tx) applyEdit(applied *AppliedEdit) {
	if tx.err != nil {
		return
	}
	var err error
	applied.Revisions, err = tx.perform(&applied.Operation)
	tx.fail(err)
	row := editRow(applied)
	tx.append(row)
	applied.Row = row.ID
}

// perform makes the revisions of an operation.
func (tx *tx) perform(op *annotator.Operation) ([]annotator.Revision, error) {
	if op.IsList() {
		return tx.performAll(op.Parts)
	}
	g := &Glossary{q: tx, tx: tx}
	revisions, err := (&edit{Reader: g.Reader(), ctx: tx.ctx, op: op}).plan()
	if err == nil {
		err = g.reviseAll(tx.ctx, revisions)
	}
	if err == nil && op.Do == annotator.DeedCreate {
		op.Entry = revisions[0].Entry
	}
	return revisions, err
}

// performAll makes the revisions of some operations, each after the one before. Those that change nothing are left out.
// Entries that the batch makes have negative numbers in it, -1 for the first, until they are made.
func (tx *tx) performAll(parts []annotator.Operation) (all []annotator.Revision, err error) {
	err = &codex.Refusal{Code: codex.Already, Message: "all of it is so already"}
	var made []int64
	for i := range parts {
		for _, id := range []*int64{&parts[i].Entry, &parts[i].Other} {
			if n := -*id; n > 0 && n <= int64(len(made)) && parts[i].Do != annotator.DeedCreate {
				*id = made[n-1]
			}
		}
		switch do := parts[i].Do; do { // each of these is found by a row of its own
		case annotator.DeedAnswer, annotator.DeedUndo, annotator.DeedBatch, annotator.DeedSeed:
			return nil, &codex.Refusal{Code: "NOT_FOUND", Message: fmt.Sprintf("%s is no part of a batch", do)}
		}
		revisions, failed := tx.perform(&parts[i])
		refusal := (*codex.Refusal)(nil)
		switch {
		case failed == nil:
			if all, err = append(all, revisions...), nil; parts[i].Do == annotator.DeedCreate {
				made = append(made, parts[i].Entry)
			}
		case !errors.As(failed, &refusal):
			return nil, failed
		case refusal.Code != codex.Already:
			message := codex.Describe(&parts[i]) + ": " + refusal.Message
			return nil, &codex.Refusal{Code: refusal.Code, Message: message}
		}
	}
	return all, err
}
