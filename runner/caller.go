package runner

import (
	"context"
	"errors"
	"time"

	"annotator"
	"annotator/context/tokens"
	"annotator/model"
	"annotator/storage"
)

// Ledger keeps account of calls to the model.
type Ledger interface {
	// OpenCall writes that a call is about to be made.
	OpenCall(ctx context.Context, c *storage.Call) error
	// FailCall ends a call that brought no usable reply.
	FailCall(ctx context.Context, c *storage.Call) error
}

// Caller makes calls to the model: again and again, as the retry policy says, and each attempt on record.
type Caller struct {
	Wire     model.Wire
	Ledger   Ledger
	Endpoint string // as the user knows it
	Policy   *model.Policy
	Random   func() float64         // of [0, 1): the jitter of waiting
	Publish  func(annotator.Notice) // tells whoever watches
	Hurry    <-chan struct{}        // closed when a wait must not be sat out; nil: never
}

func (r *Runner) caller() *Caller {
	return &Caller{
		Wire: r.Wire, Ledger: r.Store, Endpoint: r.Config.Endpoint, Policy: &r.Config.Retry, Random: r.Random,
		Publish: r.publish, Hurry: r.hurry,
	}
}

// trial is a request under way: how often it was tried, and how long it has waited.
type trial struct {
	attempt  int           // failed ones
	waited   time.Duration // for a server that is not there or not ready
	delay    time.Duration // until the next attempt
	decision model.Decision
	reason   string
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

// noAnswer is the fault for which a request got no answer: whatever it was for has to do without.
type noAnswer struct{ *model.Fault }

// Is makes it one of the errors for which a step of compaction is given up.
func (noAnswer) Is(target error) bool { return target == errNotBetter }

// insist makes a call, tries again as the retry policy says, and returns the attempt that brought the reply, which is the
// caller's to end. The error is noAnswer where there is none to be had.
func (c *Caller) insist(ctx context.Context, call storage.Call, request *model.Request) (*storage.Call, *model.Reply, error) {
	var t trial
	for {
		attempt := call
		attempt.Attempt = t.attempt + 1
		reply, fault, err := c.attempt(ctx, &attempt, request, &t)
		if err != nil {
			return nil, nil, err
		}
		if reply != nil {
			return &attempt, reply, nil
		}
		switch t.decision {
		case model.Retry, model.Wait:
			if err := c.pause(ctx, &t); err != nil {
				return nil, nil, err
			}
		case model.Halt:
			return nil, nil, c.halt(fault)
		default:
			return nil, nil, noAnswer{fault}
		}
	}
}

// attempt makes one call. A failed one is on record with what is to be done about it, as the retry policy says; one that
// brought a reply is the caller's to end. Reply and fault are both nil only with an error.
func (c *Caller) attempt(ctx context.Context, call *storage.Call, request *model.Request, t *trial) (*model.Reply, *model.Fault, error) {
	if err := c.Ledger.OpenCall(ctx, call); err != nil {
		return nil, nil, err
	}
	reply, err := c.Wire.Complete(ctx, request)
	if err == nil {
		call.Model, call.Finish, call.Usage = reply.Model, reply.Finish, accounted(call, reply)
		call.FirstByte, call.Duration = reply.FirstByte, reply.Duration
		c.Publish(annotator.Notice{Kind: annotator.NoticeCall, Usage: &call.Usage, Duration: reply.Duration})
		return reply, nil, nil
	}
	fault := asFault(err)
	t.failed(fault, c.Policy, c.Random)
	call.Outcome, call.Decision, call.Status, call.Fault = string(fault.Kind), string(t.decision), fault.Status, fault.Error()
	call.Usage, call.Raw, call.FirstByte, call.Duration = fault.Usage, fault.Raw, fault.FirstByte, fault.Duration
	if ctx.Err() != nil {
		call.Outcome, call.Decision = "interrupted", "stopped by a signal"
	}
	if err := c.Ledger.FailCall(ctx, call); err != nil {
		return nil, nil, err
	}
	c.Publish(annotator.Notice{Kind: annotator.NoticeCall, Duration: fault.Duration, Reason: fault.Error()})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return nil, fault, nil
}

// accounted is what a call cost: as the server reports it, else as it is estimated here.
func accounted(call *storage.Call, reply *model.Reply) annotator.Usage {
	if reply.Usage.Exact {
		return reply.Usage
	}
	written := tokens.Estimate(reply.Text) + tokens.Estimate(reply.Reasoning)
	for i := range reply.Calls {
		written += tokens.Estimate(reply.Calls[i].Arguments) + tokens.PerCall
	}
	return annotator.Usage{Prompt: call.Estimate, Completion: written}
}

// pause waits for the next attempt. A stop does not sit it out.
func (c *Caller) pause(ctx context.Context, t *trial) error {
	c.Publish(annotator.Notice{Kind: annotator.NoticeWait, Duration: t.delay, Reason: t.reason})
	timer := time.NewTimer(t.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.Hurry:
		return annotator.Errorf(annotator.Interrupted, "stopped while waiting for the endpoint (%s)", t.reason)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Caller) halt(fault *model.Fault) error {
	return annotator.Errorf(annotator.Halted, "%s: %w", c.Endpoint, fault).WithAdvice("%s", advice(fault))
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
