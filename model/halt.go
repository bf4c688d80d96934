package model

import (
	"context"
	"fmt"
	"time"

	"annotator"
)

// halt makes a fault the error for which the run stops.
func (c *Client) halt(ctx context.Context, fault *Fault, waited time.Duration) error {
	return annotator.Errorf(annotator.Halted, "%s: %w%s", c.Endpoint, fault, waitedFor(waited)).WithAdvice("%s, then run again to resume", c.advice(ctx, fault))
}

func (c *Client) advice(ctx context.Context, f *Fault) string {
	switch {
	case f.Param == ParamModel:
		return f.Advice + c.offers(ctx)
	case f.Advice != "":
		return f.Advice
	case f.Kind == annotator.Overloaded:
		return "see what keeps the server busy, or wait longer for it with --patience"
	}
	return "see whether the server is well, and what stands between"
}

// waitedFor says how long was waited before an error; empty for less than a second.
func waitedFor(waited time.Duration) string {
	if waited < time.Second {
		return ""
	}
	return fmt.Sprintf(", and %s of waiting did not help", waited.Round(time.Second))
}
