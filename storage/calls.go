package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// Open records a call before it is made, so that a call during which the process ends is on record. It sets the id.
func (s *Calls) Open(ctx context.Context, c *annotator.Call) error {
	return s.db.update(ctx, "record a call", func(tx *tx) { tx.openCall(c, annotator.CallOpen, "") })
}

func (tx *tx) openCall(c *annotator.Call, outcome annotator.CallOutcome, reason string) {
	characters := ""
	if c.Characters != [4]int{} {
		characters = List(c.Characters[:])
	}
	tx.scan([]any{&c.ID}, `INSERT INTO call (turn, scene, purpose, attempt, outcome, reason, estimate, characters,
		started_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		c.Turn, c.Scene, c.Purpose, c.Attempt, outcome, reason, c.Estimate, characters, tx.now)
}

// reasonLost is the reason of a call during which its process ended.
const reasonLost = "the program ended during the call"

// Fail ends a call that brought no usable reply, or a probe, with the outcome that the call has.
func (s *Calls) Fail(ctx context.Context, c *annotator.Call) error {
	return s.db.update(ctx, "record a failed call", func(tx *tx) { tx.endCall(c, nil) })
}

// Reply ends a call with success, and appends the rows of its reply and then of its tool calls. It sets their ids.
func (s *Calls) Reply(ctx context.Context, c *annotator.Call, rows []annotator.Trace) error {
	if len(rows) == 0 || rows[0].Kind != annotator.TraceReply {
		return errors.New("the first row of a reply is no reply")
	}
	return s.db.update(ctx, "record a reply", func(tx *tx) {
		for i := range rows {
			tx.append(&rows[i])
		}
		c.Outcome = annotator.CallOK
		tx.endCall(c, &rows[0].ID)
	})
}

func (tx *tx) endCall(c *annotator.Call, reply *int64) {
	tx.execOne(`UPDATE call SET outcome = ?, decision = ?, reason = ?, status = ?, fault = ?, model = ?, finish = ?,
		  prompt_tokens = ?, told_tokens = ?, cached_tokens = ?, completion_tokens = ?, exact = ?, trace_id = ?,
		  raw = ?, first_byte_ms = ?, total_ms = ?
		WHERE id = ? AND outcome = 'open'`,
		c.Outcome, c.Decision, c.Reason, c.Status, c.Fault, c.Model, c.Finish,
		c.Usage.Prompt, c.Usage.Told, c.Usage.Cached, c.Usage.Completion, c.Usage.Exact, reply,
		c.Raw, c.FirstByte.Milliseconds(), c.Duration.Milliseconds(), c.ID)
	if c.Purpose != annotator.PurposeProbe { // the totals of a run do not depend on how often the server was down
		tx.execOne(`UPDATE run_state SET calls = calls + 1, prompt_tokens = prompt_tokens + ?,
			told_tokens = told_tokens + ?,
			  cached_tokens = cached_tokens + ?, completion_tokens = completion_tokens + ? WHERE id = 1`,
			c.Usage.Prompt, c.Usage.Told, c.Usage.Cached, c.Usage.Completion)
	}
}

// Last returns what the server counted of the newest successful call for a scene, and the row of its reply; 0 before
// the first.
func (s *Calls) Last(ctx context.Context) (last annotator.Call, reply int64, err error) {
	characters := ""
	err = s.db.read.QueryRowContext(ctx,
		`SELECT trace_id, characters, prompt_tokens, told_tokens, cached_tokens, completion_tokens, exact
		FROM call WHERE outcome = 'ok' AND purpose = 'annotate' ORDER BY id DESC LIMIT 1`).
		Scan(&reply, &characters, &last.Usage.Prompt, &last.Usage.Told, &last.Usage.Cached, &last.Usage.Completion,
			&last.Usage.Exact)
	if err = orNone(err); err == nil && characters != "" {
		err = json.Unmarshal([]byte(characters), &last.Characters)
	}
	return last, reply, sqlite.Wrap(err, "read the newest call in %s", s.db.path)
}

// Replied returns what the calls that brought a reply have used, oldest first.
func (s *Calls) Replied(ctx context.Context) ([]annotator.Call, error) {
	scan := func(rows *sql.Rows, c *annotator.Call) error {
		var first, total int64
		err := rows.Scan(&c.Scene, &c.Purpose, &c.Estimate, &c.Usage.Prompt, &c.Usage.Told, &c.Usage.Cached,
			&c.Usage.Completion, &first, &total)
		c.FirstByte, c.Duration = time.Duration(first)*time.Millisecond, time.Duration(total)*time.Millisecond
		return err
	}
	return readAll(ctx, s.db, "read the calls", scan, `SELECT scene, purpose, estimate, prompt_tokens, told_tokens,
		cached_tokens, completion_tokens, first_byte_ms, total_ms FROM call WHERE outcome = 'ok' ORDER BY id`)
}

// Counted returns the sizes and tokens of the newest n prompts that a server has counted, oldest first. It reads the
// newest 10 n calls only, because some servers never count. It omits prompts of other models than the newest, whose
// tokens may differ.
func (s *Calls) Counted(ctx context.Context, n int) ([]annotator.Call, error) {
	scan := func(rows *sql.Rows, c *annotator.Call) error {
		var characters string
		if err := rows.Scan(&characters, &c.Usage.Prompt); err != nil {
			return err
		}
		return json.Unmarshal([]byte(characters), &c.Characters)
	}
	counted, err := readAll(ctx, s.db, "read the newest calls", scan,
		`WITH counted AS (SELECT id, model, characters, prompt_tokens FROM call
		  WHERE outcome = 'ok' AND purpose NOT IN ('ask', 'check') AND exact = 1 AND characters <> ''
		  AND id > (SELECT max(id) FROM call) - 10 * ?1)
		SELECT characters, prompt_tokens FROM counted WHERE model = (SELECT model FROM counted ORDER BY id DESC LIMIT 1)
		ORDER BY id DESC LIMIT ?1`, n)
	slices.Reverse(counted)
	return counted, err
}

// Answered counts the requests of a scene for a purpose that have ended: with a reply, used or not, or by being given
// up. A request that is sent again counts once.
func (s *Calls) Answered(ctx context.Context, scene int, purpose annotator.CallPurpose) (n int, err error) {
	err = s.db.read.QueryRowContext(ctx, `SELECT count(*) FROM call WHERE scene = ? AND purpose = ?
		AND (outcome = 'ok' OR decision IN ('shrink', 'quarantine', 'discarded'))`, scene, purpose).Scan(&n)
	return n, sqlite.Wrap(err, "count the calls in %s", s.db.path)
}

// ConsecutiveFailures counts the newest consecutive requests of a purpose that were given up because the server failed.
// It counts at most limit requests since Run.ResetFailures, and returns the newest with its scene and fault. Unusable
// replies do not count.
func (s *Calls) ConsecutiveFailures(ctx context.Context, purpose annotator.CallPurpose,
	limit int,
) (n int, newest annotator.Call, err error) {
	scan := func(rows *sql.Rows, c *annotator.Call) error { return rows.Scan(&c.Scene, &c.Outcome, &c.Fault) }
	asked, err := readAll(ctx, s.db, "read the newest calls", scan, `SELECT scene, outcome, fault FROM call
		WHERE purpose = ? AND purpose <> 'annotate' AND id > (SELECT begun_call FROM run_state)
		AND (outcome = 'ok' OR decision IN ('discarded', 'quarantine'))
		ORDER BY id DESC LIMIT ?`, purpose, limit)
	serverFailed := []annotator.Kind{annotator.Transient, annotator.Unreachable}
	for n < len(asked) && slices.Contains(serverFailed, annotator.Kind(asked[n].Outcome)) {
		n++
	}
	if n > 0 {
		newest = asked[0]
	}
	return n, newest, err
}
