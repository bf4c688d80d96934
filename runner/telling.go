package runner

import (
	"time"

	"annotator"
)

// Publisher is handed what happens in a run, for whoever watches. The run goes on when it returns.
type Publisher interface {
	Publish(annotator.Notice)
}

func (r *Runner) publish(n annotator.Notice) {
	n.Time, n.Total, n.Done = r.Now(), r.total, r.done
	if r.day != nil {
		n.Scene, n.Turn = r.day.row.N, r.day.turn
	}
	r.Bus.Publish(n)
}

func (r *Runner) word(text string) {
	r.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: text})
}

// heardEvery is the least time between two notices of a reply under way: a model may send hundreds of pieces a second, and whoever
// keeps the notices of days has more use for those of other kinds.
const heardEvery = time.Second

// heard returns what a request is to tell of its reply while it comes in.
func (c *Caller) heard(call *annotator.Call) func(bytes int) {
	if c.Now == nil {
		return nil
	}
	began := c.Now()
	told := began
	return func(bytes int) {
		now := c.Now()
		if now.Sub(told) < heardEvery {
			return
		}
		told = now
		c.Publish(annotator.Notice{
			Kind: annotator.NoticeStream, Purpose: call.Purpose, Attempt: call.Attempt, Bytes: bytes, Duration: now.Sub(began),
		})
	}
}

// begins tells that a call is about to be made.
func (c *Caller) begins(call *annotator.Call) {
	c.Publish(annotator.Notice{
		Kind: annotator.NoticeCalling, Purpose: call.Purpose, Attempt: call.Attempt, Usage: annotator.Usage{Prompt: call.Estimate},
	})
}

// ended tells what came of a call.
func (c *Caller) ended(call *annotator.Call) {
	decision := string(call.Decision)
	if call.Reason != "" {
		decision += ": " + call.Reason
	}
	c.Publish(annotator.Notice{
		Kind: annotator.NoticeCall, Purpose: call.Purpose, Attempt: call.Attempt, Usage: call.Usage, Duration: call.Duration,
		Decision: decision, Reason: call.Fault,
	})
}
