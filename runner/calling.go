package runner

import (
	"cmp"
	"context"
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
	call := &annotator.Call{
		Turn: d.turn, Scene: d.row.N, Purpose: annotator.PurposeAnnotate, Attempt: d.trial.attempt + 1,
		Estimate: r.promptTokens(), Characters: r.size(),
	}
	reply, fault, err := r.caller().attempt(ctx, call, request, &d.trial)
	switch {
	case err != nil:
		return "", err
	case reply != nil:
		return r.replied(ctx, call, reply)
	}
	return r.callFailed(ctx, fault)
}

func (r *Runner) request() (*model.Request, error) {
	history, err := r.window.History()
	return &model.Request{
		Model: r.Config.Model, System: r.frame.system, History: history, Tools: r.frame.tools, Choice: r.choice(),
		MaxTokens: r.replyTokens(), Temperature: r.Config.Temperature, Stream: r.Config.Stream,
		LeastPrompt: r.leastPrompt(),
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

// replyTokens is how long a reply may be: more than configured, as far as there is room, where the last attempt was cut before its
// first word, but never more than what the server has refused for this scene.
func (r *Runner) replyTokens() int {
	most := r.Config.MaxTokens
	if r.day.trial.grown {
		most = r.caller().grown(most, r.promptTokens())
	}
	return min(most, cmp.Or(r.day.replyTokens, most))
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
func (r *Runner) replied(ctx context.Context, call *annotator.Call, reply *model.Reply) (annotator.Event, error) {
	if err := r.listen(ctx, call, reply); err != nil {
		return "", err
	}
	rows := r.replyRows(reply)
	r.tellModel(reply.Model)
	if err := r.Store.Calls.Reply(ctx, call, rows); err != nil {
		return "", err
	}
	r.day.trial = trial{}
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
	if reply.Cut(r.replyTokens()) && len(reply.Calls) > 0 {
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

// callFailed is what a failed call means for the scene.
func (r *Runner) callFailed(ctx context.Context, fault *model.Fault) (annotator.Event, error) {
	d := r.day
	switch d.trial.ruling.Decision {
	case model.Adapt:
		r.seen = 0 // what is sent from here on is rendered otherwise
		return annotator.EventTransient, nil
	case model.Retry, model.Wait, model.GrowReply:
		return annotator.EventTransient, nil
	case model.ShrinkReply:
		if d.replyTokens = r.replyTokens() / 2; d.replyTokens == 0 {
			return r.condemn(fault)
		}
		return annotator.EventTransient, nil
	case model.Shrink:
		d.squeeze, d.said = true, fault
		r.learnContext(fault.MaxContext, r.turnTokens())
		return annotator.EventOverflow, nil
	case model.Quarantine:
		return r.condemn(fault)
	}
	return "", r.caller().halt(ctx, fault, d.trial.waited)
}

// retrying is RETRYING: it waits until the next attempt is due, and the server is there for it.
func (r *Runner) retrying(ctx context.Context) (annotator.Event, error) {
	d := r.day
	return annotator.EventRetry, r.caller().ready(ctx, &annotator.Call{Turn: d.turn, Scene: d.row.N}, &d.trial)
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
