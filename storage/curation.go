package storage

import (
	"context"
	"database/sql"
	"encoding/json"

	"annotator"
)

// Undecided returns the tentative entries without a lock and without a decision of the curator, in story order. They
// were first seen before a scene, and in one of the threads; without threads, in any. Decisions up to the given row of
// the journal do not count, and neither does a decision to ask again.
func (s *Curation) Undecided(ctx context.Context, after int64, before annotator.Order,
	threads ...int64,
) ([]annotator.UndecidedEntry, error) {
	scan := func(rows *sql.Rows, u *annotator.UndecidedEntry) error {
		return rows.Scan(&u.Entry, &u.RetryReason)
	}
	return readAll(ctx, s.db, "read the tentative entries", scan, undecidedEntries, List(threads), after, before)
}

// The cost of undecidedEntries depends on the tentative entries and their decisions, not on the number of threads.
const undecidedEntries = `SELECT e.id, iif(d.json ->> '$.decision' = 'AGAIN', d.json ->> '$.reason', '')
	FROM entry e LEFT JOIN value d ON d.id = (SELECT max(v.id) FROM ` + decided + `)
	WHERE e.status = 'tentative' AND ` + isUnlocked + ` AND e.first_at > 0 AND e.first_at / 1000000 < ?3
	  AND (json_array_length(?1) = 0
	    OR (SELECT thread_id FROM scene WHERE ord = e.first_at / 1000000) IN (SELECT value FROM json_each(?1)))
	  AND coalesce(d.json ->> '$.decision', 'AGAIN') = 'AGAIN'
	ORDER BY e.first_at, e.id`

// decided are the decisions v about an entry e.
const decided = `value v CROSS JOIN revision r ON r.id = v.set_by
	WHERE v.entry_id = e.id AND v.field = 'curator_decision'
	  AND r.trace_id > ?2 AND v.json ->> '$.decision' NOT IN ('UNSTATED', 'STATES', 'REDUNDANT')`

// isUnlocked is a condition on an entry e: a person has locked neither all of it nor its status.
const isUnlocked = `NOT EXISTS (SELECT 1 FROM value l WHERE l.entry_id = e.id
	AND l.field = 'lock' AND l.key IN ('entry', 'status') AND l.ended_by IS NULL)`

// Column claims of table entry counts the claims of an entry that hold. Column changes says how much its claims have
// changed since the last request for a present statement. A change of a state, of who or what the entry is, or of a
// claim that proved false counts for annotator.MajorChange. So does a claim that comes from a merged entry. Other
// changes count for 1: a new event, or a claim that has settled.
const (
	claimsHeld = `(SELECT count(*) FROM value v WHERE v.entry_id = entry.id AND v.field = 'claim'
		AND v.ended_by IS NULL AND v.holds = 1)`
	claimsChanged = `(SELECT coalesce(sum(iif(coalesce(n.json ->> '$.ended', '') NOT IN
	      ('confirmed', 'reworded', 'moved')
	    AND (n.json ->> '$.state' OR n.json ->> '$.identity' OR n.json ->> '$.until'
	    OR n.json ->> '$.as' IS NOT NULL), 5, 1)), 0)
	  FROM revision r LEFT JOIN value n ON n.id = ((r.seen << 20) | (r.id & 1048575))
	  WHERE r.entry_id = entry.id AND r.field = 'claim'
	  AND r.id > coalesce((SELECT max(a.set_by) FROM value a WHERE a.entry_id = entry.id
	    AND (a.field = 'present' OR a.field = 'curator_decision' AND a.json ->> '$.decision' = 'UNSTATED')), 0))`
)

// changedClaims says how much revisions change the claims after the last request for a present statement. It also
// reports whether there is such a request.
func changedClaims(revisions []annotator.Revision) (changes int, asked bool) {
	for i := range revisions {
		switch r := &revisions[i]; {
		case r.Field == annotator.FieldClaim:
			changes += weightOf(r)
		case r.Field == annotator.FieldPresent, r.Field == annotator.FieldCuratorDecision && unstated(r):
			changes, asked = 0, true
		}
	}
	return changes, asked
}

// weightOf says how much a change of a claim counts. See claimsChanged.
func weightOf(r *annotator.Revision) int {
	var c annotator.Claim
	err := json.Unmarshal([]byte(r.New), &c)
	if err == nil && !c.Settled() && (c.State || c.Identity || c.Until != 0 || c.As != "") {
		return annotator.MajorChange
	}
	return 1
}

// unstated reports whether a decision says that a present statement was asked for and not given.
func unstated(r *annotator.Revision) bool {
	var d struct{ Decision string }
	return json.Unmarshal([]byte(r.New), &d) == nil && d.Decision == "UNSTATED"
}

// outdatedEntries reads only the entries that are due, by their index.
const outdatedEntries = `SELECT id FROM entry e INDEXED BY entry_outdated
	WHERE changes > 0 AND changes >= ? AND claims >= ? AND name IS NOT NULL
	AND ` + isUnlocked + ` ORDER BY changes DESC, last_at DESC, id LIMIT ?`

// Outdated returns live entries without a lock, with at least the given number of facts. Their facts have changed by as
// much as given since their present statement was last asked for; see annotator.MajorChange. It returns at most limit
// entries, those that have changed most first.
func (s *Curation) Outdated(ctx context.Context, changes, facts, limit int) ([]int64, error) {
	return readAll(ctx, s.db, "read the entries without a present statement", ScanValue[int64], outdatedEntries,
		changes, facts, limit)
}

// Restated reports whether present statements were asked for after a scene. It reads only the revisions since then.
func (s *Curation) Restated(ctx context.Context, scene annotator.Order) (bool, error) {
	return readValue[bool](ctx, s.db, "read when present statements were asked for",
		`SELECT EXISTS (SELECT 1 FROM revision r`+revisionValues+`
		WHERE r.id > coalesce((SELECT revision_id FROM snapshot s WHERE type = 'checkpoint'
		  AND (SELECT ord FROM scene WHERE n = s.scene) <= ? ORDER BY id DESC LIMIT 1), 0)
		  AND (r.field = 'present' OR r.field = 'curator_decision' AND n.json ->> '$.decision' = 'UNSTATED'))`, scene)
}

// Fork records a question to the curator before it is asked, and a snapshot that ends with the question. The caller
// sets the scene, the tokens and the layout of the snapshot. Fork does nothing if the journal ends with the question: a
// killed process has recorded both. System is the system prompt that replaces the run's prompt and tools; empty for
// none.
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

// Decide records the result of a question of the curator in one transaction. The result is the reply, or a note in
// place of an unusable reply, the revisions that follow, and the end of the call. With a note, the call ends with the
// outcome that it has. The call is nil if it has ended before. Summaries that the same question asked for commit with
// it; nil for none.
func (s *Curation) Decide(
	ctx context.Context, call *annotator.Call, row *annotator.Trace, revisions []annotator.Revision,
	summaries *annotator.Summaries,
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
