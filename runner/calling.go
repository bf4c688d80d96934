package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"annotator"
	"annotator/context/tokens"
	"annotator/model"
	"annotator/policy"
	"annotator/tools"
)

// calling is CALLING: one attempt to have the model answer. The attempt is on record before it is made, and its end
// commits with the reply's rows.
func (r *Runner) calling(ctx context.Context) (annotator.Event, error) {
	d := r.day
	if reason := r.givenUp(); reason != "" {
		return r.refuse(reason)
	}
	if r.promptTokens() > r.promptBudget() {
		d.squeeze = true
		return annotator.EventOverflow, nil
	}
	request, err := r.request()
	if err != nil {
		return "", err
	}
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
		r.seen = 0 // what is sent from here on is rendered otherwise
	}
	return annotator.EventTransient, nil
}

// unanswered is what it means for the scene that the request was given up.
func (r *Runner) unanswered(u *model.Unanswered) (annotator.Event, error) {
	if u.Action != annotator.DecisionShrink {
		return r.condemn(u.Fault)
	}
	r.day.squeeze, r.day.said = true, u.Fault
	r.learnContext(u.MaxContext, r.turnTokens())
	return annotator.EventOverflow, nil
}

func (r *Runner) request() (*model.Request, error) {
	d := r.day
	history, err := r.window.History()
	maxReply := r.maxReply(r.promptTokens())
	return &model.Request{
		System: r.frame.system, History: history, Tools: r.frame.tools, Choice: r.choice(),
		MaxTokens: min(r.Config.MaxTokens, cmp.Or(d.replyLimit, r.Config.MaxTokens)), Temperature: r.Config.Temperature, Stream: r.Config.Stream,
		Call: annotator.Call{
			Turn: d.turn, Scene: d.row.N, Purpose: annotator.PurposeAnnotate, Estimate: r.promptTokens(), Characters: r.size(),
		},
		MaxReply: min(maxReply, cmp.Or(d.replyLimit, maxReply)), LeastPrompt: r.leastPrompt(),
	}, err
}

// choice is which tools the model may call now: none once the scene has had its rounds, and where it forgot to declare its
// intent, the declaration alone.
func (r *Runner) choice() model.Choice {
	switch d := r.day; {
	case d.rounds > r.Config.ToolRounds:
		return model.Choice{Mode: model.ChoiceNone}
	case (d.governed.Undeclared || d.demanded) && r.Config.Governance == policy.Enforce:
		return model.Choice{Mode: model.ChoiceRequired, Allowed: []string{policy.SelectIntent}}
	}
	return model.Choice{}
}

// leastPrompt is how many tokens the prompt has at the least: as many as any tokenizer makes of its text, and as many as the server
// counted of its beginning together with what any makes of the rest. A server that drops the beginning shows by that at once.
func (r *Runner) leastPrompt() int {
	if r.choice().Mode == model.ChoiceNone {
		return r.frame.least(r.size())
	}
	const doubt = 0.98 // a template may render the last message otherwise than those before
	if r.seen == 0 {
		return r.size().Least()
	}
	return max(r.size().Least(), int(doubt*float64(r.seen))+r.since.Least())
}

// replied ends a call with the rows of its reply.
func (r *Runner) replied(ctx context.Context, reply *model.Reply) (annotator.Event, error) {
	call := reply.Call
	if err := r.listen(ctx, call, reply); err != nil {
		return "", err
	}
	rows := r.replyRows(reply)
	r.tellModel(reply.Model)
	if err := r.Store.Calls.Reply(ctx, call, rows); err != nil {
		return "", err
	}
	r.day.exchange = nil
	for i := range rows {
		if err := r.add(&rows[i]); err != nil {
			return "", err
		}
	}
	r.learned(call)
	r.counted(call.Usage, &rows[0])
	return annotator.EventReplied, nil
}

// counted takes in what the server says of the newest prompt and the reply to it. What the window then holds is known
// exactly, but for reasoning, which is generated and not sent again.
func (r *Runner) counted(usage annotator.Usage, reply *annotator.Trace) {
	if !usage.Exact {
		return
	}
	r.exact, r.seen, r.since = usage.Prompt, usage.Prompt, tokens.Size{}
	if reply.Reasoning == "" {
		r.exact += usage.Completion
	} else {
		r.exact += r.counter.Count(tokens.Measure(reply.Content).Framed(tokens.PerMessage))
	}
}

// learned has the estimates of later prompts take in what the server says of this one.
func (r *Runner) learned(call *annotator.Call) {
	if call.Usage.Exact {
		r.counter.Observe(tokens.Observation{Size: call.Characters, Tokens: call.Usage.Prompt})
	}
}

// replyRows are the rows of a reply: what it says, then each call.
func (r *Runner) replyRows(reply *model.Reply) []annotator.Trace {
	d := r.day
	row := d.next(annotator.TraceReply)
	row.Content, row.Reasoning = reply.Text, reply.Reasoning
	if reply.Cut && len(reply.Calls) > 0 {
		row.Error = tools.Truncated
	}
	row.Tokens = tokens.Estimate(reply.Text) + tokens.PerMessage
	rows := []annotator.Trace{*row}
	for i := range reply.Calls {
		call := d.next(annotator.TraceCall)
		call.Seq += i + 1
		call.CallID = callID(d.turn, call.Seq)
		call.Tool, call.Arguments = reply.Calls[i].Name, reply.Calls[i].Arguments
		call.Tokens = tokens.Estimate(call.Tool) + tokens.Estimate(call.Arguments) + tokens.PerCall
		rows = append(rows, *call)
	}
	return rows
}

// retrying is RETRYING: it waits until the next attempt is due, and the server is there for it.
func (r *Runner) retrying(ctx context.Context) (annotator.Event, error) {
	return annotator.EventRetry, r.day.exchange.Wait(ctx)
}

// mostStrangers is how many models a word is given on: some servers put a new name under each reply.
const mostStrangers = 8

// tellModel gives a word on a model that answers in place of the one that was asked, once for each.
func (r *Runner) tellModel(answered string) {
	if answered == "" || answered == r.Config.Model || slices.Contains(r.strangers, answered) || len(r.strangers) == mostStrangers {
		return
	}
	r.strangers = append(r.strangers, answered)
	r.word(fmt.Sprintf("it was asked for the model %s, and %s answers; --strict-model has the run halt then", r.Config.Model, answered))
}
