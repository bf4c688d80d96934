package model

import (
	"math/bits"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"annotator"
)

// Decision is what to do about a fault.
type Decision string

// The decisions.
const (
	Retry       Decision = "retry"        // send the same request again after the delay, as the next attempt
	Wait        Decision = "wait"         // send the same request again after the delay, as the same attempt
	Shrink      Decision = "shrink"       // make the prompt strictly smaller, then send it as the next attempt
	ShrinkReply Decision = "shrink reply" // ask for fewer tokens in reply; the prompt fits
	Quarantine  Decision = "quarantine"   // refuse the scene with the fault as its reason, and go on with the next
	Halt        Decision = "halt"         // stop, resumably
)

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

// Next decides about a fault. attempt is the number of the call that failed, from 1; waited is how long this request has
// waited on decisions to Wait, whose delays together never exceed the patience. random returns numbers in [0, 1): it
// spreads each delay over its upper half, so that several stories do not all come back at once.
func (p Policy) Next(attempt int, f *Fault, waited time.Duration, random func() float64) (time.Duration, Decision) {
	switch f.Kind {
	case annotator.Transient, annotator.Malformed:
		if attempt >= p.Attempts {
			return 0, exhausted(f)
		}
		return p.delay(attempt-1, f, random()), Retry
	case annotator.Overloaded, annotator.Gone:
		if waited >= p.Patience {
			return 0, Halt
		}
		return min(p.delay(p.doublings(waited), f, random()), p.Patience-waited), Wait
	case annotator.Shrink:
		return 0, shrink(attempt, f)
	case annotator.Refused:
		return 0, Quarantine
	}
	return 0, Halt
}

// exhausted tells a request that a living server fails at, which would stop the story at the same scene for ever, from a
// server or a network that fails at any.
func exhausted(f *Fault) Decision {
	if f.Kind == annotator.Malformed || f.Status == http.StatusInternalServerError {
		return Quarantine
	}
	return Halt
}

// shrink believes a bare status once: it may mean something else than length.
func shrink(attempt int, f *Fault) Decision {
	switch {
	case f.Param == paramMaxTokens:
		return ShrinkReply
	case f.Message == "" && f.Code == "" && attempt > 1:
		return Quarantine
	}
	return Shrink
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
