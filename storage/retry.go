package storage

import (
	"context"
	"database/sql"
	"encoding/json"

	"annotator"
	"annotator/internal/sqlite"
)

// Retry puts quarantined scenes back to be read, those of the given numbers or all, and returns how many there were. What a
// scene was refused for stays on record, and its turn out of the window. Whoever has it read again has seen to the server: see
// Run.ResetFailures. A scene that waits to be read already stays as it is; NotFound tells of one that there is not, Misused of one that was
// recorded, or whose checkpoint is due.
func (s *Scenes) Retry(ctx context.Context, scenes ...int) (int, error) {
	for _, n := range scenes {
		if err := s.retryable(ctx, n); err != nil {
			return 0, err
		}
	}
	list, err := json.Marshal(append([]int{}, scenes...))
	if err != nil {
		return 0, err
	}
	var put int64
	err = s.db.update(ctx, "put quarantined scenes back", func(tx *tx) error {
		const chosen = `state = 'quarantined' AND n <> (SELECT open_scene FROM run_state)
			AND (json_array_length(?1) = 0 OR n IN (SELECT value FROM json_each(?1)))`
		_, err := tx.exec(`INSERT INTO refusal (scene, nth, turn, reason, fault, raw, refused_at, snapshot_id, retried_at)
			SELECT n, (SELECT count(*) + 1 FROM refusal f WHERE f.scene = n), turn, reason, fault, raw, recorded_at,
			  (SELECT coalesce(max(id), 0) FROM snapshot), ?2 FROM scene WHERE `+chosen, string(list), tx.now)
		if err != nil {
			return err
		}
		_, err = tx.exec(`UPDATE thread_state SET status = iif(started_at IS NULL, 'pending', 'in_progress'), completed_at = NULL
			WHERE last_scene IN (SELECT n FROM scene WHERE `+chosen+`)`, string(list))
		if err != nil {
			return err
		}
		result, err := tx.exec(`UPDATE scene SET state = 'pending', turn = 0, reason = '', fault = '', raw = NULL, recorded_at = NULL
			WHERE `+chosen, string(list))
		if err != nil {
			return err
		}
		if put, err = result.RowsAffected(); err != nil {
			return err
		}
		if err := tx.execOne(`UPDATE run_state SET quarantined = quarantined - ?`, put); err != nil {
			return err
		}
		return tx.resetFailures()
	})
	return int(put), err
}

// retryable tells why a scene cannot be put back.
func (s *Scenes) retryable(ctx context.Context, n int) error {
	scene, err := s.Get(ctx, n)
	if annotator.KindOf(err) == annotator.NotFound {
		return annotator.Errorf(annotator.NotFound, "the story has no scene %d", n).WithAdvice("`annotator status` names the quarantined scenes")
	}
	if err != nil {
		return err
	}
	if scene.State == annotator.SceneRecorded {
		return annotator.Errorf(annotator.Misused, "scene %d is recorded, not quarantined", n).WithAdvice("`annotator status` names the quarantined scenes")
	}
	run, err := s.db.Run.Status(ctx)
	if err == nil && scene.State == annotator.SceneQuarantined && run.OpenScene == n {
		err = annotator.Errorf(annotator.Misused, "the run stopped before the checkpoint of scene %d", n).
			WithAdvice("`annotator run` makes it; then try again")
	}
	return err
}

// LastRead returns the last scene, in story order, that has been read; NotFound where none has.
func (s *Scenes) LastRead(ctx context.Context) (*annotator.SceneRow, error) {
	return s.one(ctx, ` WHERE recorded_at IS NOT NULL ORDER BY n DESC LIMIT 1`)
}

// ConsecutiveFailures counts how many of the scenes that ended last since the run was begun anew, at most limit, were quarantined one after
// the other for faults, and returns the newest reason. Scenes about which nobody had to be asked do not count.
func (s *Scenes) ConsecutiveFailures(ctx context.Context, limit int) (n int, reason string, err error) {
	scan := func(rows *sql.Rows, s *annotator.SceneRow) error { return rows.Scan(&s.Fault, &s.Reason) }
	const asked = `(c.state = 'quarantined' OR c.state = 'recorded' AND c.turn > 0)`
	scenes, err := collect(ctx, s.db.read, scan, `SELECT fault, reason FROM (
		  SELECT 1 << 62 AS at, c.fault, c.reason FROM run_state JOIN scene c ON c.n = open_scene WHERE `+asked+` -- whose checkpoint is due
		  UNION ALL SELECT * FROM (
		    SELECT s.id, c.fault, c.reason FROM snapshot s JOIN scene c ON c.n = s.scene
		    WHERE s.type = 'checkpoint' AND s.id > (SELECT begun_snapshot FROM run_state) AND `+asked+` ORDER BY s.id DESC LIMIT ?1))
		ORDER BY at DESC LIMIT ?1`, limit)
	if err != nil {
		return 0, "", sqlite.Wrap(err, "read the newest scenes in %s", s.db.path)
	}
	for n < len(scenes) && scenes[n].Fault != "" {
		n++
	}
	if n > 0 {
		reason = scenes[0].Reason
	}
	return n, reason, nil
}

// ConsecutiveFailures counts how many of the newest questions of a purpose since the run was begun anew, at most limit, were given up one
// after the other because the server was not well, and returns the newest of them: its scene and its fault. An answer that
// could not be used is one.
func (s *Calls) ConsecutiveFailures(ctx context.Context, purpose annotator.CallPurpose, limit int) (n int, newest annotator.Call, err error) {
	scan := func(rows *sql.Rows, c *annotator.Call) error { return rows.Scan(&c.Scene, &c.Outcome, &c.Fault) }
	asked, err := collect(ctx, s.db.read, scan, `SELECT scene, outcome, fault FROM call
		WHERE purpose = ? AND purpose <> 'annotate' AND id > (SELECT begun_call FROM run_state) AND (outcome = 'ok' OR decision IN ('discarded', 'quarantine'))
		ORDER BY id DESC LIMIT ?`, purpose, limit)
	if err != nil {
		return 0, newest, sqlite.Wrap(err, "read the newest calls in %s", s.db.path)
	}
	for n < len(asked) && (asked[n].Outcome == annotator.CallOutcome(annotator.Transient) || asked[n].Outcome == annotator.CallOutcome(annotator.Unreachable)) {
		n++
	}
	if n > 0 {
		newest = asked[0]
	}
	return n, newest, nil
}

// Raw returns what the server had sent for a quarantined scene, as it came; NotFound where nothing is kept.
func (s *Scenes) Raw(ctx context.Context, n int) ([]byte, error) {
	found, err := collect(ctx, s.db.read, func(rows *sql.Rows, raw *[]byte) error { return rows.Scan(raw) },
		`SELECT raw FROM scene WHERE n = ? AND state = 'quarantined' AND raw IS NOT NULL`, n)
	if err != nil {
		return nil, sqlite.Wrap(err, "read scene %d in %s", n, s.db.path)
	}
	if len(found) == 0 {
		return nil, annotator.Errorf(annotator.NotFound, "nothing is kept of what the server sent for scene %d", n).
			WithAdvice("`annotator status` names the quarantined scenes")
	}
	return found[0], nil
}
