package runner

import (
	"cmp"
	"context"
	"errors"
	"time"

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
	if r.promptTokens() > r.promptBudget() && len(r.window.Turns()) > 1 {
		d.squeeze = true
		return annotator.EventOverflow, nil
	}
	request, err := r.request()
	if err != nil {
		return "", err
	}
	d.failing.attempt++
	call := &storage.Call{
		Turn: d.turn, Scene: d.row.N, Purpose: "annotate", Attempt: d.failing.attempt, Estimate: r.rawTokens(),
	}
	if err := r.Store.OpenCall(ctx, call); err != nil {
		return "", err
	}
	reply, err := r.Wire.Complete(ctx, request)
	if err != nil {
		return r.callFailed(ctx, call, err)
	}
	return r.callEnded(ctx, call, reply)
}

func (r *Runner) request() (*model.Request, error) {
	history, err := r.window.History()
	return &model.Request{
		Model: r.Config.Model, System: r.context.SystemPrompt, History: history, Tools: []byte(r.context.Tools),
		NoTools: r.day.rounds > r.Config.ToolRounds, MaxTokens: r.replyTokens(), Temperature: r.Config.Temperature, Stream: r.Config.Stream,
	}, err
}

// replyTokens is how long a reply may be: less than configured where the server has refused that for this scene.
func (r *Runner) replyTokens() int {
	return min(r.Config.MaxTokens, cmp.Or(r.day.replyTokens, r.Config.MaxTokens))
}

func (r *Runner) callEnded(ctx context.Context, call *storage.Call, reply *model.Reply) (annotator.Event, error) {
	d := r.day
	call.Model, call.Finish, call.Usage = reply.Model, reply.Finish, r.accounted(call, reply)
	call.FirstByte, call.Duration = reply.FirstByte, reply.Duration
	rows := r.replyRows(reply)
	if err := r.Store.Reply(ctx, call, rows); err != nil {
		return "", err
	}
	if call.Usage.Exact {
		r.counter.Observe(call.Estimate, call.Usage.Prompt)
	}
	d.failing.attempt, d.failing.waited = 0, 0
	r.publish(annotator.Notice{Kind: annotator.NoticeCall, Usage: &call.Usage, Duration: reply.Duration})
	for i := range rows {
		if err := r.add(&rows[i]); err != nil {
			return "", err
		}
	}
	return annotator.EventReplied, nil
}

// accounted is what a call cost: as the server reports it, else as it is estimated here.
func (r *Runner) accounted(call *storage.Call, reply *model.Reply) annotator.Usage {
	if reply.Usage.Exact {
		return reply.Usage
	}
	written := tokens.Estimate(reply.Text) + tokens.Estimate(reply.Reasoning)
	for i := range reply.Calls {
		written += tokens.Estimate(reply.Calls[i].Arguments) + tokens.PerCall
	}
	return annotator.Usage{Prompt: r.counter.Scale(call.Estimate), Completion: written}
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

// callFailed records the failure with what is done about it. What that is, the retry policy says.
func (r *Runner) callFailed(ctx context.Context, call *storage.Call, err error) (annotator.Event, error) {
	fault := asFault(err)
	d := r.day
	delay, decision := r.Config.Retry.Next(d.failing.attempt, fault, d.failing.waited, r.Random)
	call.Outcome, call.Decision, call.Status, call.Fault = string(fault.Kind), string(decision), fault.Status, fault.Error()
	call.Usage, call.Raw, call.FirstByte, call.Duration = fault.Usage, fault.Raw, fault.FirstByte, fault.Duration
	if ctx.Err() != nil {
		call.Outcome, call.Decision = "interrupted", "stopped by a signal"
	}
	if err := r.Store.FailCall(ctx, call); err != nil {
		return "", err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeCall, Duration: fault.Duration, Reason: fault.Error()})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	switch decision {
	case model.Retry, model.Wait:
		d.failing.delay, d.failing.reason = delay, fault.Error()
		if decision == model.Wait { // a server that is not there does not use up the scene's attempts
			d.failing.attempt--
			d.failing.waited += delay + fault.Duration
		}
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
	return "", annotator.Errorf(annotator.Halted, "%s: %w", r.Config.Endpoint, fault).WithAdvice("%s", advice(fault))
}

func asFault(err error) *model.Fault {
	if f := (*model.Fault)(nil); errors.As(err, &f) {
		return f
	}
	return &model.Fault{Kind: annotator.Refused, Message: err.Error(), Err: err}
}

func advice(f *model.Fault) string {
	if f.Advice != "" {
		return f.Advice + ", then run again to resume"
	}
	return "see to the endpoint, then run again to resume"
}

// retrying is RETRYING: it waits until the next attempt is due.
func (r *Runner) retrying(ctx context.Context) (annotator.Event, error) {
	d := r.day
	r.publish(annotator.Notice{Kind: annotator.NoticeWait, Duration: d.failing.delay, Reason: d.failing.reason})
	timer := time.NewTimer(d.failing.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return annotator.EventRetry, nil
	case <-r.hurry:
		return "", annotator.Errorf(annotator.Interrupted, "stopped while waiting for the endpoint (%s)", d.failing.reason)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
