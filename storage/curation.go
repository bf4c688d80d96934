package storage

import (
	"context"
	"database/sql"

	"annotator"
)

// Undecided returns the tentative entries that are not locked and were first seen in one of the threads (none: in
// any), in story order, without those that the curator has decided on after the given row of the journal.
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

// Decide records what came of a question of the curator in one transaction: the reply, or the note that stands for an
// unusable one, the revisions that follow, and the end of the call. With a note, the call ends with the outcome that
// it has. The call is nil if it has ended before.
func (s *Curation) Decide(ctx context.Context, call *annotator.Call, row *annotator.Trace, revisions []annotator.Revision) error {
	return s.db.update(ctx, "record a decision", func(tx *tx) {
		g := &Glossary{q: tx, path: s.db.path, tx: tx}
		tx.fail(g.reviseAll(tx.ctx, revisions))
		tx.append(row)
		switch {
		case call == nil:
		case row.Kind == annotator.TraceReply:
			call.Outcome = annotator.CallOK
			tx.endCall(call, &row.ID)
		default:
			tx.endCall(call, nil)
		}
	})
}
