package model

import (
	"fmt"
	"math/bits"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"annotator"
)

// Decision is what to do about a fault.
type Decision = annotator.CallDecision

// The decisions.
const (
	Retry       Decision = "retry"        // send the same request again after the delay, as the next attempt
	Wait        Decision = "wait"         // send the same request again after the delay, as the same attempt
	Shrink      Decision = "shrink"       // make the prompt strictly smaller, then send it as the next attempt
	ShrinkReply Decision = "shrink reply" // ask for fewer tokens in reply; the prompt fits
	GrowReply   Decision = "grow reply"   // allow more tokens in reply, as the next attempt
	Adapt       Decision = "adapt"        // the wire has learned what the server wants: send it again, as the same attempt
	Quarantine  Decision = "quarantine"   // refuse the scene with the fault as its reason, and go on with the next
	Halt        Decision = "halt"         // stop, resumably
)

// Tried is what was done for a request before a decision about it.
type Tried struct {
	Attempt int           // number of the call that failed, from 1
	Shrunk  int           // how often the request was made smaller before it
	Waited  time.Duration // on decisions to Wait, and for answers to probes
	Alive   bool          // the server had answered a probe right before this call
	Known   bool          // the endpoint has answered as one does, in this run
	Grown   bool          // the reply was allowed more tokens already
}

// Ruling is a decision with all that belongs to it.
type Ruling struct {
	Decision Decision
	Delay    time.Duration
	Probe    bool   // after the delay, the server has to answer a probe before the request is sent again
	Charged  bool   // the call counts as one of the attempts
	Why      string // for the record
}

// Policy says when to try again, how often and how long. It holds no state.
type Policy struct {
	Attempts int           // calls for one request, the first included; waits do not count
	Base     time.Duration // the first delay; at least a millisecond
	Max      time.Duration // no delay is longer, whatever the server asks for
	Patience time.Duration // how long to wait, in all, for a server that is loading, overloaded or gone
}

// DefaultPolicy gives a large model the time to load once in the middle of a story.
func DefaultPolicy() Policy {
	return Policy{Attempts: 4, Base: time.Second, Max: time.Minute, Patience: 45 * time.Minute}
}

// Next decides about a fault. The delays of waiting together never exceed the patience. random returns numbers in [0, 1): it
// spreads each delay over its upper half, so that several stories do not all come back at once.
func (p Policy) Next(t Tried, f *Fault, random func() float64) Ruling {
	if f.NotAnAPI {
		return p.notAnAPI(t, f, random)
	}
	switch f.Kind {
	case annotator.Transient, annotator.Malformed:
		return p.again(t, f, random)
	case annotator.Overloaded, annotator.Unreachable:
		return p.wait(t, f, random)
	case annotator.PromptTooLong:
		return shrink(t.Shrunk, f)
	case annotator.Refused:
		return Ruling{Decision: Quarantine, Charged: true, Why: "the same request would be refused again"}
	}
	return Ruling{Decision: Halt, Charged: true, Why: "it is not for the program to mend"}
}

// again is for what may go better another time. A second failure in a row is taken for a sign that the server is not well, and a
// long prompt is nothing to find that out with.
func (p Policy) again(t Tried, f *Fault, random func() float64) Ruling {
	switch {
	case f.Code == CodeThinking && !t.Grown:
		return Ruling{Decision: GrowReply, Charged: true, Why: "once"}
	case f.Code == CodeThinking:
		return Ruling{Decision: Quarantine, Charged: true, Why: "a longer reply was no better"}
	case t.Attempt >= p.Attempts:
		return p.exhausted(t, f)
	}
	delay := p.delay(t.Attempt-1, f, random())
	sick := f.Kind == annotator.Transient && (t.Attempt > 1 || f.Code == CodeSilent)
	why := p.attempts(t.Attempt+1, delay)
	if sick {
		why += ", once a probe is answered"
	}
	return Ruling{Decision: Retry, Delay: delay, Probe: sick, Charged: true, Why: why}
}

// stranger is for what does not speak the API. Where a model has answered before, something stands in its place for now: the page of
// a proxy, a server that starts. It is waited for as a server is that is gone. Else the address will be wrong.
func (p Policy) notAnAPI(t Tried, f *Fault, random func() float64) Ruling {
	if t.Known {
		gone := *f
		gone.Kind = annotator.Unreachable
		return p.wait(t, &gone, random)
	}
	if t.Attempt >= p.Attempts {
		return Ruling{Decision: Halt, Charged: true, Why: "no model has ever answered at this address"}
	}
	delay := p.delay(t.Attempt-1, f, random())
	return Ruling{Decision: Retry, Delay: delay, Charged: true, Why: p.attempts(t.Attempt+1, delay)}
}

// attempts says when a request is sent for which time.
func (p Policy) attempts(n int, delay time.Duration) string {
	return fmt.Sprintf("attempt %d of %d in %s", n, p.Attempts, delay.Round(time.Millisecond))
}

// exhausted tells a request that a living server fails at, which would stop the story at the same scene for ever, from a
// server or a network that fails at any.
func (p Policy) exhausted(t Tried, f *Fault) Ruling {
	if t.Alive || f.Kind == annotator.Malformed || f.Status == http.StatusInternalServerError {
		return Ruling{Decision: Quarantine, Charged: true, Why: fmt.Sprintf("%d attempts failed at this request alone", t.Attempt)}
	}
	return Ruling{Decision: Halt, Charged: true, Why: fmt.Sprintf("%d attempts failed", t.Attempt)}
}

// wait is for a server that is not there or not ready. It does not use up the attempts, unless the server was well right before and is
// gone now: there are prompts that bring a server down.
func (p Policy) wait(t Tried, f *Fault, random func() float64) Ruling {
	limited := f.Status == http.StatusTooManyRequests
	charged := t.Alive && f.Kind == annotator.Unreachable
	switch {
	case charged && t.Attempt >= p.Attempts:
		return p.exhausted(t, f)
	case t.Waited >= p.Patience:
		return Ruling{Decision: Halt, Charged: charged, Why: "the patience of " + p.Patience.String() + " is at its end"}
	}
	delay := min(p.delay(p.doublings(t.Waited), f, random()), p.Patience-t.Waited)
	why := fmt.Sprintf("%s, after %s of at most %s", delay.Round(time.Millisecond), t.Waited.Round(time.Millisecond), p.Patience)
	return Ruling{Decision: Wait, Delay: delay, Probe: !limited, Charged: charged, Why: why}
}

// mostShrinks is how often a request is made smaller: more often than any window or reply can be halved.
const mostShrinks = 24

// shrink believes a bare status once: it may mean something else than length.
func shrink(shrunk int, f *Fault) Ruling {
	switch {
	case shrunk >= mostShrinks:
		return Ruling{Decision: Quarantine, Charged: true, Why: "whatever is sent is too long for the server"}
	case f.Param == paramMaxTokens:
		return Ruling{Decision: ShrinkReply, Charged: true, Why: "the prompt fits, the limit on the reply does not"}
	case f.Message == "" && f.Code == "" && shrunk > 0:
		return Ruling{Decision: Quarantine, Charged: true, Why: "a shorter prompt was refused, too, and nothing says why"}
	}
	return Ruling{Decision: Shrink, Charged: true, Why: "the prompt is longer than the server takes"}
}

// doublings is how often the delay has doubled, for one who has waited so long.
func (p Policy) doublings(waited time.Duration) int {
	return bits.Len64(uint64(max(waited, 0) / p.base()))
}

func (p Policy) base() time.Duration { return max(p.Base, time.Millisecond) }

// mostDoublings lead from a millisecond past every Max.
const mostDoublings = 62

// delay is the longer of what the back-off and what the server says, but at most Max.
func (p Policy) delay(doublings int, f *Fault, random float64) time.Duration {
	longest := max(p.Max, p.base())
	b := backoff.ExponentialBackOff{InitialInterval: p.base(), Multiplier: 2, MaxInterval: longest}
	half := b.NextBackOff() / 2
	for range min(doublings, mostDoublings) {
		half = b.NextBackOff() / 2
	}
	return max(half+time.Duration(random*float64(half)), min(f.RetryAfter, longest))
}
