package storage

import (
	"context"
	"fmt"

	"annotator"
)

// OpenScene begins a turn: the scene's message enters the journal, and the scene is open until its outcome is recorded.
// It sets the row's id, turn and seq.
func (db *DB) OpenScene(ctx context.Context, row *annotator.Trace) error {
	return db.update(ctx, "open a scene", func(tx *tx) error {
		if err := tx.QueryRowContext(tx.ctx, `SELECT turn + 1 FROM run_state`).Scan(&row.Turn); err != nil {
			return err
		}
		row.Seq, row.Kind = 0, annotator.TraceScene
		if err := tx.append(row); err != nil {
			return err
		}
		return tx.openScene(row.Scene, row.Turn)
	})
}

func (tx *tx) openScene(n int, turn int64) error {
	err := tx.execOne(`UPDATE scene SET state = 'open', attempts = attempts + 1, started_at = coalesce(started_at, ?)
		WHERE n = ? AND state IN ('pending', 'open')`, tx.now, n)
	if err != nil {
		return err
	}
	err = tx.execOne(`UPDATE thread_state SET status = 'in_progress', started_at = coalesce(started_at, ?)
		WHERE thread_id = (SELECT thread_id FROM scene WHERE n = ?)`, tx.now, n)
	if err != nil {
		return err
	}
	return tx.execOne(`UPDATE run_state SET open_scene = ?, turn = ?`, n, turn)
}

// Append adds rows to the journal: what a turn needs beyond replies and tools. It sets their ids.
func (db *DB) Append(ctx context.Context, rows ...*annotator.Trace) error {
	return db.update(ctx, "write the journal", func(tx *tx) error {
		for _, row := range rows {
			if err := tx.append(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// Outcome is how a scene ended.
type Outcome struct {
	Scene  int
	Turn   int64            // 0 where the model was not asked
	State  SceneState       // SceneRecorded or SceneQuarantined
	Reason string           // why it was quarantined, or what was left out of it
	Raw    []byte           // of a quarantined scene: what the server had sent
	Close  *annotator.Trace // the last message of a turn that has no answer of its own; nil where it has
}

// Record ends a scene, once: a scene that is not open any more is an error and stays as it was. The turn of a quarantined
// scene leaves the window.
func (db *DB) Record(ctx context.Context, o Outcome) error {
	return db.update(ctx, fmt.Sprintf("record scene %d", o.Scene), func(tx *tx) error {
		if o.Close != nil {
			if err := tx.append(o.Close); err != nil {
				return err
			}
		}
		if o.Turn != 0 && o.State == SceneQuarantined {
			if err := tx.compact(&Compaction{Tier: "quarantine", Only: o.Turn, Reason: o.Reason}); err != nil {
				return err
			}
		}
		err := tx.execOne(`UPDATE scene SET state = ?, turn = ?, reason = ?, raw = ?, recorded_at = ?, started_at = coalesce(started_at, ?)
			WHERE n = ? AND state IN ('pending', 'open')`, o.State, o.Turn, o.Reason, o.Raw, tx.now, tx.now, o.Scene)
		if err != nil {
			return err
		}
		return tx.execOne(`UPDATE run_state SET open_scene = ?, recorded = recorded + ?, quarantined = quarantined + ?`,
			o.Scene, o.State == SceneRecorded, o.State == SceneQuarantined)
	})
}

// Compaction takes turns out of the window.
type Compaction struct {
	Tier    string
	Through int64 // all turns up to this one; 0: no further than before
	Only    int64 // this one turn; 0: none
	Before  int   // tokens of the window
	After   int
	Reason  string
}

// Compact takes turns out of the window and begins an epoch.
func (db *DB) Compact(ctx context.Context, c Compaction) error {
	return db.update(ctx, "compact the window", func(tx *tx) error { return tx.compact(&c) })
}

func (tx *tx) compact(c *Compaction) error {
	row := annotator.Trace{Kind: annotator.TraceCompaction, Content: c.Tier}
	if err := tx.append(&row); err != nil {
		return err
	}
	_, err := tx.exec(`INSERT INTO compaction (trace_id, epoch, tier, through_turn, only_turn, tokens_before, tokens_after, reason)
		SELECT ?, coalesce(max(epoch), 0) + 1, ?, max(coalesce(max(through_turn), 0), ?), ?, ?, ?, ? FROM
		  (SELECT epoch, through_turn FROM compaction ORDER BY trace_id DESC LIMIT 1)`,
		row.ID, c.Tier, c.Through, c.Only, c.Before, c.After, c.Reason)
	return err
}

// Checkpoint ends a scene's day: its thread is completed where it was the last one, the position is kept as a snapshot,
// and no scene is open. It returns the snapshot.
func (db *DB) Checkpoint(ctx context.Context, scene, tokens int) (annotator.Snapshot, error) {
	s := annotator.Snapshot{Kind: "checkpoint", Scene: scene, Tokens: tokens}
	err := db.update(ctx, fmt.Sprintf("checkpoint scene %d", scene), func(tx *tx) error {
		s.Trace, s.Revision, s.Created = tx.head.trace, tx.head.revision, tx.now
		_, err := tx.exec(`UPDATE thread_state SET status = 'completed', completed_at = ? WHERE last_scene = ? AND status <> 'completed'`,
			tx.now, scene)
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(tx.ctx, `INSERT INTO snapshot (type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens)
			SELECT ?, ?, ?, (SELECT thread_id FROM scene WHERE n = ?), ?, ?, context_id, entries, ? FROM run_state
			RETURNING id, thread_id, context_id, entries`,
			s.Kind, s.Created, scene, scene, s.Trace, s.Revision, tokens).Scan(&s.ID, &s.Thread, &s.Context, &s.Entries)
		if err != nil {
			return err
		}
		return tx.execOne(`UPDATE run_state SET open_scene = 0 WHERE open_scene = ?`, scene)
	})
	return s, err
}

// walPages is the size at which the write-ahead log is folded back into the database: at a quiet moment, between scenes,
// rather than within whatever commit happens to fill it.
const walPages = 4000

// Tidy folds a long write-ahead log back into the database file. A reader that holds it open only puts it off.
func (db *DB) Tidy(ctx context.Context) error {
	var busy, log, moved int
	err := db.write.QueryRowContext(context.WithoutCancel(ctx), `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &log, &moved)
	if err != nil || log < walPages {
		return err
	}
	return db.write.QueryRowContext(context.WithoutCancel(ctx), `PRAGMA wal_checkpoint(RESTART)`).Scan(&busy, &log, &moved)
}
