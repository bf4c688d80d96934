package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/model"
	"annotator/model/textcalls"
	"annotator/policy"
	"annotator/tools"
)

// replyRows returns the rows of a reply: its text, then each call, with what is read of them. A reply whose calls or
// text were cut is marked, and so is a call that may have lost its end.
func (r *reading) replyRows(reply *model.Reply) []annotator.Trace {
	row := r.scene.nextRow(annotator.TraceReply)
	row.Content, row.Reasoning, row.Tokens = reply.Text, reply.Reasoning, tokens.EstimateMessage(reply.Text)
	row.Parsed.ReplyContent = reply.ReplyContent
	rows := []annotator.Trace{*row}
	for i := range reply.Calls {
		call := r.scene.nextRow(annotator.TraceCall)
		call.Seq += i + 1
		call.CallID = annotator.CallID(call.Turn, call.Seq)
		call.Tool, call.Arguments = reply.Calls[i].Name, reply.Calls[i].Arguments
		call.Parsed.ParsedCall = r.tools.Parse(reply.Calls[i])
		if reply.Incomplete(i) {
			call.Error = tools.Truncated
		}
		call.Tokens = tokens.Estimate(call.Tool) + tokens.Estimate(call.Arguments) + tokens.PerCall
		rows = append(rows, *call)
	}
	if reply.Cut && (len(rows) > 1 || reply.Problem != nil) {
		rows[0].Error = tools.Truncated
	}
	return rows
}

// callRules returns the rules for calls in the text of a reply. A block of updates in a reply with calls is ignored,
// because such a reply is not final. So calls that only declare an intent for a block are a mistake.
func (r *reading) callRules(ctx context.Context) *model.CallRules {
	return &model.CallRules{
		Tools: textcalls.Tools{Names: r.tools.Names(), Check: r.checkCall}, Updates: r.tools.ParseUpdates,
		Shown: func() ([]string, error) { return r.window.Texts(ctx) },
		Together: func(calls []annotator.ToolCall) error {
			if slices.ContainsFunc(calls, func(c annotator.ToolCall) bool { return c.Name != policy.SelectIntent }) {
				return nil
			}
			return errors.New("what the codex_updates are for is declared in their block, by an object with intent " +
				"and justification")
		},
	}
}

// checkCall returns an error that says to the model what is wrong with a call.
func (r *reading) checkCall(call annotator.ToolCall) error {
	err := r.tools.Check(call)
	if f := (*tools.Failure)(nil); errors.As(err, &f) && len(f.Tools) > 0 {
		return fmt.Errorf("%s; the tools are %s", f.Message, strings.Join(f.Tools, ", "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", call.Name, err)
	}
	return nil
}

// unreadable returns a request to the model to write again what cannot be read of a reply, and may have been cut.
func unreadable(problem *annotator.CallProblem, cut bool) string {
	if cut {
		return unreadable(problem, false) + " Your reply reached its limit in tokens, so write less at once."
	}
	if problem.Origin == annotator.OriginUpdates {
		return "Your codex_updates could not be read: " + prompt.Quote(problem.Text) +
			". Send the whole block again, corrected."
	}
	return "Your reply holds what looks like a tool call, and nothing in it was done: " + prompt.Quote(problem.Text) +
		`. Make your calls anew, whole. If you have no other way to call a tool, write <tool_call>{"name": "...",` +
		` "arguments": {...}}</tool_call>. ` +
		"If you meant no call, end the scene with one line of plain text."
}
