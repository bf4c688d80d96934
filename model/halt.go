package model

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"annotator"
)

// halt makes a fault the error for which the run stops.
func (c *Client) halt(ctx context.Context, fault *Fault, waited time.Duration) error {
	offers := ""
	if fault.Param == ParamModel {
		offers = c.offers(ctx)
	}
	err := annotator.Errorf(annotator.Halted, "%s: %w%s%s", c.Endpoint, fault, offers, waitedFor(waited))
	switch {
	case fault.Reason != "":
		return err.WithReason(c.reason(fault))
	case fault.Advice == "" && fault.Kind == annotator.Overloaded:
		return err.WithReason(annotator.ReasonOverloaded)
	}
	return err.WithAdvice("%s, then run again to resume",
		cmp.Or(fault.Advice, "see whether the server is well, and what is between"))
}

// reason returns a fault's reason. Whether the address has ever answered in this process makes a difference.
func (c *Client) reason(f *Fault) annotator.Reason {
	if f.Reason == annotator.ReasonUnreachable && !c.Capabilities.Reached {
		return annotator.ReasonNeverReached
	}
	return f.Reason
}

// waitedFor says how long was waited before an error; empty for less than a second.
func waitedFor(waited time.Duration) string {
	if waited < time.Second {
		return ""
	}
	return fmt.Sprintf(", and %s of waiting did not help", waited.Round(time.Second))
}
