package runner

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
)

// question is a message to the model that is no part of a scene.
type question struct {
	purpose     annotator.CallPurpose
	text        string
	prompt      *window.Prompt // with the text at its end
	maxTokens   int            // of the answer
	temperature float64
}

// ask puts a question to the model. The caller ends the call of the reply. The error is a *model.Unanswered if there is no reply.
func (r *Runner) ask(ctx context.Context, q *question) (*model.Reply, error) {
	if err := r.checkPurpose(ctx, q.purpose); err != nil {
		return nil, err
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: q.text, Tokens: tokens.EstimateMessage(q.text)}
	if err := r.Store.Journal.AppendOnce(ctx, note); err != nil {
		return nil, err
	}
	p := q.prompt
	reply, err := r.Client.Complete(ctx, &model.Request{
		System: p.System, History: p.History, Tools: p.Tools,
		Choice: model.Choice{Mode: model.ChoiceNone}, MaxTokens: q.maxTokens, Temperature: q.temperature, Stream: r.config.Stream,
		Call:     annotator.Call{Turn: r.scene.turn, Scene: r.scene.row.N, Purpose: q.purpose, Estimate: p.Tokens(), Characters: p.Size},
		MaxReply: r.maxReply(p), LeastPrompt: p.MinTokens(false),
	})
	if errors.As(err, new(*model.Unanswered)) {
		r.warn(fmt.Sprintf("the model was asked to %s, and gave no answer: %s", q.purpose, err.Error()))
	}
	return reply, err
}
