package storage_test

import (
	"testing"

	"annotator"
)

// TestConsecutiveFailures counts from the newest scene back, and skips those for which the model was not asked.
func TestConsecutiveFailures(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(8))
	refused := func() {
		s.begin("scene")
		s.fail(annotator.Malformed)
		s.record(annotator.SceneQuarantined)
		s.checkpoint()
	}
	want := func(n int) {
		t.Helper()
		got, reason, err := s.db.Scenes.ConsecutiveFailures(t.Context(), 3)
		if err != nil || got != n || (reason != "") != (n > 0) {
			t.Errorf("%d in a row (%q), want %d: %v", got, reason, n, err)
		}
	}
	want(0)
	refused()
	want(1)
	s.read()
	want(0)
	refused()
	refused()
	s.record(annotator.SceneRecorded) // without text
	s.checkpoint()
	want(2)
	refused()
	refused()
	want(3)
	s.ok(s.db.Run.ResetFailures(t.Context()))
	want(0)
	refused()
	s.reopen()
	want(1)
	s.retry()
	want(0)
	s.clean()
}

// TestRetryWaitsForTheCheckpoint: a scene that has ended without its checkpoint is not made pending again.
func TestRetryWaitsForTheCheckpoint(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.begin("scene 1")
	s.record(annotator.SceneQuarantined)
	if n, err := s.db.Scenes.Retry(t.Context()); n != 0 || err != nil {
		t.Errorf("%d put back, %v", n, err)
	}
	if _, err := s.db.Scenes.Retry(t.Context(), 1); annotator.KindOf(err) != annotator.Misused ||
		reasonOf(err) != annotator.ReasonCheckpointIsDue {
		t.Error(err)
	}
	s.checkpoint()
	if n, err := s.db.Scenes.Retry(t.Context(), 1); n != 1 || err != nil {
		t.Errorf("%d put back, %v", n, err)
	}
	row, err := s.db.Scenes.Get(t.Context(), 1)
	if err != nil || row.State != annotator.ScenePending || row.Refusals != 1 || row.Reason != "" {
		t.Errorf("%+v, %v", row, err)
	}
	if last, err := s.db.Scenes.LastRead(t.Context()); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("scene %v is read, %v", last, err)
	}
	s.clean()
}
