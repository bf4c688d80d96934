package runner

import (
	"errors"
	"fmt"
	"slices"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

// Limits on repetition. A call beyond them is answered with an error.
const (
	maxIdenticalCalls = 2  // in a turn, while nothing changes
	maxCalls          = 32 // of a reply, items of a block of updates included
	maxCutReplies     = 3  // in a row, each cut in the middle of its calls
)

// callHistory is the answered calls of a turn, in order.
type callHistory struct {
	calls   []pastCall
	replies int
	updated int // number of the newest reply in text of which an update was made; 0 for none
}

type pastCall struct {
	reply           int // number of the reply that made the call, from 1
	tool, arguments string
	code            string // of the error; empty if the call succeeded
	done            bool   // the call says that the scene is worked through
	outcome         tools.Outcome
}

func (h *callHistory) add(call, result *annotator.Trace, cut bool) {
	outcome := tools.OutcomeOf(result)
	if cut {
		outcome = tools.Left
	}
	h.calls = append(h.calls, pastCall{h.replies, call.Tool, call.Arguments, result.Error, call.Parsed.Done, outcome})
}

// of returns the calls of a reply.
func (h *callHistory) of(reply int) (calls []pastCall) {
	for _, c := range h.calls {
		if c.reply == reply {
			calls = append(calls, c)
		}
	}
	return calls
}

// keptOpen reports whether a reply before the given one called the scene finished, and something of it was refused. The
// model has then had its one more reply.
func (h *callHistory) keptOpen(reply int) bool {
	for before := 1; before < reply; before++ {
		calls := h.of(before)
		if slices.ContainsFunc(calls, func(c pastCall) bool { return c.done }) &&
			slices.ContainsFunc(calls, func(c pastCall) bool { return c.outcome == tools.Refused }) {
			return true
		}
	}
	return false
}

// repeats reports whether the same call has run often enough, with nothing in between that could change its answer. The
// same change made again changes nothing. A declared intent can change only the answer of a call that was denied before
// it.
func (h *callHistory) repeats(call *annotator.Trace, changes func(tool string) bool) bool {
	identical, declared := 0, false
	for i := len(h.calls) - 1; i >= 0; i-- {
		switch past := &h.calls[i]; {
		// it did not run
		case past.code == tools.Truncated || past.code == tools.RoundLimit || past.code == tools.CallLimit:
		case past.tool == call.Tool && past.arguments == call.Arguments:
			if !declared || past.code != policy.IntentRequired && past.code != policy.NotPermitted {
				identical++
			}
		case past.tool == policy.SelectIntent:
			declared = declared || past.code == ""
		case past.code == "" && changes(past.tool):
			return identical >= maxIdenticalCalls
		}
	}
	return identical >= maxIdenticalCalls
}

// repeatedReplies counts the replies with calls that were refused as repeated.
func (h *callHistory) repeatedReplies() int {
	n, last := 0, -1
	for i := range h.calls {
		if past := &h.calls[i]; past.code == tools.Repeated && past.reply != last {
			n, last = n+1, past.reply
		}
	}
	return n
}

// cutReplies counts the newest replies in a row whose calls did not run because the token limit cut the reply.
func (h *callHistory) cutReplies() int {
	n, last := 0, -1
	for i := len(h.calls) - 1; i >= 0 && h.calls[i].code == tools.Truncated; i-- {
		if h.calls[i].reply != last {
			n, last = n+1, h.calls[i].reply
		}
	}
	return n
}

// giveUpReason returns why the model is not called again in this scene; nil if it is. It depends on the journal alone,
// so that a resumed run gives up where an uninterrupted one does.
func (r *reading) giveUpReason() error {
	switch s := r.scene; {
	case s.rounds > r.config.ToolRounds+1:
		return fmt.Errorf("the model went on calling tools after %d rounds", s.rounds)
	case s.history.cutReplies() > maxCutReplies:
		return annotator.Errorf(annotator.Malformed,
			"the model's calls are cut at the limit of %d tokens again and again",
			r.window.Budget.Longest(r.window.Tokens())).
			WithReason(annotator.ReasonReplyCut)
	case s.history.repeatedReplies() > 1:
		return errors.New("the model repeats calls that were answered, though it was told so")
	}
	return nil
}
