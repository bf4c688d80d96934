package model

import (
	"fmt"
	"math/bits"
	"net/http"
	"time"

	"annotator"
)

// Attempts is the history of a request's attempts.
type Attempts struct {
	Number  int           // of the current call, from 1
	Shrunk  int           // how often the request was shrunk
	Waited  time.Duration // total, for a server that is unreachable or not ready
	Adapted int           // how often a workaround was learned from a failure of the request
	Alive   bool          // the server has answered a probe since the newest failure
	Grown   bool          // the reply was allowed more tokens
	Known   bool          // a model has answered at the endpoint before
	Reached bool          // a server has answered at the endpoint in this process
}

// add records a decision about a failed call.
func (a *Attempts) add(d *Decision, f *Fault) {
	a.Alive = false
	if d.Charged {
		a.Number++
	}
	switch d.Action {
	case annotator.DecisionWait:
		a.Waited += d.Delay + f.Duration
	case annotator.DecisionShrink, annotator.DecisionShrinkReply: // the next request is another one
		a.Number, a.Shrunk = 1, a.Shrunk+1
	case annotator.DecisionGrowReply:
		a.Grown = true
	case annotator.DecisionAdapt:
		a.Adapted++
	}
}

// Decision is what to do about a failed call, and why.
type Decision struct {
	Action  annotator.CallDecision
	Delay   time.Duration
	Probe   bool   // after the delay, the server must answer a probe before the request is sent again
	Watch   bool   // the delay ends early if a server begins to answer
	Charged bool   // the call counts as one of the attempts
	Reason  string // for the record
}

// Policy decides when to retry, how often and for how long. It has no state.
type Policy struct {
	Attempts int           // calls for one request, including the first; waits do not count
	Base     time.Duration // the first delay; at least a millisecond
	Max      time.Duration // the maximum delay, whatever the server asks for
	Patience time.Duration // total wait for a server that is loading, overloaded or unreachable

	// FirstContact is the total wait for a URL at which nothing has answered in this process: it may be wrong. 0, and
	// more than Patience, means Patience.
	FirstContact time.Duration
}

// DefaultPolicy waits long enough for a large model to load, and a minute for a first answer of any server.
func DefaultPolicy() Policy {
	return Policy{
		Attempts: 4, Base: time.Second, Max: time.Minute, Patience: 45 * time.Minute,
		FirstContact: time.Minute,
	}
}

// Next decides about a fault. The sum of all waits never exceeds the patience. random returns numbers in [0, 1). It
// spreads each delay over its upper half, so that several runs do not retry at the same time.
func (p Policy) Next(a Attempts, f *Fault, random func() float64) Decision {
	if f.NotAnAPI {
		return p.notAnAPI(a, f, random)
	}
	switch f.Kind {
	case annotator.Transient, annotator.Malformed:
		return p.again(a, f, random)
	case annotator.Overloaded, annotator.Unreachable:
		return p.wait(a, f, random)
	case annotator.PromptTooLong:
		return shrink(a.Shrunk, f)
	case annotator.Refused:
		return charged(annotator.DecisionQuarantine, "the same request would be refused again")
	}
	return charged(annotator.DecisionHalt, "it is not for the program to mend")
}

func charged(action annotator.CallDecision, format string, args ...any) Decision {
	return Decision{Action: action, Charged: true, Reason: fmt.Sprintf(format, args...)}
}

// again decides about a fault that another attempt may not have. After a second failure in a row the server may be
// down, so a probe is sent before the long prompt.
func (p Policy) again(a Attempts, f *Fault, random func() float64) Decision {
	switch {
	case f.Code == CodeThinking && !a.Grown:
		return charged(annotator.DecisionGrowReply, "once")
	case f.Code == CodeThinking:
		return charged(annotator.DecisionQuarantine, "a longer reply was no better")
	case a.Number >= p.Attempts:
		return p.exhausted(a, f)
	}
	d := p.retry(a, f, random)
	if f.Kind == annotator.Transient && (a.Number > 1 || f.Code == CodeSilent) {
		d.Probe = true
		d.Reason += ", once a probe is answered"
	}
	return d
}

// retry sends the request again as the next attempt.
func (p Policy) retry(a Attempts, f *Fault, random func() float64) Decision {
	delay := p.delay(a.Number-1, f, random())
	d := charged(annotator.DecisionRetry, "attempt %d of %d in %s", a.Number+1, p.Attempts,
		delay.Round(time.Millisecond))
	d.Delay = delay
	return d
}

// notAnAPI decides about an answer that is not of the API. If a model has answered before, a proxy answers in its
// place, or the server is starting: it is waited for like an unreachable server. Otherwise the URL is wrong.
func (p Policy) notAnAPI(a Attempts, f *Fault, random func() float64) Decision {
	if a.Known {
		unreachable := *f
		unreachable.Kind = annotator.Unreachable
		return p.wait(a, &unreachable, random)
	}
	if a.Number >= p.Attempts {
		return charged(annotator.DecisionHalt, "no model has ever answered at this address")
	}
	return p.retry(a, f, random)
}

// exhausted distinguishes a request that fails on a working server from a server or a network that fails on any
// request. Such a request is given up: it would stop the run at the same scene forever.
func (p Policy) exhausted(a Attempts, f *Fault) Decision {
	if a.Alive || f.Kind == annotator.Malformed || f.Status == http.StatusInternalServerError {
		return charged(annotator.DecisionQuarantine, "%d attempts failed at this request alone", a.Number)
	}
	return charged(annotator.DecisionHalt, "%d attempts failed", a.Number)
}

// wait decides about a server that is unreachable or not ready. Waiting does not count as an attempt, unless the server
// answered a probe right before and is unreachable now: some prompts crash a server. A server that reports a failed
// device is waited for in any case.
func (p Policy) wait(a Attempts, f *Fault, random func() float64) Decision {
	patience := p.patience(a.Reached)
	limited := f.Status == http.StatusTooManyRequests
	counts := a.Alive && f.Kind == annotator.Unreachable && !f.ServerFailed
	switch {
	case counts && a.Number >= p.Attempts:
		return p.exhausted(a, f)
	case a.Waited >= patience:
		return Decision{
			Action: annotator.DecisionHalt, Charged: counts,
			Reason: "the patience of " + patience.String() + " is at its end",
		}
	}
	doublings := bits.Len64(uint64(max(a.Waited, 0) / p.base()))
	delay := min(p.delay(doublings, f, random()), patience-a.Waited)
	reason := fmt.Sprintf("%s, after %s of at most %s", delay.Round(time.Millisecond), a.Waited.Round(time.Millisecond),
		patience)
	return Decision{
		Action: annotator.DecisionWait, Delay: delay, Probe: !limited, Watch: !limited && f.RetryAfter == 0,
		Charged: counts, Reason: reason,
	}
}

// patience returns the total wait for a server. reached reports whether a server has answered at the URL.
func (p Policy) patience(reached bool) time.Duration {
	if !reached && p.FirstContact > 0 {
		return min(p.FirstContact, p.Patience)
	}
	return p.Patience
}

// maxShrinks limits how often a request is shrunk. No window or reply can be halved as often.
const maxShrinks = 24

// shrink decides about a request that is too long. A status alone counts once, because it may have another meaning.
func shrink(shrunk int, f *Fault) Decision {
	switch {
	case shrunk >= maxShrinks:
		return charged(annotator.DecisionQuarantine, "whatever is sent is too long for the server")
	case f.Param == paramMaxTokens:
		return charged(annotator.DecisionShrinkReply, "the prompt fits, the limit on the reply does not")
	case f.Message == "" && f.Code == "" && shrunk > 0:
		return charged(annotator.DecisionQuarantine, "a shorter prompt was refused, too, and nothing says why")
	}
	return charged(annotator.DecisionShrink, "the prompt is longer than the server takes")
}

func (p Policy) base() time.Duration { return max(p.Base, time.Millisecond) }

// delay returns the longer of the back-off and the server's delay, but at most Max.
func (p Policy) delay(doublings int, f *Fault, random float64) time.Duration {
	longest := max(p.Max, p.base())
	full := p.base()
	for n := 0; n < doublings && full < longest; n++ {
		full = min(2*full, longest)
	}
	half := full / 2
	return max(half+time.Duration(random*float64(half)), min(f.RetryAfter, longest))
}
