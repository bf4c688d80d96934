package storage

import (
	"context"

	"annotator"
)

// Retry makes quarantined scenes pending again, those of the given numbers or all, and returns how many there were. The
// refusals stay on record, and their turns stay out of the window. It also does what Run.ResetFailures does. A pending
// scene stays so, and so does one whose text the source no longer has. NotFound for a number without a scene; Misused
// for a scene that is recorded or whose checkpoint is due.
func (s *Scenes) Retry(ctx context.Context, scenes ...int) (int, error) {
	for _, n := range scenes {
		if err := s.retryable(ctx, n); err != nil {
			return 0, err
		}
	}
	list := List(scenes)
	var put int64
	err := s.db.update(ctx, "put quarantined scenes back", func(tx *tx) {
		const chosen = `state = 'quarantined' AND n <> (SELECT open_scene FROM run_state)
			AND EXISTS (SELECT 1 FROM json_each(posts) j JOIN scene_post p ON p.post_id = j.value WHERE p.former = 0)
			AND (json_array_length(?1) = 0 OR n IN (SELECT value FROM json_each(?1)))`
		tx.exec(`INSERT INTO refusal (scene, nth, turn, reason, fault, raw, refused_at, snapshot_id, retried_at)
			SELECT n, (SELECT count(*) + 1 FROM refusal f WHERE f.scene = n), turn, reason, fault, raw, recorded_at,
			  (SELECT coalesce(max(id), 0) FROM snapshot), ?2 FROM scene WHERE `+chosen, list, tx.now)
		tx.exec(`UPDATE thread_state SET status = iif(started_at IS NULL, 'pending', 'in_progress'),
			completed_at = NULL, summary_due = 0
			WHERE last_scene IN (SELECT n FROM scene WHERE `+chosen+`)`, list)
		put = tx.exec(`UPDATE scene SET state = 'pending', turn = 0, reason = '', fault = '', raw = NULL,
			recorded_at = NULL
			WHERE `+chosen, list)
		tx.execOne(`UPDATE run_state SET quarantined = quarantined - ?`, put)
		tx.resetFailures()
	})
	return int(put), err
}

// retryable returns the reason why a scene cannot be retried.
func (s *Scenes) retryable(ctx context.Context, n int) error {
	scene, err := s.Get(ctx, n)
	if err != nil {
		return err
	}
	if scene.State == annotator.SceneRecorded {
		return annotator.Errorf(annotator.Misused, "scene %d is recorded, not quarantined", n).
			WithReason(annotator.ReasonNotQuarantined)
	}
	run, err := s.db.Run.Status(ctx)
	if err == nil && scene.State == annotator.SceneQuarantined && run.OpenScene == n {
		err = annotator.Errorf(annotator.Misused, "the run stopped before the checkpoint of scene %d", n).
			WithReason(annotator.ReasonCheckpointIsDue)
	}
	return err
}
