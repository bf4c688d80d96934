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
	call := &storage.Call{
		Turn: d.turn, Scene: d.row.N, Purpose: "annotate", Attempt: d.trial.attempt + 1, Estimate: r.rawTokens(),
	}
	reply, fault, err := r.attempt(ctx, call, request, &d.trial)
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
		Model: r.Config.Model, System: r.context.SystemPrompt, History: history, Tools: []byte(r.context.Tools),
		NoTools: r.day.rounds > r.Config.ToolRounds, MaxTokens: r.replyTokens(), Temperature: r.Config.Temperature, Stream: r.Config.Stream,
	}, err
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
	r.counted(call.Estimate, call.Usage, &rows[0])
	return annotator.EventReplied, nil
}

// counted takes in what the server says of the newest prompt and the reply to it. What the window then holds is known
// exactly, but for reasoning, which is generated and not sent again.
func (r *Runner) counted(estimate int, usage annotator.Usage, reply *annotator.Trace) {
	if !usage.Exact {
		return
	}
	r.counter.Observe(estimate, usage.Prompt)
	r.exact, r.since = usage.Prompt, 0
	if reply.Reasoning == "" {
		r.exact += usage.Completion
	} else {
		r.exact += r.counter.Scale(reply.Tokens)
	}
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

// trial is a request under way: how often it was tried, and how long it has waited.
type trial struct {
	attempt  int           // failed ones
	waited   time.Duration // for a server that is not there or not ready
	delay    time.Duration // until the next attempt
	decision model.Decision
	reason   string
}

// attempt makes one call. A failed one is on record with what is to be done about it, as the retry policy says; one that
// brought a reply is the caller's to end. Reply and fault are both nil only with an error.
func (r *Runner) attempt(ctx context.Context, call *storage.Call, request *model.Request, t *trial) (*model.Reply, *model.Fault, error) {
	if err := r.Store.OpenCall(ctx, call); err != nil {
		return nil, nil, err
	}
	reply, err := r.Wire.Complete(ctx, request)
	if err == nil {
		call.Model, call.Finish, call.Usage = reply.Model, reply.Finish, r.accounted(call, reply)
		call.FirstByte, call.Duration = reply.FirstByte, reply.Duration
		r.publish(annotator.Notice{Kind: annotator.NoticeCall, Usage: &call.Usage, Duration: reply.Duration})
		return reply, nil, nil
	}
	fault := asFault(err)
	t.failed(fault, &r.Config.Retry, r.Random)
	call.Outcome, call.Decision, call.Status, call.Fault = string(fault.Kind), string(t.decision), fault.Status, fault.Error()
	call.Usage, call.Raw, call.FirstByte, call.Duration = fault.Usage, fault.Raw, fault.FirstByte, fault.Duration
	if ctx.Err() != nil {
		call.Outcome, call.Decision = "interrupted", "stopped by a signal"
	}
	if err := r.Store.FailCall(ctx, call); err != nil {
		return nil, nil, err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeCall, Duration: fault.Duration, Reason: fault.Error()})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return nil, fault, nil
}

// failed has the policy decide. A server that is not there or not ready does not use up the request's attempts.
func (t *trial) failed(fault *model.Fault, policy *model.Policy, random func() float64) {
	t.attempt++
	t.delay, t.decision = policy.Next(t.attempt, fault, t.waited, random)
	t.reason = fault.Error()
	if t.decision == model.Wait {
		t.attempt--
		t.waited += t.delay + fault.Duration
	}
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
	return "", r.halt(fault)
}

func (r *Runner) halt(fault *model.Fault) error {
	return annotator.Errorf(annotator.Halted, "%s: %w", r.Config.Endpoint, fault).WithAdvice("%s", advice(fault))
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
	return annotator.EventRetry, r.pause(ctx, &r.day.trial)
}

// pause waits for the next attempt. A stop does not sit it out.
func (r *Runner) pause(ctx context.Context, t *trial) error {
	r.publish(annotator.Notice{Kind: annotator.NoticeWait, Duration: t.delay, Reason: t.reason})
	timer := time.NewTimer(t.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.hurry:
		return annotator.Errorf(annotator.Interrupted, "stopped while waiting for the endpoint (%s)", t.reason)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
