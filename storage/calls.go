package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// Call is one attempt to ask the model.
type Call struct {
	ID        int64
	Turn      int64
	Scene     int
	Purpose   string // annotate, summarise, curate, ask or probe
	Attempt   int    // from 1
	Estimate  int    // of the prompt, in tokens
	Signs     Signs  // of the prompt; none where it is not known
	Outcome   string // ok, or the kind of failure
	Decision  string // what is done about a failure, and why
	Status    int    // HTTP
	Fault     string
	Model     string
	Finish    string
	Usage     annotator.Usage
	Raw       []byte // of a reply that could not be used, or not as it came
	FirstByte time.Duration
	Duration  time.Duration
}

// Discard says that a call's reply is of no use: why, and the reply, which is kept.
func (c *Call) Discard(reason string, reply []byte) {
	c.Outcome, c.Decision, c.Fault, c.Raw = string(annotator.Malformed), "not used", reason, reply
}

// PurposeProbe is the purpose of a call that only asks whether the server answers.
const PurposeProbe = "probe"

// Signs is what a prompt is made of: how many signs of each kind. See package tokens.
type Signs [4]int

func (s Signs) encode() string {
	if s == (Signs{}) {
		return ""
	}
	text, _ := json.Marshal(s) // numbers can always be encoded
	return string(text)
}

// Open writes that a call is about to be made, so that one the program does not survive is on record too. It sets
// the call's id.
func (s *Calls) Open(ctx context.Context, c *Call) error {
	return s.db.update(ctx, "record a call", func(tx *tx) error { return tx.openCall(c, "open", "") })
}

func (tx *tx) openCall(c *Call, outcome, decision string) error {
	result, err := tx.exec(`INSERT INTO call (turn, scene, purpose, attempt, outcome, decision, estimate, signs, started_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Turn, c.Scene, c.Purpose, c.Attempt, outcome, decision, c.Estimate, c.Signs.encode(), tx.now)
	if err == nil {
		c.ID, err = result.LastInsertId()
	}
	return err
}

// lostDecision is what stands beside a call that its process did not survive.
const lostDecision = "the program ended during the call"

// Fail ends a call that brought no usable reply, or a probe.
func (s *Calls) Fail(ctx context.Context, c *Call) error {
	return s.db.update(ctx, "record a failed call", func(tx *tx) error { return tx.endCall(c, nil) })
}

// Reply ends a call with the rows that its reply makes in the journal: the reply first, then its tool calls. It sets their
// ids.
func (s *Calls) Reply(ctx context.Context, c *Call, rows []annotator.Trace) error {
	if len(rows) == 0 || rows[0].Kind != annotator.TraceReply {
		return errors.New("a call that ends well needs its reply")
	}
	return s.db.update(ctx, "record a reply", func(tx *tx) error {
		for i := range rows {
			if err := tx.append(&rows[i]); err != nil {
				return err
			}
		}
		c.Outcome = "ok"
		return tx.endCall(c, &rows[0].ID)
	})
}

func (tx *tx) endCall(c *Call, reply *int64) error {
	err := tx.execOne(`UPDATE call SET outcome = ?, decision = ?, status = ?, fault = ?, model = ?, finish = ?, prompt_tokens = ?,
		  cached_tokens = ?, completion_tokens = ?, exact = ?, trace_id = ?, raw = ?, first_byte_ms = ?, total_ms = ?
		WHERE id = ? AND outcome = 'open'`,
		c.Outcome, c.Decision, c.Status, c.Fault, c.Model, c.Finish, c.Usage.Prompt, min(c.Usage.Cached, c.Usage.Prompt),
		c.Usage.Completion, c.Usage.Exact, reply, c.Raw, c.FirstByte.Milliseconds(), c.Duration.Milliseconds(), c.ID)
	if err != nil {
		return fmt.Errorf("call %d: %w", c.ID, err)
	}
	if c.Purpose == PurposeProbe { // how often a process asks whether the server is there is no part of the run
		return nil
	}
	return tx.execOne(`UPDATE run_state SET calls = calls + 1, prompt_tokens = prompt_tokens + ?, cached_tokens = cached_tokens + ?,
		completion_tokens = completion_tokens + ? WHERE id = 1`, c.Usage.Prompt, min(c.Usage.Cached, c.Usage.Prompt), c.Usage.Completion)
}

// LastCall is the newest call for a scene that ended well.
type LastCall struct {
	Reply     int64 // id of the reply's row; 0 before the first
	Usage     annotator.Usage
	Compacted bool // the window has been compacted since
}

// Last returns the newest call for a scene that ended well.
func (s *Calls) Last(ctx context.Context) (last LastCall, err error) {
	err = s.db.read.QueryRowContext(ctx, `SELECT trace_id, prompt_tokens, cached_tokens, completion_tokens, exact,
		  trace_id < coalesce((SELECT max(trace_id) FROM compaction), 0)
		FROM call WHERE outcome = 'ok' AND purpose = 'annotate' ORDER BY id DESC LIMIT 1`).
		Scan(&last.Reply, &last.Usage.Prompt, &last.Usage.Cached, &last.Usage.Completion, &last.Usage.Exact, &last.Compacted)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return last, sqlite.Wrap(err, "read the newest call in %s", s.db.path)
}

// LastTooLong returns the newest call whose prompt the server found too long, with what it said; a call without an id
// where there is none since the run was begun anew.
func (s *Calls) LastTooLong(ctx context.Context) (c Call, err error) {
	err = s.db.read.QueryRowContext(ctx, `SELECT id, status, raw FROM call WHERE outcome = 'shrink' AND raw IS NOT NULL
		  AND id > (SELECT begun_call FROM run_state) ORDER BY id DESC LIMIT 1`).
		Scan(&c.ID, &c.Status, &c.Raw)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return c, sqlite.Wrap(err, "read the calls in %s", s.db.path)
}

// CountedPrompt is a prompt that the server has counted.
type CountedPrompt struct {
	Signs  Signs
	Tokens int
}

// Counted returns the newest n prompts of the run that the server has counted, oldest first, out of its newest 10 n calls: there are
// servers that count nothing, and all calls are not to be looked through for that.
func (s *Calls) Counted(ctx context.Context, n int) ([]CountedPrompt, error) {
	scan := func(rows *sql.Rows, c *CountedPrompt) error {
		var signs string
		if err := rows.Scan(&signs, &c.Tokens); err != nil {
			return err
		}
		return json.Unmarshal([]byte(signs), &c.Signs)
	}
	counted, err := collect(ctx, s.db.read, scan, `SELECT signs, prompt_tokens FROM call
		WHERE outcome = 'ok' AND purpose <> 'ask' AND exact = 1 AND signs <> '' AND id > (SELECT max(id) FROM call) - 10 * ?1
		ORDER BY id DESC LIMIT ?1`, n)
	slices.Reverse(counted)
	return counted, sqlite.Wrap(err, "read the newest calls in %s", s.db.path)
}
