package storage

import (
	"context"
	"database/sql"

	"annotator"
)

// Undecided returns the tentative entries that no person has locked and that are first seen in one of the threads (none: in any),
// but for those that a curator's decision was written about in a row of the journal after the given one. They come in story
// order.
func (s *Curation) Undecided(ctx context.Context, after int64, threads ...int64) ([]annotator.UndecidedEntry, error) {
	scan := func(rows *sql.Rows, u *annotator.UndecidedEntry) error { return rows.Scan(&u.Entry, &u.RetryReason) }
	return readAll(ctx, s.db, "read the tentative entries", scan, `SELECT e.id, coalesce(d.new_value ->> '$.reason', '') FROM glossary_entry e
		LEFT JOIN revision d ON d.id = (SELECT max(v.id) FROM revision v
		  WHERE v.entry_id = e.id AND v.field = 'curator_decision' AND v.trace_id > ?2)
		WHERE e.status = 'tentative' AND e.locked = 0
		  AND (json_array_length(?1) = 0 OR EXISTS (SELECT 1 FROM thread_state t WHERE t.thread_id IN (SELECT value FROM json_each(?1))
		    AND e.first_at / 1000000 BETWEEN t.first_scene AND t.last_scene))
		  AND coalesce(d.new_value ->> '$.decision', 'AGAIN') = 'AGAIN'
		ORDER BY e.first_at, e.id`, jsonList(threads), after)
}

// Decide writes what a question outside any turn came to: the row with the answer, or the note that stands for one which could
// not be used, the revisions that follow from it, and the end of the call. All of them commit together. A call whose row is no
// reply ends with the outcome that it has; it is nil where it has ended before.
func (s *Curation) Decide(ctx context.Context, call *annotator.Call, row *annotator.Trace, revisions []annotator.Revision) error {
	return s.db.update(ctx, "write down a decision", func(tx *tx) error {
		g := &Glossary{q: tx, path: s.db.path, tx: tx}
		if err := g.reviseAll(tx.ctx, revisions); err != nil {
			return err
		}
		if err := tx.append(row); err != nil || call == nil {
			return err
		}
		if row.Kind != annotator.TraceReply {
			return tx.endCall(call, nil)
		}
		call.Outcome = annotator.CallOK
		return tx.endCall(call, &row.ID)
	})
}
