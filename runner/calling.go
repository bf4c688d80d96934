package runner

import (
	"cmp"
	"context"

	"annotator"
	"annotator/context/tokens"
	"annotator/model"
	"annotator/storage"
	"annotator/tools"
)

// calling is CALLING: one attempt to have the model answer. The attempt is on record before it is made, and its end
// commits with the reply's rows.
func (r *Runner) calling(ctx context.Context) (annotator.Event, error) {
	d := r.day
	if r.promptTokens() > r.promptBudget() {
		d.squeeze = true
		return annotator.EventOverflow, nil
	}
	request, err := r.request()
	if err != nil {
		return "", err
	}
	call := &storage.Call{
		Turn: d.turn, Scene: d.row.N, Purpose: "annotate", Attempt: d.trial.attempt + 1,
		Estimate: r.promptTokens(), Signs: storage.Signs(r.size()),
	}
	reply, fault, err := r.caller().attempt(ctx, call, request, &d.trial)
	switch {
	case err != nil:
		return "", err
	case reply != nil:
		return r.replied(ctx, call, reply)
	}
	return r.callFailed(fault)
}

func (r *Runner) request() (*model.Request, error) {
	history, err := r.window.History()
	return &model.Request{
		Model: r.Config.Model, System: r.context.SystemPrompt, History: history, Tools: []byte(r.context.Tools), Choice: r.choice(),
		MaxTokens: r.replyTokens(), Temperature: r.Config.Temperature, Stream: r.Config.Stream,
	}, err
}

// choice is which tools the model may call now: none once the scene has had its rounds.
func (r *Runner) choice() model.Choice {
	if r.day.rounds > r.Config.ToolRounds {
		return model.Choice{Mode: model.ChoiceNone}
	}
	return model.Choice{}
}

// replyTokens is how long a reply may be: less than configured where the server has refused that for this scene.
func (r *Runner) replyTokens() int {
	return min(r.Config.MaxTokens, cmp.Or(r.day.replyTokens, r.Config.MaxTokens))
}

// replied ends a call with the rows of its reply.
func (r *Runner) replied(ctx context.Context, call *storage.Call, reply *model.Reply) (annotator.Event, error) {
	rows := r.replyRows(reply)
	if err := r.Store.Reply(ctx, call, rows); err != nil {
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
	r.exact, r.since = usage.Prompt, tokens.Size{}
	if reply.Reasoning == "" {
		r.exact += usage.Completion
	} else {
		r.exact += r.counter.Count(tokens.Measure(reply.Content).Framed(tokens.PerMessage))
	}
}

// learned has the estimates of later prompts take in what the server says of this one.
func (r *Runner) learned(call *storage.Call) {
	if call.Usage.Exact {
		r.counter.Observe(tokens.Observation{Size: tokens.Size(call.Signs), Tokens: call.Usage.Prompt})
	}
}

// replyRows are the rows of a reply: what it says, then each call.
func (r *Runner) replyRows(reply *model.Reply) []annotator.Trace {
	d := r.day
	row := d.next(annotator.TraceReply)
	row.Content, row.Reasoning = reply.Text, reply.Reasoning
	if cut := reply.Finish == "length" || reply.Usage.Completion >= r.replyTokens(); cut && len(reply.Calls) > 0 {
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
func (r *Runner) callFailed(fault *model.Fault) (annotator.Event, error) {
	d := r.day
	switch d.trial.decision {
	case model.Retry, model.Wait:
		return annotator.EventTransient, nil
	case model.ShrinkReply:
		d.replyTokens = max(r.replyTokens()/2, 1)
		return annotator.EventTransient, nil
	case model.Shrink:
		d.squeeze = true
		return annotator.EventOverflow, nil
	case model.Quarantine:
		return r.refuse(fault.Error(), fault.Raw)
	}
	return "", r.caller().halt(fault)
}

// retrying is RETRYING: it waits until the next attempt is due.
func (r *Runner) retrying(ctx context.Context) (annotator.Event, error) {
	return annotator.EventRetry, r.caller().pause(ctx, &r.day.trial)
}
