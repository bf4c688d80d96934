package model

import (
	"fmt"
	"time"

	"annotator"
)

func (c *Client) publish(n annotator.Notice) {
	if c.Notify != nil {
		c.Notify(n)
	}
}

func (c *Client) warn(text string) {
	c.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: text})
}

// warnBecause publishes a warning with a reason, for which a program may have advice.
func (c *Client) warnBecause(reason annotator.Reason, format string, args ...any) {
	err := annotator.Errorf("", format, args...).WithReason(reason)
	c.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: err.Error(), Err: err})
}

func (c *Client) notify(call *annotator.Call, n annotator.Notice) {
	n.Purpose, n.Attempt = call.Purpose, call.Attempt
	c.publish(n)
}

func (c *Client) notifyEnd(call *annotator.Call) {
	decision := string(call.Decision)
	if call.Reason != "" {
		decision += ": " + call.Reason
	}
	c.notify(call, annotator.Notice{
		Kind: annotator.NoticeCall, Usage: call.Usage, Duration: call.Duration, Decision: decision, Reason: call.Fault,
	})
}

// progressInterval is the minimum time between two notices of a reply's progress. A server may stream hundreds of
// pieces a second.
const progressInterval = time.Second

// progress returns the function that publishes how much of a reply has arrived.
func (c *Client) progress(call *annotator.Call) func(bytes int) {
	if c.Now == nil {
		return nil
	}
	began := c.Now()
	reported := began
	return func(bytes int) {
		now := c.Now()
		if now.Sub(reported) < progressInterval {
			return
		}
		reported = now
		c.notify(call, annotator.Notice{Kind: annotator.NoticeStream, Bytes: bytes, Duration: now.Sub(began)})
	}
}

// silence returns the function that publishes that no token of a reply arrives.
func (c *Client) silence(call *annotator.Call) func(silent, limit time.Duration) {
	return func(silent, limit time.Duration) {
		reason := fmt.Sprintf("no token has come from the endpoint for %s; after %s the call is given up",
			silent.Round(time.Second), limit.Round(time.Second))
		c.notify(call, annotator.Notice{Kind: annotator.NoticeSilence, Duration: silent, Reason: reason})
	}
}
