package storage

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"annotator"
	"annotator/internal/sqlite"
)

// Corpus is what the run records of the corpus that it reads.
type Corpus struct {
	Title      string
	Path       string
	Hash       string // of the hashes of all scenes, in order
	Identity   string // a fingerprint of the file that is cheap to compute
	SceneBytes int    // the most that a scene has; longer runs of posts were cut
	Threads    int    // with scenes
	Scenes     int    // without those that are withdrawn
}

// RunStatus is the identity and the progress of the run.
type RunStatus struct {
	State       annotator.State
	Corpus      Corpus
	Endpoint    string
	Model       string
	Prompt      Prompt // Hash is empty before the first
	OpenScene   int    // its checkpoint is due; 0 if none
	Turn        int64  // the newest
	Recorded    int
	Quarantined int
	Calls       int
	Usage       annotator.Usage // of all calls
	Entries     int             // live
	Started     int64           // unix milliseconds
	Updated     int64
	ContextTold int    // the server's context as known from a refusal or a cut reply, in tokens; 0 for none
	Budget      int    // tokens of prompt and reply together that the run goes on with; 0 before it has begun
	Halted      string // why the last run stopped before the end; empty if it did not
	Holder      string
}

// Status returns the identity and the progress of the run; NotFound where none has begun.
func (s *Run) Status(ctx context.Context) (RunStatus, error) {
	var r RunStatus
	err := s.db.read.QueryRowContext(ctx, `SELECT state, title, corpus_path, corpus_hash, corpus_identity, scene_bytes,
		  (SELECT count(*) FROM thread_state WHERE last_scene NOT IN `+withdrawn+`),
		  (SELECT coalesce(max(n), 0) FROM scene) - (SELECT count(*) FROM `+withdrawn+`),
		  endpoint, model, coalesce(context_id, 0), coalesce(c.hash, ''), coalesce(c.system_prompt, ''),
		  coalesce(c.tools, ''),
		  coalesce(c.workarounds, ''), coalesce(c.settings, ''),
		  open_scene, turn, recorded, quarantined, calls, prompt_tokens, told_tokens, cached_tokens, completion_tokens,
		  entries,
		  started_at, updated_at, context_told, context_budget, halted, holder
		FROM run_state LEFT JOIN snapshot_context c ON c.id = context_id`).
		Scan(&r.State, &r.Corpus.Title, &r.Corpus.Path, &r.Corpus.Hash, &r.Corpus.Identity, &r.Corpus.SceneBytes,
			&r.Corpus.Threads, &r.Corpus.Scenes,
			&r.Endpoint, &r.Model, &r.Prompt.ID, &r.Prompt.Hash, &r.Prompt.SystemPrompt, &r.Prompt.Tools,
			&r.Prompt.Workarounds, &r.Prompt.Settings,
			&r.OpenScene, &r.Turn, &r.Recorded, &r.Quarantined, &r.Calls, &r.Usage.Prompt, &r.Usage.Told,
			&r.Usage.Cached, &r.Usage.Completion,
			&r.Entries, &r.Started, &r.Updated, &r.ContextTold, &r.Budget, &r.Halted, &r.Holder)
	if errors.Is(err, sql.ErrNoRows) {
		return r, annotator.Errorf(annotator.NotFound, "%s holds no run yet", s.db.path).
			WithReason(annotator.ReasonNoRun, s.db.path)
	}
	return r, sqlite.Wrap(err, "read the run's state in %s", s.db.path)
}

// Used returns the tokens of all calls that ended, probes included.
func (s *Run) Used(ctx context.Context) (u annotator.Usage, err error) {
	err = s.db.read.QueryRowContext(ctx, `SELECT r.prompt_tokens + coalesce(sum(c.prompt_tokens), 0),
		  r.told_tokens + coalesce(sum(c.told_tokens), 0), r.cached_tokens + coalesce(sum(c.cached_tokens), 0),
		  r.completion_tokens + coalesce(sum(c.completion_tokens), 0)
		FROM run_state r LEFT JOIN call c ON c.purpose = 'probe' GROUP BY r.id`).
		Scan(&u.Prompt, &u.Told, &u.Cached, &u.Completion)
	return u, sqlite.Wrap(orNone(err), "add up the tokens in %s", s.db.path)
}

// Begin records the run of a story: its state, threads and scenes. It reads all scenes inside the transaction. It then
// writes the log back, so that the file is recognized as that of the run even without its log.
func (s *Run) Begin(ctx context.Context, corpus Corpus, scenes iter.Seq2[*annotator.Scene, error]) error {
	err := s.db.update(ctx, "list the scenes", func(tx *tx) {
		total := tx.listScenes(scenes)
		tx.exec(`INSERT INTO run_state (id, state, title, corpus_path, corpus_hash, corpus_identity, scene_bytes,
			endpoint, model, started_at, updated_at, holder)
			VALUES (1, ?, ?, ?, ?, ?, ?, '', '', ?, ?, ?)`,
			s.db.State, corpus.Title, corpus.Path, total, corpus.Identity, corpus.SceneBytes,
			tx.now, tx.now, s.db.holder)
	})
	if err == nil {
		_, err = s.db.writeBack(ctx)
	}
	return err
}

// Configure records the endpoint, the model and the path of the corpus that the run uses from here on.
func (s *Run) Configure(ctx context.Context, endpoint, model, corpusPath string) error {
	return s.db.update(ctx, "record the configuration", func(tx *tx) {
		tx.execOne(`UPDATE run_state SET endpoint = ?, model = ?, corpus_path = ?`,
			endpoint, model, corpusPath)
	})
}

// Halt records why the run stops before its end.
func (s *Run) Halt(ctx context.Context, reason string) error {
	return s.db.update(ctx, "record the halt", func(tx *tx) { tx.exec(`UPDATE run_state SET halted = ?`, reason) })
}

// ResetFailures clears the reason of a halt, and stops counting earlier failures: the user has restarted the run.
func (s *Run) ResetFailures(ctx context.Context) error {
	return s.db.update(ctx, "reset the failures", (*tx).resetFailures)
}

func (tx *tx) resetFailures() {
	tx.execOne(`UPDATE run_state SET halted = '', context_told = 0, begun_call = (SELECT coalesce(max(id), 0)
		FROM call),
		begun_snapshot = (SELECT coalesce(max(id), 0) FROM snapshot)`)
}

// KeepContext records two numbers of tokens; 0 leaves what is recorded. The first is the server's context as known from
// a refusal or a cut reply. It holds until the run is started after a halt. The second is that of prompt and reply
// together. Later processes use it unless the user sets another number.
func (s *Run) KeepContext(ctx context.Context, told, budget int) error {
	return s.db.update(ctx, "record the context", func(tx *tx) {
		tx.execOne(`UPDATE run_state SET context_told = coalesce(nullif(?, 0), context_told),
			context_budget = coalesce(nullif(?, 0), context_budget)`, told, budget)
	})
}

// Pulse is what changes while a run goes on. It is cheap enough for polling.
type Pulse struct {
	Title   string
	Scenes  int   // of the story
	Updated int64 // when the run last wrote, in unix milliseconds
	Calls   int64 // the newest call
}

// Pulse returns the pulse of a run; the zero value where none has begun.
func (s *Run) Pulse(ctx context.Context) (p Pulse, err error) {
	err = s.db.read.QueryRowContext(ctx,
		`SELECT title, (SELECT coalesce(max(n), 0) FROM scene) - (SELECT count(*) FROM `+withdrawn+`), updated_at,
		(SELECT coalesce(max(id), 0) FROM call)
		FROM run_state`).Scan(&p.Title, &p.Scenes, &p.Updated, &p.Calls)
	return p, sqlite.Wrap(orNone(err), "read the run's state in %s", s.db.path)
}
