package runner

import (
	"context"
	"time"

	"annotator"
	"annotator/model"
)

// ready returns when a request can be sent again: after the delay and, where the server was not well, once it has answered a
// probe. A health check is not believed: servers pass it while requests hang. Meanwhile the long prompt is not sent, and
// the scene is charged nothing. The call is the one that failed.
func (c *Caller) ready(ctx context.Context, call *annotator.Call, t *trial) error {
	delay := t.ruling.Delay
	for {
		if err := c.pause(ctx, delay, t.reason); err != nil || !t.ruling.Probe {
			return err
		}
		probe, fault, err := c.probe(ctx, call)
		if err != nil {
			return err
		}
		if fault == nil {
			t.alive = true
			return nil
		}
		ruling := c.Policy.Next(model.Tried{Attempt: c.Policy.Attempts, Waited: t.waited, Known: c.knows()}, probed(fault), c.Random)
		probe.Decision, probe.Reason = ruling.Decision, ruling.Why
		if err := c.fail(ctx, probe, fault); err != nil {
			return err
		}
		if ruling.Decision == model.Halt {
			return c.halt(ctx, fault, t.waited)
		}
		delay, t.reason = ruling.Delay, fault.Error()
		t.waited += delay + fault.Duration
	}
}

// probed is a probe's fault as the policy is to see it: whatever passes is waited for, within the patience for the whole request.
func probed(fault *model.Fault) *model.Fault {
	f := *fault
	if f.Kind == annotator.Transient {
		f.Kind = annotator.Unreachable
	}
	return &f
}

// probePatience is how long a server may take for one token.
const probePatience = 2 * time.Minute

// probe has the server make one token, and returns the fault for which it could not, with the call, which is then to be ended. A
// refusal is an answer, too: there is somebody.
func (c *Caller) probe(ctx context.Context, failed *annotator.Call) (*annotator.Call, *model.Fault, error) {
	history, err := c.Wire.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: "Say yes."}})
	if err != nil {
		return nil, nil, err
	}
	short, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	call := &annotator.Call{Turn: failed.Turn, Scene: failed.Scene, Purpose: annotator.PurposeProbe, Attempt: 1, Estimate: probeTokens}
	reply, fault, err := c.complete(short, call, &model.Request{Model: c.Model, History: history, MaxTokens: 1})
	switch {
	case err != nil:
		return nil, nil, err
	case reply != nil:
		return nil, nil, c.answered(ctx, call)
	case fault.NotAnAPI: // there is somebody, but no model
		return call, fault, nil
	}
	what := c.adapt(fault) // the probe may be the first request that the server reads
	switch {
	case what != "":
		call.Decision, call.Reason = annotator.DecisionAdapt, what
	case fault.Kind == annotator.Malformed, fault.Kind == annotator.Refused, fault.Kind == annotator.PromptTooLong:
		call.Decision, call.Reason = annotator.DecisionAnswered, "the server is there"
	default:
		return call, fault, nil
	}
	return nil, nil, c.fail(ctx, call, fault)
}

// probeTokens is about what a probe's prompt has.
const probeTokens = 10

// answered ends a probe that was answered.
func (c *Caller) answered(ctx context.Context, call *annotator.Call) error {
	call.Outcome = annotator.CallOK
	if err := c.Ledger.Fail(ctx, call); err != nil {
		return err
	}
	c.ended(call)
	return nil
}

// pause waits. A stop does not sit it out.
func (c *Caller) pause(ctx context.Context, delay time.Duration, reason string) error {
	if delay <= 0 {
		return context.Cause(ctx)
	}
	c.Publish(annotator.Notice{Kind: annotator.NoticeWait, Duration: delay, Reason: reason})
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.Hurry:
		return annotator.Errorf(annotator.Interrupted, "stopped while waiting for the endpoint (%s)", reason).
			WithAdvice("run again to go on")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
