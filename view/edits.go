package view

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"annotator"
	"annotator/storage"
)

// PastEdit is an operation of a person that was applied.
type PastEdit struct {
	Row       int64 // of the journal
	Operation annotator.Operation
}

// Edits returns all operations of people that were applied and not undone, in order. It does not look at the limit.
func (v *View) Edits(ctx context.Context) ([]PastEdit, error) {
	return readAll(ctx, v, "read the edits", scanPastEdit, `SELECT t.id, t.arguments FROM trace t
		WHERE t.kind = 'edit' AND t.error = '' AND t.tool <> 'undo' AND `+storage.NotUndone+` ORDER BY t.id`)
}

func scanPastEdit(rows *sql.Rows, e *PastEdit) error {
	var text string
	if err := rows.Scan(&e.Row, &text); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), &e.Operation)
}

// EditsOf returns the newest operations that changed an entry and were not undone, the newest first, at most limit of
// them.
func (v *View) EditsOf(ctx context.Context, entry int64, limit int) ([]PastEdit, error) {
	return readAll(ctx, v, "read the edits", scanPastEdit, `SELECT t.id, t.arguments FROM trace t
		WHERE t.kind = 'edit' AND t.error = '' AND t.tool <> 'undo'
		AND t.id IN (SELECT r.trace_id FROM revision r WHERE r.entry_id = ?2 AND r.turn = 0 AND `+v.r.Limit.Made("r")+`)
		AND `+storage.NotUndone+` ORDER BY t.id DESC LIMIT ?3`, v.r.Limit.Bound(), entry, limit)
}

// MergedInto returns the entries that are part of an entry since a merge, by id, at most limit of them.
func (v *View) MergedInto(ctx context.Context, entry int64, limit int) ([]int64, error) {
	return readAll(ctx, v, "read the merged entries", storage.ScanValue[int64], `SELECT v.entry_id FROM value v
		WHERE v.field = 'status' AND v.key = 'merged' AND v.json = json_quote(CAST(?2 AS TEXT))
		AND `+v.r.Limit.InForce("v")+` ORDER BY 1 LIMIT ?3`, v.r.Limit.Bound(), entry, limit)
}

// Confine checks that the view shows what an operation is about, and dates it to the limit of the view. The operation
// is seen no earlier. What takes an operation back is seen from where that was. What the view does not show is
// NotFound, as what does not exist.
func (v *View) Confine(ctx context.Context, op *annotator.Operation) error {
	for i := range op.Parts {
		if err := v.Confine(ctx, &op.Parts[i]); err != nil {
			return err
		}
	}
	missing := annotator.Errorf(annotator.NotFound, "there is nothing with the number that the edit names")
	ids := slices.DeleteFunc([]int64{op.Entry, op.Other}, func(id int64) bool { return id == 0 })
	shown, err := v.Headings(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if shown[id] == nil {
			return missing
		}
	}
	if op.Fact != 0 {
		heads, err := v.ClaimHeads(ctx, op.Entry)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(heads, func(c annotator.Claim) bool { return c.ID == op.Fact }) {
			return missing
		}
	}
	if op.Evidence != nil {
		if _, err := v.PlaceOf(ctx, op.Evidence.Post); err != nil {
			return err
		}
	}
	if v.m.IsZero() || op.Do == annotator.DeedUndo || op.Do == annotator.DeedSplit {
		return nil
	}
	read, err := v.db.Edits.ReadTo(ctx)
	op.From = max(op.From, min(v.m.Order(), read))
	return err
}
