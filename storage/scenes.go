package storage

import (
	"context"
	"fmt"

	"annotator"
	"annotator/internal/sqlite"
)

// Open begins a turn: the scene's message enters the journal, and the scene is open until its outcome is recorded.
// It sets the row's id, turn and seq.
func (s *Scenes) Open(ctx context.Context, row *annotator.Trace) error {
	return s.db.update(ctx, "open a scene", func(tx *tx) error {
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
	err = tx.execOne(`UPDATE thread_state SET status = iif(status = 'completed', status, 'in_progress'), started_at = coalesce(started_at, ?)
		WHERE thread_id = (SELECT thread_id FROM scene WHERE n = ?)`, tx.now, n)
	if err != nil {
		return err
	}
	return tx.execOne(`UPDATE run_state SET open_scene = ?, turn = ? WHERE id = 1`, n, turn)
}

// Append adds rows to the journal: what a turn needs beyond replies and tools. It sets their ids.
func (s *Journal) Append(ctx context.Context, rows ...*annotator.Trace) error {
	return s.db.update(ctx, "write the journal", func(tx *tx) error {
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
	Turn   int64                // 0 where the model was not asked
	State  annotator.SceneState // annotator.SceneRecorded or annotator.SceneQuarantined
	Reason string               // why it was quarantined, or what was left out of it
	Fault  annotator.Kind       // of a quarantined scene: of the fault, where the server is to blame
	Raw    []byte               // of a quarantined scene: what the server had sent
	Close  *annotator.Trace     // the last message of a turn that has no answer of its own; nil where it has
}

// Record ends a scene, once: a scene that is not open any more is an error and stays as it was. The turn of a quarantined
// scene leaves the window, and a conversation with a snapshot that the model has left open ends.
func (s *Scenes) Record(ctx context.Context, o Outcome) error {
	return s.db.update(ctx, fmt.Sprintf("record scene %d", o.Scene), func(tx *tx) error {
		if o.Close != nil {
			if err := tx.append(o.Close); err != nil {
				return err
			}
		}
		if o.Turn != 0 && o.State == annotator.SceneQuarantined {
			if err := tx.dropTurn(o.Turn, o.Reason); err != nil {
				return err
			}
		}
		err := tx.execOne(`UPDATE scene SET state = ?, turn = ?, reason = ?, fault = ?, raw = ?, recorded_at = ?, started_at = coalesce(started_at, ?)
			WHERE n = ? AND state IN ('pending', 'open')`, o.State, o.Turn, o.Reason, o.Fault, o.Raw, tx.now, tx.now, o.Scene)
		if err != nil {
			return err
		}
		if err := tx.closeConversation(); err != nil {
			return err
		}
		return tx.execOne(`UPDATE run_state SET open_scene = ?, recorded = recorded + ?, quarantined = quarantined + ? WHERE id = 1`,
			o.Scene, o.State == annotator.SceneRecorded, o.State == annotator.SceneQuarantined)
	})
}

// Checkpoint ends a scene's day: its thread is completed where it was the last one, the position is kept as a snapshot,
// and no scene is open. It returns the snapshot.
func (s *Scenes) Checkpoint(ctx context.Context, scene, tokens int) (annotator.Snapshot, error) {
	taken := annotator.Snapshot{Kind: "checkpoint", Scene: scene, Tokens: tokens}
	err := s.db.update(ctx, fmt.Sprintf("checkpoint scene %d", scene), func(tx *tx) error {
		taken.Trace, taken.Revision, taken.Created = tx.head.trace, tx.head.revision, tx.now
		_, err := tx.exec(`UPDATE thread_state SET status = 'completed', completed_at = ?1
			WHERE thread_id = (SELECT thread_id FROM scene WHERE n = ?2) AND last_scene = ?2 AND status <> 'completed'`, tx.now, scene)
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(tx.ctx, `INSERT INTO snapshot (type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens)
			SELECT ?, ?, ?, (SELECT thread_id FROM scene WHERE n = ?), ?, ?, context_id, entries, ? FROM run_state
			RETURNING id, thread_id, context_id, entries`,
			taken.Kind, taken.Created, scene, scene, taken.Trace, taken.Revision, tokens).Scan(&taken.ID, &taken.Thread, &taken.Context, &taken.Entries)
		if err != nil {
			return err
		}
		return tx.execOne(`UPDATE run_state SET open_scene = 0 WHERE id = 1 AND open_scene = ?`, scene)
	})
	return taken, err
}

// walPages is the size at which the write-ahead log is folded back into the database: at a quiet moment, between scenes,
// rather than within whatever commit happens to fill it.
const walPages = 4000

// CheckpointWAL folds a long write-ahead log back into the database file; the next transaction then begins it anew. A reader that
// holds it open only puts that off: it never waits. It returns how many pages it had to leave in the log.
func (s *Maintenance) CheckpointWAL(ctx context.Context) (left int, err error) {
	ctx = context.WithoutCancel(ctx)
	var busy, log, moved int
	err = s.db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &log, &moved)
	if err == nil && log >= walPages {
		err = s.db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &log, &moved)
		left = log - moved
	}
	return left, sqlite.Wrap(err, "fold the write-ahead log of %s", s.db.path)
}
