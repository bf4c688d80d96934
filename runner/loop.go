package runner

import (
	"fmt"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

// Bounds on what a model gets done in circles. What is beyond them is answered with an error, for the model to do better.
const (
	mostAlike = 2  // identical calls in a turn that run while nothing changes
	mostCalls = 32 // of a reply that run, the items of a block of updates included
)

// run is a call that was answered.
type run struct {
	reply           int // of the turn: which one made the call
	tool, arguments string
	code            string // of the error; empty where the call did what it was asked to
}

// runs are the calls of a turn that were answered, in order.
type runs struct {
	all     []run
	replies int
}

func (rs *runs) take(call, result *annotator.Trace) {
	rs.all = append(rs.all, run{rs.replies, call.Tool, call.Arguments, result.Error})
}

// circles reports whether a call has run often enough: the same call, with nothing done in between that could lead to another
// answer. The same change made again leads to none. A declaration does, but only for what was denied before it: a model that
// declares before each call goes in circles like any other.
func (rs *runs) circles(call *annotator.ToolCall, changes func(tool string) bool) bool {
	alike, declared := 0, false
	for i := len(rs.all) - 1; i >= 0; i-- {
		switch r := &rs.all[i]; {
		case r.code == tools.Truncated || r.code == tools.RoundLimit || r.code == tools.CallLimit: // it did not run
		case r.tool == call.Name && r.arguments == call.Arguments:
			if !declared || r.code != policy.IntentRequired && r.code != policy.NotPermitted {
				alike++
			}
		case r.tool == policy.SelectIntent:
			declared = declared || r.code == ""
		case r.code == "" && changes(r.tool):
			return alike >= mostAlike
		}
	}
	return alike >= mostAlike
}

// circled counts the replies that went on in circles.
func (rs *runs) circled() int {
	n, last := 0, -1
	for i := range rs.all {
		if r := &rs.all[i]; r.code == tools.Repeated && r.reply != last {
			n, last = n+1, r.reply
		}
	}
	return n
}

// mostCut is how many replies in a row may be cut in the middle of their calls: one that is told three times to make smaller ones
// will not, and would end the scene with nothing done.
const mostCut = 3

// cut counts the newest replies in a row whose calls were not run because the limit had cut them.
func (rs *runs) cut() int {
	n, last := 0, -1
	for i := len(rs.all) - 1; i >= 0 && rs.all[i].code == tools.Truncated; i-- {
		if rs.all[i].reply != last {
			n, last = n+1, rs.all[i].reply
		}
	}
	return n
}

// givenUp tells why the model is not asked again in this scene; empty where it is. That follows from the journal alone, so that a
// run that was killed before it had refused the scene does so when it goes on.
func (r *Runner) givenUp() string {
	switch d := r.day; {
	case d.rounds > r.Config.ToolRounds+1:
		return fmt.Sprintf("the model went on calling tools after %d rounds", d.rounds)
	case d.ran.cut() > mostCut:
		return fmt.Sprintf("the model's calls are cut at the limit of %d tokens again and again; raise --max-tokens", r.window.Limits.Reply)
	case d.ran.circled() > 1:
		return "the model goes round in circles: it repeats calls that were answered, though it was told so"
	}
	return ""
}

// changes reports whether a tool can change what another call finds.
func (r *Runner) changes(name string) bool {
	tool, ok := r.Tools.Tool(name)
	return ok && tool.Permission != tools.Reads && tool.Permission != tools.Declares
}
