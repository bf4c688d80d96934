package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"annotator"
)

// Open begins a turn with the scene's message. The scene is open until Record. It sets id, turn and seq of the row.
func (s *Scenes) Open(ctx context.Context, row *annotator.Trace) error {
	return s.db.update(ctx, "open a scene", func(tx *tx) {
		tx.scan([]any{&row.Turn}, `SELECT turn + 1 FROM run_state`)
		row.Seq, row.Kind = 0, annotator.TraceScene
		tx.append(row)
		tx.execOne(`UPDATE scene SET state = 'open', attempts = attempts + 1, started_at = coalesce(started_at, ?)
			WHERE n = ? AND state IN ('pending', 'open')`, tx.now, row.Scene)
		tx.execOne(`UPDATE thread_state SET status = iif(status = 'completed', status, 'in_progress'),
			started_at = coalesce(started_at, ?)
			WHERE thread_id = (SELECT thread_id FROM scene WHERE n = ?)`, tx.now, row.Scene)
		tx.execOne(`UPDATE run_state SET open_scene = ?, turn = ? WHERE id = 1`, row.Scene, row.Turn)
	})
}

// Outcome is how a scene ended.
type Outcome struct {
	Scene  int
	Turn   int64                // 0 where the model was not asked
	State  annotator.SceneState // annotator.SceneRecorded or annotator.SceneQuarantined
	Reason string               // why it was quarantined, or what was left out of it
	Fault  annotator.Kind       // of a quarantined scene: of the fault, where the server is to blame
	Raw    []byte               // of a quarantined scene: the response
	Close  *annotator.Trace     // the last message of a turn that does not end with a reply; nil where it does

	FollowUp FollowUp // of a recorded scene
}

// FollowUp is the result of the follow-ups of a scene: requests that only ask whether there is more. They follow a
// reply that was applied in full and did not say that the scene is finished.
type FollowUp string

// The findings.
const (
	FollowUpNone    FollowUp = ""         // there was no such reply, or its result is not known
	FollowUpEdits   FollowUp = "edits"    // a follow-up brought edits
	FollowUpNothing FollowUp = "nothing"  // it brought none
	FollowUpLeftOut FollowUp = "left out" // there was none, because those before had brought nothing
)

// FollowUps returns the results of the newest scenes, newest first, at most limit. It omits scenes without a result.
func (s *Scenes) FollowUps(ctx context.Context, limit int) ([]FollowUp, error) {
	return readAll(ctx, s.db, "read the newest scenes", ScanValue[FollowUp],
		`SELECT follow_up FROM scene WHERE follow_up <> '' ORDER BY turn DESC LIMIT ?`, limit)
}

// Record stores the outcome of a scene. It fails for a scene that has one already. The turn of a quarantined scene
// leaves the window, and the model's open conversation with a snapshot ends.
func (s *Scenes) Record(ctx context.Context, o Outcome) error {
	return s.db.update(ctx, fmt.Sprintf("record scene %d", o.Scene), func(tx *tx) {
		if o.Close != nil {
			tx.append(o.Close)
		}
		if o.Turn != 0 && o.State == annotator.SceneQuarantined {
			tx.dropTurn(o.Turn, o.Reason)
		}
		tx.recordScene(&o)
	})
}

// recordScene stores the outcome of a scene. Its checkpoint is due.
func (tx *tx) recordScene(o *Outcome) {
	tx.execOne(`UPDATE scene SET state = ?, turn = ?, reason = ?, fault = ?, raw = ?, follow_up = ?,
		recorded_at = ?,
		  started_at = coalesce(started_at, ?)
		WHERE n = ? AND state IN ('pending', 'open')`,
		o.State, o.Turn, o.Reason, o.Fault, o.Raw, o.FollowUp, tx.now, tx.now, o.Scene)
	tx.exec(`UPDATE thread_state SET summary_due = 1 WHERE thread_id = (SELECT thread_id FROM scene WHERE n = ?)
		AND `+summaryDue, o.Scene)
	tx.exec(`UPDATE summon SET dismissed_at = ? WHERE asker = 'model' AND dismissed_at IS NULL`, tx.now)
	tx.execOne(`UPDATE run_state SET open_scene = ?, recorded = recorded + ?, quarantined = quarantined + ?
		WHERE id = 1`,
		o.Scene, o.State == annotator.SceneRecorded, o.State == annotator.SceneQuarantined)
	tx.see(o.Scene)
}

// Checkpoint follows Record. It closes the scene, keeps the position as a snapshot, and completes a thread after its
// last scene. Tokens are those of the window. Mentions are those of Mentions.Pending. It returns the snapshot.
func (s *Scenes) Checkpoint(ctx context.Context, scene, tokens int,
	mentions []SceneMentions,
) (annotator.Snapshot, error) {
	taken := annotator.Snapshot{Kind: annotator.SnapshotCheckpoint, Scene: scene, Tokens: tokens}
	err := s.db.update(ctx, fmt.Sprintf("checkpoint scene %d", scene), func(tx *tx) {
		tx.exec(`UPDATE thread_state SET status = 'completed', completed_at = ?1
			WHERE thread_id = (SELECT thread_id FROM scene WHERE n = ?2) AND last_scene = ?2 AND status <> 'completed'`,
			tx.now, scene)
		tx.setMentions(mentions)
		tx.insertSnapshot(&taken)
		tx.execOne(`UPDATE run_state SET open_scene = 0 WHERE id = 1 AND open_scene = ?`, scene)
	})
	return taken, err
}

// SceneQuery is a query whose rows ScanScene scans.
const SceneQuery = `SELECT n, s.ord, s.thread_id, title, t.ord, posts, words, hash, n = first_scene, n = last_scene,
	NOT EXISTS (SELECT 1 FROM scene o WHERE o.state IN ('pending', 'open') AND o.state <> 'open' AND o.n <> s.n),
	state, attempts, turn, reason, fault,
	(SELECT count(*) FROM refusal f WHERE f.scene = s.n)
	FROM scene s JOIN thread_state t USING (thread_id)`

// ScanScene scans a row of SceneQuery.
func ScanScene(rows *sql.Rows, s *annotator.SceneRow) error {
	var posts string
	var hash []byte
	err := rows.Scan(&s.N, &s.Order, &s.Thread.ID, &s.Thread.Title, &s.Thread.Order, &posts, &s.Words, &hash, &s.Opens,
		&s.Ends, &s.Last, &s.State, &s.Attempts, &s.Turn, &s.Reason, &s.Fault, &s.Refusals)
	if err != nil {
		return err
	}
	copy(s.Hash[:], hash)
	return json.Unmarshal([]byte(posts), &s.Posts)
}

// one returns the first scene of a query; the error is missing where there is none.
func (s *Scenes) one(ctx context.Context, missing error, where string, args ...any) (*annotator.SceneRow, error) {
	row, err := readFirst(ctx, s.db, "read a scene", missing, ScanScene, SceneQuery+where, args...)
	if err != nil {
		return nil, err
	}
	return &row, nil
}

// Get returns the scene with the given number; NotFound if there is none.
func (s *Scenes) Get(ctx context.Context, n int) (*annotator.SceneRow, error) {
	missing := annotator.Errorf(annotator.NotFound, "the story has no scene %d", n).
		WithReason(annotator.ReasonUnknownScene)
	return s.one(ctx, missing, ` WHERE n = ?`, n)
}

// At returns the scene with an order; NotFound if there is none.
func (s *Scenes) At(ctx context.Context, order annotator.Order) (*annotator.SceneRow, error) {
	missing := annotator.Errorf(annotator.NotFound, "the story has no scene of order %d", order).
		WithReason(annotator.ReasonUnknownScene)
	return s.one(ctx, missing, ` WHERE s.ord = ?`, order)
}

// Neighbor returns the scene that is some scenes after another in story order; NotFound if there is none. A negative
// distance is that to a scene before.
func (s *Scenes) Neighbor(ctx context.Context, order annotator.Order, distance int) (*annotator.SceneRow, error) {
	missing := annotator.Errorf(annotator.NotFound, "the story ends before that").
		WithReason(annotator.ReasonUnknownScene)
	if distance < 0 {
		return s.one(ctx, missing, ` WHERE s.ord <= ? ORDER BY s.ord DESC LIMIT 1 OFFSET ?`, order, -distance)
	}
	return s.one(ctx, missing, ` WHERE s.ord >= ? ORDER BY s.ord LIMIT 1 OFFSET ?`, order, distance)
}

// After returns the scenes after an order and up to another, in story order, at most limit of them.
func (s *Scenes) After(ctx context.Context, after, last annotator.Order, limit int) ([]annotator.SceneRow, error) {
	return readAll(ctx, s.db, "read scenes", ScanScene,
		SceneQuery+` WHERE s.ord > ? AND s.ord <= ? ORDER BY s.ord LIMIT ?`, after, last, limit)
}

// Distance returns how many scenes the second of two is after the first; less than 0 if it is before it.
func (s *Scenes) Distance(ctx context.Context, from, to int) (int, error) {
	return readValue[int](ctx, s.db, "count scenes", `SELECT
		(SELECT count(*) FROM scene WHERE ord > a.ord AND ord <= b.ord)
		- (SELECT count(*) FROM scene WHERE ord > b.ord AND ord <= a.ord)
		FROM scene a, scene b WHERE a.n = ? AND b.n = ?`, from, to)
}

// Index returns how many scenes of its thread come before a scene.
func (s *Scenes) Index(ctx context.Context, row *annotator.SceneRow) (int, error) {
	return readValue[int](ctx, s.db, fmt.Sprintf("read thread %d", row.Thread.ID),
		`SELECT count(*) FROM scene WHERE thread_id = ? AND ord < ?`, row.Thread.ID, row.Order)
}

// Orders returns the numbers and the orders of all scenes, in story order.
func (s *Scenes) Orders(ctx context.Context) ([]annotator.SceneOrder, error) {
	scan := func(rows *sql.Rows, o *annotator.SceneOrder) error { return rows.Scan(&o.N, &o.Order) }
	return readAll(ctx, s.db, "read the scenes", scan, `SELECT n, ord FROM scene ORDER BY ord`)
}

// OfTurn returns the scene that a turn shows the model; NotFound if there is no such turn.
func (s *Scenes) OfTurn(ctx context.Context, turn int64) (*annotator.SceneRow, error) {
	missing := annotator.Errorf(annotator.NotFound, "there is no turn %d in %s", turn, s.db.path).
		WithReason(annotator.ReasonUnknownTurn)
	return s.one(ctx, missing, ` WHERE n = (SELECT scene FROM trace WHERE turn = ? AND seq = 0)`, turn)
}

// Next returns the first scene without an outcome; NotFound when all have one.
func (s *Scenes) Next(ctx context.Context) (*annotator.SceneRow, error) {
	return s.one(ctx, annotator.Errorf(annotator.NotFound, "every scene has an outcome"),
		` WHERE state IN ('pending', 'open') ORDER BY s.ord LIMIT 1`)
}

// Quarantined returns the scenes that were refused, in story order.
func (s *Scenes) Quarantined(ctx context.Context) ([]annotator.SceneRow, error) {
	return readAll(ctx, s.db, "read the quarantined scenes", ScanScene,
		SceneQuery+` WHERE state = 'quarantined' ORDER BY s.ord`)
}

// IsLate reports whether a scene of a later order was begun. Only the writer of a database knows that.
func (s *Scenes) IsLate(order annotator.Order) bool { return s.db.head.seen > order }

// LastRead returns the last scene, in story order, that has an outcome; NotFound where none has.
func (s *Scenes) LastRead(ctx context.Context) (*annotator.SceneRow, error) {
	return s.one(ctx, annotator.Errorf(annotator.NotFound, "no scene has an outcome"),
		` WHERE recorded_at IS NOT NULL ORDER BY s.ord DESC LIMIT 1`)
}

// ConsecutiveFailures counts the newest scenes in a row that were quarantined for faults since Run.ResetFailures, at
// most limit, and returns the newest reason. Scenes for which the model was not asked do not count.
func (s *Scenes) ConsecutiveFailures(ctx context.Context, limit int) (n int, reason string, err error) {
	scan := func(rows *sql.Rows, s *annotator.SceneRow) error { return rows.Scan(&s.Fault, &s.Reason) }
	const asked = `(c.state = 'quarantined' OR c.state = 'recorded' AND c.turn > 0)`
	scenes, err := readAll(ctx, s.db, "read the newest scenes", scan, `SELECT fault, reason FROM (
		  SELECT 1 << 62 AS at, c.fault, c.reason FROM run_state JOIN scene c ON c.n = open_scene
		  WHERE `+asked+` -- whose checkpoint is due
		  UNION ALL SELECT * FROM (
		    SELECT s.id, c.fault, c.reason FROM snapshot s JOIN scene c ON c.n = s.scene
		    WHERE s.type = 'checkpoint' AND s.id > (SELECT begun_snapshot FROM run_state) AND `+asked+`
		    ORDER BY s.id DESC LIMIT ?1))
		ORDER BY at DESC LIMIT ?1`, limit)
	for n < len(scenes) && scenes[n].Fault != "" {
		n++
	}
	if n > 0 {
		reason = scenes[0].Reason
	}
	return n, reason, err
}

// Raw returns the response that is kept of a quarantined scene; NotFound where there is none.
func (s *Scenes) Raw(ctx context.Context, n int) ([]byte, error) {
	missing := annotator.Errorf(annotator.NotFound, "nothing is kept of what the server sent for scene %d", n).
		WithReason(annotator.ReasonNotQuarantined)
	return readFirst(ctx, s.db, fmt.Sprintf("read scene %d", n), missing, ScanValue[[]byte],
		`SELECT raw FROM scene WHERE n = ? AND state = 'quarantined' AND raw IS NOT NULL`, n)
}

// PlaceOf returns the place of a post; NotFound for a post that no scene holds.
func (s *Scenes) PlaceOf(ctx context.Context, post int64) (annotator.Place, error) {
	missing := annotator.Errorf(annotator.NotFound, "post %d is in no scene of the story", post).
		WithAdvice("a reader's remark, or a post that is not there: name one that tells the story, or a scene: scene:N")
	return readFirst(ctx, s.db, fmt.Sprintf("look for post %d", post), missing, ScanValue[annotator.Place],
		`SELECT place FROM scene_post WHERE post_id = ?`, post)
}
