package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

const decisionColumns = `SELECT id, key, digest, verdict, edits, seen, decided_at FROM decision `

func scanDecision(rows *sql.Rows, d *annotator.Decision) error {
	var edits string
	err := rows.Scan(&d.ID, &d.Key, &d.Digest, &d.Verdict, &edits, &d.Seen, &d.At)
	return cmp.Or(err, json.Unmarshal([]byte(edits), &d.Edits))
}

// InForce returns the newest decision on each suggestion, by key, without those that were taken back.
func (s *Decisions) InForce(ctx context.Context) (map[string]annotator.Decision, error) {
	list, err := readAll(ctx, s.db, "read the decisions", scanDecision,
		decisionColumns+`WHERE undone_at IS NULL ORDER BY id`)
	byKey := make(map[string]annotator.Decision, len(list))
	for _, d := range list {
		byKey[d.Key] = d
	}
	return byKey, err
}

// Latest returns the newest decisions that were not taken back, the newest first, at most limit. They were made by
// somebody who was shown no scene after an order.
func (s *Decisions) Latest(ctx context.Context, last annotator.Order, limit int) ([]annotator.Decision, error) {
	return readAll(ctx, s.db, "read the decisions", scanDecision,
		decisionColumns+`WHERE undone_at IS NULL AND seen <= ? ORDER BY id DESC LIMIT ?`, last, limit)
}

// FileDecision stores a decision in the database at path, and sets its id and time. A run does not keep decisions in
// memory, so SQLite's own lock is enough. Open must accept the database.
func FileDecision(ctx context.Context, path string, now func() time.Time, d *annotator.Decision) error {
	return file(ctx, path, now, "store a decision", func(tx *tx) {
		d.At = tx.now
		edits := annotator.EncodeJSON(append([]annotator.DecidedEdit{}, d.Edits...))
		tx.scan([]any{&d.ID}, `INSERT INTO decision (key, digest, verdict, edits, seen, decided_at)
			VALUES (?, ?, ?, ?, ?, ?) RETURNING id`, d.Key, d.Digest, d.Verdict, edits, d.Seen, tx.now)
	})
}

// TakeBackDecision records that a decision counts no longer.
func TakeBackDecision(ctx context.Context, path string, now func() time.Time, id int64) error {
	return file(ctx, path, now, "take a decision back", func(tx *tx) {
		tx.execOne(`UPDATE decision SET undone_at = ? WHERE id = ? AND undone_at IS NULL`, tx.now, id)
	})
}

// file runs a transaction that needs no lock of the run.
func file(ctx context.Context, path string, now func() time.Time, what string, body func(*tx)) error {
	pool, err := openWriter(ctx, path)
	if err != nil {
		return err
	}
	err = transact(context.WithoutCancel(ctx), pool, now, body)
	return cmp.Or(sqlite.Wrap(err, "%s in %s", what, path), pool.Close())
}

// RowsOf returns the rows of the journal by which the edits of a decision were applied, the newest first. It reports
// that one waits if it has no row: it waits for the run, was refused or was taken back.
func (s *Edits) RowsOf(ctx context.Context, d *annotator.Decision) (rows []int64, waits bool, err error) {
	for _, e := range slices.Backward(d.Edits) {
		row := e.Row
		if row == 0 {
			row, err = s.rowOf(ctx, &e.Operation)
		}
		if err != nil || row == 0 {
			return nil, true, err
		}
		rows = append(rows, row)
	}
	return rows, false, nil
}

// rowOf returns the row by which a stored operation was applied; 0 for none.
func (s *Edits) rowOf(ctx context.Context, op *annotator.Operation) (int64, error) {
	return readValue[int64](ctx, s.db, "look for an edit", `SELECT coalesce(max(t.id), 0) FROM trace t
		WHERE t.kind = 'edit' AND t.error = '' AND t.arguments = ? AND `+NotUndone, annotator.EncodeJSON(op))
}

// Basis returns a text that changes whenever something changes on which suggestions rest.
func (s *Decisions) Basis(ctx context.Context) (string, error) {
	return readValue[string](ctx, s.db, "read the digests", `SELECT coalesce(group_concat(hex(hash)), '') FROM
		(SELECT hash FROM digest WHERE name IN ('revision', 'mention', 'trace', 'scene', 'proposal') ORDER BY name)`)
}
