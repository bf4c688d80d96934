package model

import (
	"context"
	"time"

	"annotator"
)

// await repeats ask until it succeeds, within the patience. waited is the total wait, and grows. The returned fault is
// the last one.
func (c *Client) await(ctx context.Context, waited *time.Duration, ask func() (*annotator.Call, *Fault, error)) (*Fault,
	error,
) {
	for {
		call, fault, err := ask()
		if err != nil || fault == nil {
			return nil, err
		}
		passing := *fault
		if passing.Kind == annotator.Transient { // any transient fault is waited for
			passing.Kind = annotator.Unreachable
		}
		attempts := Attempts{
			Number: c.Policy.Attempts, Waited: *waited, Known: c.Capabilities.Answered,
			Reached: c.Capabilities.Reached,
		}
		decision := c.Policy.Next(attempts, &passing, c.Random)
		if call != nil {
			if err := c.fail(ctx, call, fault, decision.Action, decision.Reason); err != nil {
				return nil, err
			}
		}
		if decision.Action != annotator.DecisionWait {
			return fault, nil
		}
		left, err := c.pause(ctx, &decision, *waited, fault.Error())
		if err != nil {
			return nil, err
		}
		*waited += decision.Delay - left + fault.Duration
	}
}

const (
	probeTimeout = 2 * time.Minute // for one token
	probeTokens  = 10              // of a probe's prompt, about
)

// probe asks the server for one token. A health check is not enough: servers pass it while requests hang. A refusal
// counts as an answer. With a fault, the open call is returned. failed is the call for which the server is probed.
func (c *Client) probe(ctx context.Context, failed *annotator.Call) (*annotator.Call, *Fault, error) {
	history, err := c.Wire.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: "Say yes."}})
	if err != nil {
		return nil, nil, err
	}
	silent := fault(annotator.Transient, CodeSilent,
		"the endpoint sent no token for %s, though it was asked for a single one", probeTimeout)
	short, cancel := context.WithTimeoutCause(ctx, probeTimeout, silent)
	defer cancel()
	call := &annotator.Call{
		Turn: failed.Turn, Scene: failed.Scene, Purpose: annotator.PurposeProbe, Attempt: 1,
		Estimate: probeTokens,
	}
	request := Request{History: history, MaxTokens: 1}
	reply, fault, err := c.send(short, call, &request)
	switch {
	case err != nil:
		return nil, nil, err
	case reply != nil:
		return nil, nil, c.EndProbe(ctx, call)
	case fault.NotAnAPI: // a server answers, but no model
		return call, fault, nil
	}
	// the probe may be the first request that the server parses
	if what := c.Capabilities.Learn(fault, &request, c.Wire.Refusals()); what != "" {
		return nil, nil, c.fail(ctx, call, fault, annotator.DecisionAdapt, what)
	}
	switch fault.Kind {
	case annotator.Malformed, annotator.Refused, annotator.PromptTooLong:
		return nil, nil, c.fail(ctx, call, fault, annotator.DecisionAnswered, "the server is there")
	}
	return call, fault, nil
}

// pause waits for the delay of a decision. It ends early if the server is back, or on an interrupt. waited is the
// previous total wait for the server. left is the rest of the delay.
func (c *Client) pause(ctx context.Context, d *Decision, waited time.Duration, reason string) (left time.Duration,
	err error,
) {
	if d.Delay <= 0 {
		return 0, context.Cause(ctx)
	}
	notice := annotator.Notice{Kind: annotator.NoticeWait, Duration: d.Delay, Reason: reason}
	if d.Action == annotator.DecisionWait {
		notice.Waited, notice.Patience = waited, c.Policy.patience(c.Capabilities.Reached)
	}
	c.publish(notice)
	delay, end := context.WithTimeout(ctx, d.Delay)
	defer end()
	over := make(chan struct{})
	go func() {
		defer close(over)
		if d.Watch && d.Delay > watchInterval {
			c.watch(delay)
		} else {
			<-delay.Done()
		}
	}()
	select {
	case <-over:
	case <-c.Interrupt:
		end()
		<-over
		return 0, annotator.Errorf(annotator.Interrupted, "stopped while waiting for the endpoint (%s)", reason).
			WithAdvice("run again to go on")
	}
	deadline, _ := delay.Deadline()
	return max(0, time.Until(deadline)), context.Cause(ctx)
}
