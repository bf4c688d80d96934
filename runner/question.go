package runner

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/curator"
	"annotator/model"
)

// questions asks the model questions that are no part of a scene, at the present scene.
type questions struct{ *reading }

func (r *Runner) questions() *questions { return &questions{&r.reading} }

// ask asks the model a question. The question is recorded first, as a fork if it is one of the curator's about entries.
// The caller ends the call of the reply. The error is a *model.Unanswered if there is no reply.
func (a *questions) ask(
	ctx context.Context, purpose annotator.CallPurpose, q *window.Question, fork *curator.Fork,
) (*model.Reply, error) {
	if err := a.check(ctx, purpose); err != nil {
		return nil, err
	}
	p := q.Prompt
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: q.Text, Tokens: tokens.EstimateMessage(q.Text)}
	var err error
	if fork == nil {
		err = a.Store.Journal.AppendOnce(ctx, note)
	} else {
		taken := annotator.Snapshot{Scene: a.scene.row.N, Tokens: p.Tokens(), Before: fork.Before, Alone: fork.Alone}
		err = a.Store.Curation.Fork(ctx, note, taken, fork.System)
	}
	if err != nil {
		return nil, err
	}
	reply, err := a.Client.Complete(ctx, &model.Request{
		System: p.System, History: p.History, Tools: p.Tools,
		Choice: model.Choice{Mode: model.ChoiceNone}, MaxTokens: q.MaxTokens, Temperature: q.Temperature,
		Stream: a.config.Stream,
		Call: annotator.Call{
			Turn: a.scene.turn, Scene: a.scene.row.N, Purpose: purpose, Estimate: p.Tokens(),
			Characters: p.Size,
		},
		LeastPrompt: p.MinTokens(false),
	})
	if errors.As(err, new(*model.Unanswered)) {
		a.warn(fmt.Sprintf("the model was asked to %s, and gave no answer: %s", purpose, err.Error()))
	}
	return reply, err
}

// summarise asks the model for a summary. See window.Sources.
func (a *questions) summarise(ctx context.Context, q *window.Question) (*window.Answer, error) {
	reply, err := a.ask(ctx, annotator.PurposeSummarise, q, nil)
	switch {
	case errors.As(err, new(*model.Unanswered)):
		return nil, window.ErrNoSummary
	case err != nil:
		return nil, err
	}
	return &window.Answer{Call: reply.Call, Text: reply.Text, Reasoning: reply.Reasoning, Body: reply.Body()}, nil
}

// cooldownScenes is for how many scenes an optional question is not asked, after too many failures.
const cooldownScenes = 50

// check decides, before an auxiliary question, what follows if the newest questions of its purpose in a row got no
// answer. Auxiliary questions have their own failure budget. The error is a *model.Unanswered where the run can
// continue without an answer. A summary can be made by rule, and a tool can say that it has none. The curator does not
// return to an entry that it has skipped, so for its questions the run halts.
func (a *questions) check(ctx context.Context, purpose annotator.CallPurpose) error {
	n, last, err := a.Store.Calls.ConsecutiveFailures(ctx, purpose, maxConsecutiveFailures)
	if err != nil || n < maxConsecutiveFailures {
		return err
	}
	reason := fmt.Sprintf("it was asked %d times in a row to %s, and gave no answer, the last time for this: %s", n,
		purpose, last.Fault)
	if purpose == annotator.PurposeCurate {
		return annotator.Errorf(annotator.Halted, "%s: %s", a.config.Endpoint, reason).
			WithReason(annotator.ReasonCuratorFails)
	}
	passed, err := a.Store.Scenes.Distance(ctx, last.Scene, a.scene.row.N)
	if err != nil {
		return err
	}
	if passed < cooldownScenes {
		again := a.scene.row.N + cooldownScenes - passed
		a.warn(fmt.Sprintf("%s: %s; the story goes on without, and it is asked again from scene %d on",
			a.config.Endpoint, reason, again))
		return &model.Unanswered{Fault: &model.Fault{Kind: annotator.Transient, Message: reason}}
	}
	return nil
}
