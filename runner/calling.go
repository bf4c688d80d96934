package runner

import (
	"cmp"
	"context"
	"errors"

	"annotator"
	"annotator/context/window"
	"annotator/model"
	"annotator/policy"
)

// calling is CALLING: one attempt of a request. The attempt is recorded before it is made, and its end commits with the
// rows of the reply.
func (r *Runner) calling(ctx context.Context) (annotator.Event, error) {
	s := r.scene
	if reason := s.GiveUp(r.config.ToolRounds, r.window.Budget.Longest(r.window.Tokens())); reason != nil {
		return r.quarantineForReply(reason)
	}
	p, err := r.window.Request()
	if err != nil {
		return "", err
	}
	if !r.fits(p) {
		s.forceCompaction = true
		return annotator.EventOverflow, nil
	}
	request := r.request(ctx, p)
	if s.exchange == nil {
		s.exchange = r.Client.Begin(request)
	} else {
		s.exchange.Replace(request)
	}
	reply, err := s.exchange.Try(ctx)
	if limit := s.exchange.ReplyLimit(); limit > 0 {
		s.replyLimit, r.window.Budget.Replies = limit, limit
	}
	switch unanswered := (*model.Unanswered)(nil); {
	case errors.As(err, &unanswered):
		return r.unanswered(ctx, unanswered, request.MaxTokens)
	case err != nil:
		return "", err
	case reply != nil:
		return r.replied(ctx, reply)
	}
	return annotator.EventTransient, nil
}

// followUpShare is the part of the usual room for a reply that is enough for a scene that has had one. A compaction
// inside a scene makes the server compute the scene and its calls again, often only to read that nothing is left to
// note.
const followUpShare = 2

// fits reports whether a prompt leaves room for its reply.
func (r *reading) fits(p *window.Prompt) bool {
	needed := r.window.Budget.Reply()
	if r.scene.Replies() > 0 {
		needed /= followUpShare
	}
	return r.window.Budget.ReplyTo(p.Tokens()) >= needed
}

// unanswered decides what follows from a request that was given up. A request that is too long is made again with the
// shortest limit of its reply, before turns leave the window. Many servers add up prompt and limit.
func (r *Runner) unanswered(ctx context.Context, u *model.Unanswered, limit int) (annotator.Event, error) {
	b := r.window.Budget
	before := b.Context()
	if err := r.updateBudget(ctx); err != nil {
		return "", err
	}
	if u.Action != annotator.DecisionShrink {
		return r.quarantine(u.Fault)
	}
	r.scene.forceCompaction, r.scene.overflow = true, u.Fault
	if limit > b.Reply() && u.Message != "" {
		r.scene.forceCompaction = false
		if b.Context() == before { // the server does not report its context
			b.Replies = b.Reply()
		}
	}
	return annotator.EventOverflow, nil
}

func (r *reading) request(ctx context.Context, p *window.Prompt) *model.Request {
	s, choice := r.scene, r.choice()
	limit := r.window.Budget.Longest(p.Tokens())
	whole := choice.Mode != model.ChoiceNone && !r.Client.Capabilities.Workarounds.Has(model.LooseCount)
	return &model.Request{
		System: p.System, History: p.History, Tools: p.Tools, Choice: choice,
		MaxTokens: min(limit, cmp.Or(s.replyLimit, limit)), LeastPrompt: p.MinTokens(whole),
		Temperature: r.config.Temperature, Stream: r.config.Stream, Rules: r.callRules(ctx),
		Call: annotator.Call{
			Turn: s.turn, Scene: s.row.N, Purpose: annotator.PurposeAnnotate, Estimate: p.Tokens(), Characters: p.Size,
		},
	}
}

// choice returns which tools the model may call now: none after the last round of the scene; only the declaration where
// an intent is missing.
func (r *reading) choice() model.Choice {
	switch s := r.scene; {
	case s.Rounds > r.config.ToolRounds:
		return model.Choice{Mode: model.ChoiceNone}
	case (s.Intent.Undeclared || s.CallRequired) && r.config.Governance == policy.Enforce:
		return model.Choice{Mode: model.ChoiceRequired, Allowed: []string{policy.SelectIntent}}
	}
	return model.Choice{}
}

// replied ends a call with the rows of its reply.
func (r *Runner) replied(ctx context.Context, reply *model.Reply) (annotator.Event, error) {
	s, call, rows := r.scene, reply.Call, r.replyRows(reply)
	if err := r.Store.Calls.Reply(ctx, call, rows); err != nil {
		return "", err
	}
	s.exchange = nil
	for i := range rows {
		if err := r.apply(&rows[i]); err != nil {
			return "", err
		}
	}
	if err := r.window.Relearn(ctx); err != nil {
		return "", err
	}
	r.window.Counted(call.Characters, call.Usage, &rows[0])
	return annotator.EventReplied, r.updateBudget(ctx)
}

// retrying is RETRYING: it waits until the next attempt is due and the server is ready for it.
func (r *Runner) retrying(ctx context.Context) (annotator.Event, error) {
	return annotator.EventRetry, r.scene.exchange.Wait(ctx)
}
