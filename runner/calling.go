package runner

import (
	"cmp"
	"context"
	"errors"

	"annotator"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
	"annotator/policy"
	"annotator/tools"
)

// calling is CALLING: one attempt to have the model answer. The attempt is recorded before it is made, and its end
// commits with the rows of the reply.
func (r *Runner) calling(ctx context.Context) (annotator.Event, error) {
	d := r.day
	if reason := r.givenUp(); reason != "" {
		return r.refuse(reason)
	}
	p, err := r.window.Request()
	if err != nil {
		return "", err
	}
	if p.Tokens() > r.window.Limits.Prompt() {
		d.forceCompaction = true
		return annotator.EventOverflow, nil
	}
	request := r.request(ctx, p)
	if d.exchange == nil {
		d.exchange = r.client().Begin(request)
	} else {
		d.exchange.Replace(request)
	}
	reply, err := d.exchange.Try(ctx)
	d.replyLimit = cmp.Or(d.exchange.ReplyLimit(), d.replyLimit)
	switch unanswered := (*model.Unanswered)(nil); {
	case errors.As(err, &unanswered):
		return r.unanswered(unanswered)
	case err != nil:
		return "", err
	case reply != nil:
		return r.replied(ctx, reply)
	}
	if d.exchange.Adapted() {
		r.window.Rerendered()
	}
	return annotator.EventTransient, nil
}

// unanswered handles a request that the client has given up.
func (r *Runner) unanswered(u *model.Unanswered) (annotator.Event, error) {
	if u.Action != annotator.DecisionShrink {
		return r.quarantine(u.Fault)
	}
	r.day.forceCompaction, r.day.said = true, u.Fault
	r.learnContext(u.MaxContext, r.window.TurnTokens())
	return annotator.EventOverflow, nil
}

func (r *Runner) request(ctx context.Context, p *window.Prompt) *model.Request {
	d, most, choice := r.day, r.window.Limits.Reply, r.choice()
	maxReply := r.maxReply(p)
	return &model.Request{
		System: p.System, History: p.History, Tools: p.Tools, Choice: choice,
		MaxTokens: min(most, cmp.Or(d.replyLimit, most)), Temperature: r.Config.Temperature, Stream: r.Config.Stream,
		Call: annotator.Call{
			Turn: d.turn, Scene: d.row.N, Purpose: annotator.PurposeAnnotate, Estimate: p.Tokens(), Characters: p.Size,
		},
		Rules:    r.callRules(ctx),
		MaxReply: min(maxReply, cmp.Or(d.replyLimit, maxReply)), LeastPrompt: p.MinTokens(choice.Mode != model.ChoiceNone),
	}
}

// choice is which tools the model may call now: none after the last round of the scene, and where it forgot to declare
// its intent, only the declaration.
func (r *Runner) choice() model.Choice {
	switch d := r.day; {
	case d.rounds > r.Config.ToolRounds:
		return model.Choice{Mode: model.ChoiceNone}
	case (d.governed.Undeclared || d.demanded) && r.Config.Governance == policy.Enforce:
		return model.Choice{Mode: model.ChoiceRequired, Allowed: []string{policy.SelectIntent}}
	}
	return model.Choice{}
}

// replied ends a call with the rows of its reply.
func (r *Runner) replied(ctx context.Context, reply *model.Reply) (annotator.Event, error) {
	call, rows := reply.Call, r.replyRows(reply)
	if err := r.Store.Calls.Reply(ctx, call, rows); err != nil {
		return "", err
	}
	r.day.exchange = nil
	for i := range rows {
		if err := r.add(&rows[i]); err != nil {
			return "", err
		}
	}
	r.day.content = &content{model.CallsOf(reply.Calls, annotator.OriginUpdates), reply.Problem}
	r.window.Observe(call.Characters, call.Usage)
	r.window.Counted(call.Usage, &rows[0])
	return annotator.EventReplied, nil
}

// replyRows are the rows of a reply: its text, then each call.
func (r *Runner) replyRows(reply *model.Reply) []annotator.Trace {
	d := r.day
	row := d.next(annotator.TraceReply)
	row.Content, row.Reasoning = reply.Text, reply.Reasoning
	row.Tokens = tokens.EstimateMessage(reply.Text)
	rows := []annotator.Trace{*row}
	for i := range reply.Calls {
		if reply.Calls[i].Origin == annotator.OriginUpdates { // they are in the text
			continue
		}
		call := d.next(annotator.TraceCall)
		call.Seq += i + 1
		call.CallID = annotator.CallID(d.turn, call.Seq)
		call.Tool, call.Arguments = reply.Calls[i].Name, reply.Calls[i].Arguments
		call.Tokens = tokens.Estimate(call.Tool) + tokens.Estimate(call.Arguments) + tokens.PerCall
		rows = append(rows, *call)
	}
	if reply.Cut && len(rows) > 1 {
		rows[0].Error = tools.Truncated
	}
	return rows
}

// retrying is RETRYING: it waits until the next attempt is due, and the server is ready for it.
func (r *Runner) retrying(ctx context.Context) (annotator.Event, error) {
	return annotator.EventRetry, r.day.exchange.Wait(ctx)
}
