package storage_test

import (
	"testing"

	"annotator"
	"annotator/storage"
)

// TestMigrationKeepsCalls: the table of calls is made anew by the second migration, with all that is in it and all that
// refers to it.
func TestMigrationKeepsCalls(t *testing.T) {
	t.Parallel()
	path := atVersion(t, 1, `INSERT INTO snapshot_context VALUES (1, 'h', 's', '[]', 1)`,
		`INSERT INTO run_state (id, state, title, corpus_path, corpus_hash, corpus_identity, scene_bytes, endpoint, model, context_id, calls,
		  prompt_tokens, started_at, updated_at) VALUES (1, 'IDLE', '', '', '', '', 1, '', '', 1, 2, 12, 1, 1)`,
		`INSERT INTO call (id, turn, scene, purpose, attempt, outcome, estimate, prompt_tokens, raw, started_at)
		  VALUES (7, 0, 1, 'ask', 1, 'ok', 5, 6, x'00ff', 1), (9, 0, 1, 'annotate', 1, 'transient', 5, 6, NULL, 1)`,
		`INSERT INTO snapshot VALUES (1, 'checkpoint', 1, 1, 1, 0, 0, 1, 0, 0)`,
		`INSERT INTO summon VALUES (1, 1, 'person', 0, 1, 1, '')`, `INSERT INTO summon_exchange VALUES (1, 0, '?', '!', 7, 1)`)
	db, err := storage.OpenWriter(t.Context(), path, "the test", clock)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if n := ask[int](t, path, `SELECT count(*) FROM call JOIN summon_exchange ON call_id = id WHERE id = 7 AND raw = x'00ff'`); n != 1 {
		t.Error("the call that brought an answer is gone, or is not what it was")
	}
	if n := ask[int](t, path, `SELECT count(*) FROM call`); n != 2 {
		t.Errorf("%d calls", n)
	}
	findings, err := db.Maintenance.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if (f.Check == "foreign keys" || f.Check == "token sums" || f.Check == "conversations") && len(f.Violations) > 0 {
			t.Errorf("%s: %v", f.Check, f.Violations)
		}
	}
	s := &annotator.Call{Purpose: annotator.PurposeProbe, Attempt: 1}
	if err := db.Calls.Open(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s.Outcome, s.Usage.Prompt = "ok", 10
	if err := db.Calls.Fail(t.Context(), s); err != nil {
		t.Errorf("a probe that was answered: %v", err)
	}
	if n := ask[int](t, path, `SELECT prompt_tokens FROM run_state`); n != 12 {
		t.Errorf("the run's tokens are %d with the probe", n)
	}
}

// TestConsecutiveFailures counts from the newest scene back, and passes over those about which nobody was asked.
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

// TestRetryWaitsForTheCheckpoint: a scene that has ended and is not checkpointed yet is not put back.
func TestRetryWaitsForTheCheckpoint(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.begin("scene 1")
	s.record(annotator.SceneQuarantined)
	if n, err := s.db.Scenes.Retry(t.Context()); n != 0 || err != nil {
		t.Errorf("%d put back, %v", n, err)
	}
	if _, err := s.db.Scenes.Retry(t.Context(), 1); annotator.KindOf(err) != annotator.Misused || reasonOf(err) != annotator.ReasonCheckpointIsDue {
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
