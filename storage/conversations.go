package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"annotator"
	"annotator/internal/sqlite"
)

// Conversation is a conversation with the model as it was at a snapshot. It changes nothing else.
type Conversation struct {
	ID        int64
	Snapshot  int64
	Turn      int64 // in which the model asked; 0 of a person
	Exchanges []Exchange
}

// Exchange is a question with its answer.
type Exchange struct {
	Question string
	Answer   string // not empty
}

// Current returns the model's open conversation, with all its exchanges; nil where there is none.
func (s *Conversations) Current(ctx context.Context) (*Conversation, error) {
	open := &Conversation{}
	err := s.db.read.QueryRowContext(ctx, `SELECT id, snapshot_id, turn FROM summon
		WHERE asker = 'model' AND dismissed_at IS NULL`).
		Scan(&open.ID, &open.Snapshot, &open.Turn)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		scan := func(rows *sql.Rows, e *Exchange) error { return rows.Scan(&e.Question, &e.Answer) }
		open.Exchanges, err = collect(ctx, s.db.read, scan, `SELECT question, answer FROM summon_exchange
			WHERE summon_id = ? ORDER BY seq`, open.ID)
	}
	return open, sqlite.Wrap(err, "read the open conversation in %s", s.db.path)
}

// Questions counts the model's questions to snapshots in a turn. An interrupted one does not count: it is asked again.
func (s *Conversations) Questions(ctx context.Context, turn int64) (int, error) {
	return readValue[int](ctx, s.db, fmt.Sprintf("read the calls of turn %d", turn), `SELECT count(*) FROM call
		WHERE turn = ? AND purpose = 'ask'
		AND outcome IN ('ok', 'malformed', 'refused', 'prompt too long')`, turn)
}

// ConversationChange is what a tool does to the model's conversations with snapshots. The zero value does nothing.
type ConversationChange struct {
	Open     int64           // a conversation with this snapshot is opened; 0: with none
	Exchange *Exchange       // in the open conversation; nil for none
	Call     *annotator.Call // that brought the answer of Exchange
	Dismiss  bool            // the open conversation ends
	Summary  string          // the model's summary of it
}

// Apply records a tool's result, the decision about the call (nil: none), and the change of the conversations in one
// transaction.
func (s *Conversations) Apply(ctx context.Context, row *annotator.Trace, decision *ToolDecision,
	change *ConversationChange,
) error {
	return s.db.update(ctx, "run "+row.Tool, func(tx *tx) {
		if change.Open != 0 {
			tx.openConversation(change.Open, row.Turn)
		}
		if change.Exchange != nil {
			change.Call.Outcome = annotator.CallOK
			tx.endCall(change.Call, nil)
			var open int64
			tx.scan([]any{&open}, `SELECT id FROM summon WHERE asker = 'model' AND dismissed_at IS NULL`)
			tx.insertExchange(open, change.Exchange, change.Call)
		}
		if change.Dismiss {
			tx.execOne(`UPDATE summon SET dismissed_at = ?, summary = ? WHERE asker = 'model' AND dismissed_at IS NULL`,
				tx.now, change.Summary)
		}
		tx.appendResult(row, decision)
	})
}

// openConversation opens one of the model, in a turn, or of a person, where the turn is 0.
func (tx *tx) openConversation(snapshot, turn int64) (id int64) {
	tx.scan([]any{&id}, `INSERT INTO summon (snapshot_id, asker, turn, opened_at)
		VALUES (?1, iif(?2 > 0, 'model', 'person'), ?2, ?3)
		RETURNING id`, snapshot, turn, tx.now)
	return id
}

func (tx *tx) insertExchange(summon int64, e *Exchange, c *annotator.Call) {
	tx.execOne(`INSERT INTO summon_exchange (summon_id, seq, question, answer, call_id, asked_at)
		VALUES (?1, (SELECT count(*) FROM summon_exchange WHERE summon_id = ?1), ?, ?, ?, ?)`,
		summon, e.Question, e.Answer, c.ID, tx.now)
}

// SnapshotWriter records what people ask the model, also while a run goes on. It writes conversations, findings, their
// calls, and the run's totals of tokens. A run does not keep any of these in memory, so SQLite's own lock is enough.
type SnapshotWriter struct {
	pool *writer
	path string
	now  func() time.Time
}

// OpenSnapshotWriter opens the database at path for what people ask. Open must accept the database.
func OpenSnapshotWriter(ctx context.Context, path string, now func() time.Time) (*SnapshotWriter, error) {
	pool, err := openWriter(ctx, path)
	return &SnapshotWriter{pool: pool, path: path, now: now}, err
}

// Close closes the database.
func (g *SnapshotWriter) Close() error { return g.pool.Close() }

// Open records a call before it is made: as lost, until it has ended. A run marks open calls as lost when it starts. It
// must not mark a call that is under way here.
func (g *SnapshotWriter) Open(ctx context.Context, c *annotator.Call) error {
	return g.update(ctx, "record a call", func(tx *tx) { tx.openCall(c, annotator.CallLost, reasonLost) })
}

// Fail ends a call that brought no answer.
func (g *SnapshotWriter) Fail(ctx context.Context, c *annotator.Call) error {
	return g.update(ctx, "record a failed call", func(tx *tx) { tx.endLost(c) })
}

// Answer records an exchange with the call that brought it. The first one of a conversation sets its id.
func (g *SnapshotWriter) Answer(ctx context.Context, s *Conversation, c *annotator.Call, e Exchange) error {
	return g.update(ctx, "record an answer", func(tx *tx) {
		c.Outcome = annotator.CallOK
		tx.endLost(c)
		if s.ID == 0 {
			s.ID = tx.openConversation(s.Snapshot, 0)
		}
		tx.insertExchange(s.ID, &e, c)
		s.Exchanges = append(s.Exchanges, e)
		tx.execOne(`UPDATE summon SET dismissed_at = ? WHERE id = ?`, tx.now, s.ID)
	})
}

// Check ends a call that checked a chapter, and records what it found. It reports for each finding whether it is the
// first of its sort that has the words of the chapter and the claim.
func (g *SnapshotWriter) Check(ctx context.Context, c *annotator.Call, found []annotator.Finding) ([]bool, error) {
	added := make([]bool, len(found))
	err := g.update(ctx, "record findings", func(tx *tx) {
		c.Outcome = annotator.CallOK
		tx.endLost(c)
		for i := range found {
			f := &found[i]
			key := sha256.Sum256(fmt.Appendf(nil, "%s\n%d:%d\n%s", f.Sort, f.Entry, f.Claim, f.Quote))
			added[i] = tx.exec(`INSERT INTO finding
				(key, sort, entry_id, claim, chapter, quote, reason, call_id, found_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, hex.EncodeToString(key[:]), f.Sort, f.Entry,
				f.Claim, f.Chapter, f.Quote, f.Reason, c.ID, tx.now) > 0
		}
	})
	return added, err
}

// endLost ends a call that SnapshotWriter.Open has recorded.
func (tx *tx) endLost(c *annotator.Call) {
	tx.execOne(`UPDATE call SET outcome = 'open' WHERE id = ? AND outcome = 'lost'`, c.ID)
	tx.endCall(c, nil)
}

func (g *SnapshotWriter) update(ctx context.Context, what string, body func(*tx)) error {
	return sqlite.Wrap(transact(context.WithoutCancel(ctx), g.pool, g.now, body), "%s in %s", what, g.path)
}
