package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"annotator"
)

// FileProposal stores what an agent proposes to change of the codex of the database at path, as FileEdit stores edits.
// It sets ID and At.
func FileProposal(ctx context.Context, path string, now func() time.Time, p *annotator.Proposal) error {
	return file(ctx, path, now, "store a proposal", func(tx *tx) {
		p.At = tx.now
		tx.scan([]any{&p.ID}, `INSERT INTO proposal (operation, why, seen, proposed_at) VALUES (?, ?, ?, ?)
			RETURNING id`, annotator.EncodeJSON(p.Operation), p.Why, p.Seen, p.At)
	})
}

// Proposals returns what agents have proposed, in order: what they knew when they were shown no scene after the order
// given; 0: all.
func (s *Edits) Proposals(ctx context.Context, limit annotator.Order) ([]annotator.Proposal, error) {
	scan := func(rows *sql.Rows, p *annotator.Proposal) error {
		var operation string
		err := rows.Scan(&p.ID, &operation, &p.Why, &p.Seen, &p.At)
		return cmp.Or(err, json.Unmarshal([]byte(operation), &p.Operation))
	}
	return readAll(ctx, s.db, "read the proposals", scan, `SELECT id, operation, why, seen, proposed_at
		FROM proposal WHERE ?1 IN (0, seen) OR seen < ?1 ORDER BY id`, limit)
}
