package model

import (
	"context"
	"time"

	"annotator"
)

// Recorder records calls. Each call that is opened is ended once. The client ends probes and failed calls. The caller
// ends a call with a reply, together with what follows from the reply.
type Recorder interface {
	// Open records a call before it is made. It sets the call's id.
	Open(ctx context.Context, c *annotator.Call) error
	// Fail ends a probe, or a call without a usable reply.
	Fail(ctx context.Context, c *annotator.Call) error
}

// Client makes calls to one endpoint. It retries by its policy, waits for a server that is not ready, learns the
// workarounds that the server needs, and records each attempt. It is used by one goroutine at a time.
type Client struct {
	Wire         Wire
	Endpoint     string // as the user knows it, for messages
	Model        string // its name; empty: not known yet
	Policy       *Policy
	Capabilities *Capabilities          // learned from replies and faults
	Recorder     Recorder               // nil: calls are not recorded
	Notify       func(annotator.Notice) // nil: notices are dropped
	Now          func() time.Time       // measures the progress of replies; nil: progress is not reported
	Random       func() float64         // of [0, 1), for the jitter of delays
	Interrupt    <-chan struct{}        // closed to end a delay; nil: never
	Estimate     func(*Reply) int       // tokens of a reply that the server has not counted; nil: 0
	IgnoreCounts bool                   // a count of the prompt that is too low is ignored; otherwise it is a fault
	StrictModel  bool                   // a reply of another model than the one called is a fault

	cacheCounts *CacheCounts // of the server after the newest reply; nil if unknown

	// OnAdapt is called after a workaround was learned, before the next request is sent. It may be nil.
	OnAdapt func(context.Context) error
}

// Unanswered is the error of a request that is given up because the request fails, not the server.
type Unanswered struct {
	*Fault
	// Quarantine; Shrink if the prompt is too long; ShrinkReply if no shorter reply is possible
	Action annotator.CallDecision
}

// Unwrap returns the fault.
func (u *Unanswered) Unwrap() error { return u.Fault }

// Complete makes a call, retries by the policy, and returns the reply. The caller ends Reply.Call. The error is
// *Unanswered if the request was given up, and of kind annotator.Halted if the run must stop.
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
