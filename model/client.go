package model

import (
	"context"
	"time"

	"annotator"
)

// Recorder keeps the record of calls. Each call that is opened is ended once: a failed one and a probe by the client,
// one that brought a reply by the caller, together with what follows from the reply.
type Recorder interface {
	// Open records that a call is about to be made. It sets the call's id.
	Open(ctx context.Context, c *annotator.Call) error
	// Fail ends a call that brought no usable reply, or a probe.
	Fail(ctx context.Context, c *annotator.Call) error
}

// Client makes calls to one endpoint: it retries as the policy says, waits for a server that is not ready, learns what
// the server needs, and records each attempt. It is used by one goroutine at a time.
type Client struct {
	Wire         Wire
	Endpoint     string // as the user knows it, for messages
	Model        string // that is called; empty: not known yet
	Policy       *Policy
	Capabilities *Capabilities          // what is known of the server; it grows
	Recorder     Recorder               // nil: calls are not recorded
	Notify       func(annotator.Notice) // nil: notices are dropped
	Now          func() time.Time       // measures the progress of replies; nil: progress is not reported
	Random       func() float64         // of [0, 1), for the jitter of delays
	Interrupt    <-chan struct{}        // closed when no delay must be waited out; nil: never
	Estimate     func(*Reply) int       // tokens of a reply that the server has not counted; nil: 0
	IgnoreCounts bool                   // a count of the prompt that is too low is ignored; otherwise it is a fault
	StrictModel  bool                   // a reply of another model than the one called is a fault

	cacheCounts *CacheCounts // of the server after the newest reply; nil where they are not known

	// OnAdapt is called when a workaround was learned, before the next request is sent. It may be nil.
	OnAdapt func(context.Context) error
}

// Unanswered is the error of a request that is given up: it alone fails, not the server.
type Unanswered struct {
	*Fault
	// Quarantine, Shrink where the prompt is too long, or ShrinkReply where no shorter reply is possible
	Action annotator.CallDecision
}

// Unwrap returns the fault.
func (u *Unanswered) Unwrap() error { return u.Fault }

// Complete makes a call, retries as the policy says, and returns the reply. The caller ends Reply.Call. The error is
// *Unanswered where the request was given up, and of kind annotator.Halted where the run has to stop.
func (c *Client) Complete(ctx context.Context, r *Request) (*Reply, error) {
	for x := c.Begin(r); ; {
		if reply, err := x.Try(ctx); reply != nil || err != nil {
			return reply, err
		}
		if err := x.Wait(ctx); err != nil {
			return nil, err
		}
	}
}
