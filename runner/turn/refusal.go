package turn

import (
	"errors"
	"fmt"

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

// Refusal returns why a call of the newest reply must not run, in a scene that may have some rounds of tools. The code
// is empty if the call may run. The function changes reports whether a tool can change the answer to another call.
func (s *State) Refusal(call *annotator.Trace, rounds int, changes func(tool string) bool) (code, reason string) {
	switch {
	case len(s.Calls) > 0 && s.Calls[0].Error == tools.Truncated:
		return tools.Truncated,
			"the reply reached its limit in tokens within this call or right behind it, and the call was not made: " +
				"make it again, and what else is still missing, in fewer or smaller calls"
	case s.Rounds > rounds:
		return tools.RoundLimit,
			fmt.Sprintf("this scene has had its %d rounds of tools; end it with a line of text", rounds)
	case s.Answered()+s.Updates >= maxCalls:
		return tools.CallLimit,
			fmt.Sprintf("a reply has %d calls run, and this one was not; make it again if it matters", maxCalls)
	case call.Tool != policy.SelectIntent && s.repeats(call, changes): // an intent may be declared again
		return tools.Repeated,
			"this very call was answered before, and nothing has changed since: use that answer, call something " +
				"else, or end the scene with one line of text"
	}
	return "", ""
}

// repeats reports whether the same call has run often enough, with nothing in between that could change its answer. The
// same change made again changes nothing. A declared intent can change only the answer of a call that was denied before
// it.
func (s *State) repeats(call *annotator.Trace, changes func(tool string) bool) bool {
	var calls []pastCall
	for _, r := range s.replies {
		calls = append(calls, r.calls...)
	}
	identical, declared := 0, false
	for i := len(calls) - 1; i >= 0; i-- {
		switch past := &calls[i]; {
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

// GiveUp returns why the model is not called again in a scene that may have some rounds of tools; nil if it is.
// MaxReply is the limit of its replies in tokens.
func (s *State) GiveUp(rounds, maxReply int) error {
	switch {
	case s.Rounds > rounds+1:
		return fmt.Errorf("the model went on calling tools after %d rounds", s.Rounds)
	case s.cutReplies() > maxCutReplies:
		return annotator.Errorf(annotator.Malformed,
			"the model's calls are cut at the limit of %d tokens again and again", maxReply).
			WithReason(annotator.ReasonReplyCut)
	case s.repeatedReplies() > 1:
		return errors.New("the model repeats calls that were answered, though it was told so")
	}
	return nil
}

// repeatedReplies counts the replies with calls that were refused as repeated.
func (s *State) repeatedReplies() (n int) {
	for i := range s.replies {
		if s.replies[i].failed(tools.Repeated) {
			n++
		}
	}
	return n
}

// cutReplies counts the newest replies in a row whose calls did not run because the token limit cut the reply.
func (s *State) cutReplies() (n int) {
	for i := len(s.replies) - 1; i >= 0; i-- {
		calls, cut := s.replies[i].calls, 0
		for cut < len(calls) && calls[len(calls)-1-cut].code == tools.Truncated {
			cut++
		}
		if cut > 0 {
			n++
		}
		if cut < len(calls) {
			break
		}
	}
	return n
}
