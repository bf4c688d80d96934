package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"annotator"
	"annotator/context/window"
	"annotator/model"
	"annotator/storage"
	"annotator/tools"
)

// Tools executes one call of a tool that asks snapshots. The effects of the call are in Change, which the caller
// commits with the result. It implements tools.Summoner.
type Tools struct {
	Journal       Journal
	Episodes      window.Episodes
	Snapshots     Snapshots
	Conversations Conversations
	Client        *model.Client
	Request       Request                     // the settings of every question
	MaxQuestions  int                         // that a scene may ask
	Check         func(context.Context) error // returns a *model.Unanswered if the server must not be asked
	Change        storage.ConversationChange
}

// Snapshots reads the list of snapshots.
type Snapshots interface {
	Get(ctx context.Context, id int64) (annotator.Snapshot, error)
	List(ctx context.Context, q storage.SnapshotQuery) ([]annotator.Snapshot, error)
}

// Conversations reads what the model has asked.
type Conversations interface {
	// Current returns the open conversation, or nil.
	Current(ctx context.Context) (*storage.Conversation, error)
	// Questions counts the questions of a turn.
	Questions(ctx context.Context, turn int64) (int, error)
}

// List returns the newest snapshots. See tools.Summoner.
func (t *Tools) List(ctx context.Context, kind string, thread int64, limit int) ([]annotator.Snapshot, error) {
	return t.Snapshots.List(ctx, storage.SnapshotQuery{Kind: kind, Thread: thread, Limit: limit})
}

// Open opens a conversation. See tools.Summoner.
func (t *Tools) Open(ctx context.Context, snapshot int64, question string) (tools.Answer, error) {
	open, err := t.Conversations.Current(ctx)
	if err != nil {
		return tools.Answer{}, err
	}
	if open != nil {
		return tools.Answer{}, failure(tools.SummonActive,
			"snapshot %d is summoned; ask it with summon_continue, or end that with summon_dismiss", open.Snapshot)
	}
	t.Change.Open = snapshot
	return t.ask(ctx, &storage.Conversation{Snapshot: snapshot}, question)
}

// Continue asks in the open conversation. See tools.Summoner.
func (t *Tools) Continue(ctx context.Context, question string) (tools.Answer, error) {
	open, err := t.current(ctx)
	if err != nil {
		return tools.Answer{}, err
	}
	return t.ask(ctx, open, question)
}

// Dismiss ends the open conversation. See tools.Summoner.
func (t *Tools) Dismiss(ctx context.Context, summary string) error {
	if _, err := t.current(ctx); err != nil {
		return err
	}
	t.Change = storage.ConversationChange{Dismiss: true, Summary: summary}
	return nil
}

// current returns the open conversation. If there is none, the call fails.
func (t *Tools) current(ctx context.Context) (*storage.Conversation, error) {
	open, err := t.Conversations.Current(ctx)
	if err == nil && open == nil {
		err = failure(tools.NoSummon, "no snapshot is summoned; summon_snapshot summons one")
	}
	return open, err
}

// ask asks a question in a conversation, if the scene has questions left.
func (t *Tools) ask(ctx context.Context, open *storage.Conversation, question string) (tools.Answer, error) {
	none := tools.Answer{}
	asked, err := t.Conversations.Questions(ctx, t.Request.Turn)
	if err != nil {
		return none, err
	}
	left := t.MaxQuestions - asked
	if left <= 0 {
		return none, failure(tools.SummonLimit, "this scene has asked its %d questions", t.MaxQuestions)
	}
	if err := t.Check(ctx); err != nil {
		return none, unanswered(err)
	}
	c, err := t.restore(ctx, open)
	if err != nil {
		return none, err
	}
	request := t.Request
	request.Question = question
	text, call, err := c.Ask(ctx, t.Client, &request)
	if err != nil {
		return none, unanswered(err)
	}
	t.Change.Exchange, t.Change.Call = &storage.Exchange{Question: question, Answer: text}, call
	return tools.Answer{Snapshot: c.Snapshot, Text: text, Left: left - 1}, nil
}

// restore computes the context of a conversation.
func (t *Tools) restore(ctx context.Context, open *storage.Conversation) (*Context, error) {
	at, err := t.Snapshots.Get(ctx, open.Snapshot)
	if errors.Is(err, annotator.NotFound) {
		return nil, failure(tools.NotFound, "there is no snapshot %d; list_snapshots names them", open.Snapshot)
	}
	if err != nil {
		return nil, err
	}
	c, err := Restore(ctx, at, t.Client.Wire, t.Journal, t.Episodes)
	for i := range open.Exchanges {
		if err == nil {
			err = c.Add(open.Exchanges[i])
		}
	}
	if kind := annotator.KindOf(err); kind == annotator.Violation || kind == annotator.NotFound {
		err = restoreFailed(err)
	}
	return c, err
}

// unanswered converts the error of a question to a failure of the tool, if other questions may succeed.
func unanswered(err error) error {
	switch {
	case errors.Is(err, ErrNoAnswer):
		return failure(tools.SummonReadOnly, "%s, or go on without it", err.Error())
	case errors.As(err, new(*model.Unanswered)):
		return restoreFailed(err)
	}
	return err
}

func restoreFailed(err error) error {
	return failure(tools.RestoreFailed, "the snapshot cannot be asked: %s", strings.TrimSpace(err.Error()))
}

func failure(code, format string, args ...any) error {
	return &tools.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}
