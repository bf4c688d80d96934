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

// ask puts a question to the model, which is recorded first, as a fork if it is one of the curator's about entries. The caller ends the
// call of the reply. The error is a *model.Unanswered if there is no reply.
func (r *Runner) ask(
	ctx context.Context, purpose annotator.CallPurpose, q *window.Question, fork *curator.Fork,
) (*model.Reply, error) {
	if err := r.checkPurpose(ctx, purpose); err != nil {
		return nil, err
	}
	p := q.Prompt
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: q.Text, Tokens: tokens.EstimateMessage(q.Text)}
	var err error
	if fork == nil {
		err = r.Store.Journal.AppendOnce(ctx, note)
	} else {
		taken := annotator.Snapshot{Scene: r.scene.row.N, Tokens: p.Tokens(), Before: fork.Before, Alone: fork.Alone}
		err = r.Store.Curation.Fork(ctx, note, taken, fork.System)
	}
	if err != nil {
		return nil, err
	}
	reply, err := r.Client.Complete(ctx, &model.Request{
		System: p.System, History: p.History, Tools: p.Tools,
		Choice: model.Choice{Mode: model.ChoiceNone}, MaxTokens: q.MaxTokens, Temperature: q.Temperature, Stream: r.config.Stream,
		Call:        annotator.Call{Turn: r.scene.turn, Scene: r.scene.row.N, Purpose: purpose, Estimate: p.Tokens(), Characters: p.Size},
		LeastPrompt: p.MinTokens(false),
	})
	if errors.As(err, new(*model.Unanswered)) {
		r.warn(fmt.Sprintf("the model was asked to %s, and gave no answer: %s", purpose, err.Error()))
	}
	return reply, err
}
