package storage

import (
	"context"
	"database/sql"

	"annotator"
)

// Undecided returns the tentative entries that are not locked and were first seen in one of the threads (none: in
// any), in story order, without those that the curator has decided on after the given row of the journal. To ask again
// is no decision, and an entry that was revised once is judged once more.
func (s *Curation) Undecided(ctx context.Context, after int64, threads ...int64) ([]annotator.UndecidedEntry, error) {
	scan := func(rows *sql.Rows, u *annotator.UndecidedEntry) error {
		var revised int
		err := rows.Scan(&u.Entry, &u.RetryReason, &revised)
		u.Revised = revised > 0
		return err
	}
	return readAll(ctx, s.db, "read the tentative entries", scan, `WITH decision AS NOT MATERIALIZED (
		  SELECT id, entry_id, new_value ->> '$.decision' AS action, new_value ->> '$.reason' AS reason FROM revision
		  WHERE field = 'curator_decision' AND trace_id > ?2 AND new_value ->> '$.decision' <> 'UNSTATED')
		SELECT e.id, iif(d.action = 'AGAIN', d.reason, ''),
		  (SELECT count(*) FROM decision r WHERE r.entry_id = e.id AND r.action = 'REVISE') AS revised
		FROM glossary_entry e LEFT JOIN decision d ON d.id = (SELECT max(n.id) FROM decision n WHERE n.entry_id = e.id)
		WHERE e.status = 'tentative' AND e.locked = 0
		  AND (json_array_length(?1) = 0 OR EXISTS (SELECT 1 FROM thread_state t WHERE t.thread_id IN (SELECT value FROM json_each(?1))
		    AND e.first_at / 1000000 BETWEEN t.first_scene AND t.last_scene))
		  AND (coalesce(d.action, 'AGAIN') = 'AGAIN' OR d.action = 'REVISE' AND revised = 1)
		ORDER BY e.first_at, e.id`, jsonList(threads), after)
}

// Outdated returns the live entries that are not locked, hold at least so many facts, and have had a fact added or
// closed since their present statement was last asked for: at most limit of them, those first of which most has changed.
func (s *Curation) Outdated(ctx context.Context, facts, limit int) ([]int64, error) {
	return readAll(ctx, s.db, "read the entries without a present statement", scanValue[int64], `
		SELECT id FROM (
		  SELECT e.id, e.last_at, (SELECT count(*) FROM revision r WHERE r.entry_id = e.id AND r.field = 'claim'
		    AND r.id > coalesce((SELECT max(a.id) FROM revision a WHERE a.entry_id = e.id
		      AND (a.field = 'present' OR a.field = 'curator_decision' AND a.new_value ->> '$.decision' = 'UNSTATED')), 0)) AS changes
		  FROM glossary_entry e WHERE e.status IN ('tentative', 'confirmed') AND e.locked = 0
		    AND (SELECT count(*) FROM claim c WHERE c.entry_id = e.id AND c.until_at = 0) >= ?)
		WHERE changes > 0 ORDER BY changes DESC, last_at DESC, id LIMIT ?`, facts, limit)
}

// Restated reports whether present statements were asked for after a scene. It reads the revisions since then alone.
func (s *Curation) Restated(ctx context.Context, scene int) (bool, error) {
	return readValue[bool](ctx, s.db, "read when present statements were asked for", `SELECT EXISTS (SELECT 1 FROM revision
		WHERE id > coalesce((SELECT revision_id FROM snapshot WHERE type = 'checkpoint' AND scene <= ? ORDER BY id DESC LIMIT 1), 0)
		  AND (field = 'present' OR field = 'curator_decision' AND new_value ->> '$.decision' = 'UNSTATED'))`, scene)
}

// Fork records a question to the curator before it is asked, with a snapshot that ends with it, of the scene, the tokens and the layout
// given: both unless the journal ends with the question because a killed process has recorded them. System is the system prompt that
// replaces the run's prompt and tools; empty for none.
func (s *Curation) Fork(ctx context.Context, question *annotator.Trace, fork annotator.Snapshot, system string) error {
	asked, err := s.db.Journal.endsWith(ctx, question)
	if err != nil || asked {
		return err
	}
	fork.Kind = annotator.SnapshotFork
	return s.db.update(ctx, "record a question", func(tx *tx) {
		tx.append(question)
		tx.insertSnapshot(&fork)
		if system != "" {
			id := tx.insertPrompt(&Prompt{Hash: HashPrompt(system, "", ""), SystemPrompt: system})
			tx.execOne(`UPDATE snapshot SET context_id = ? WHERE id = ?`, id, fork.ID)
		}
	})
}

// Decide records what came of a question of the curator in one transaction: the reply, or the note that stands for an
// unusable one, the revisions that follow, and the end of the call. With a note, the call ends with the outcome that
// it has. The call is nil if it has ended before. Summaries that were asked for by the same question commit with it;
// nil for none.
func (s *Curation) Decide(
	ctx context.Context, call *annotator.Call, row *annotator.Trace, revisions []annotator.Revision, summaries *annotator.Summaries,
) error {
	return s.db.update(ctx, "record a decision", func(tx *tx) {
		g := &Glossary{q: tx, path: s.db.path, tx: tx}
		tx.fail(g.reviseAll(tx.ctx, revisions))
		tx.append(row)
		if summaries != nil {
			tx.summarise(summaries, row.ID)
		}
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
