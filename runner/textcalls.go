package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/prompt"
	"annotator/model"
	"annotator/policy"
	"annotator/tools"
)

// callRules say which calls in the text of a reply are meant. A block of updates beside calls is not read: a reply that
// makes calls is not at its end. So calls that only declare what the block is for are a mistake.
func (r *Runner) callRules(ctx context.Context) *model.CallRules {
	return &model.CallRules{
		Check: r.checkCall, Elements: tools.Elements, Shown: func() ([]string, error) { return r.window.Texts(ctx) },
		Together: func(calls []annotator.ToolCall) error {
			if slices.ContainsFunc(calls, func(c annotator.ToolCall) bool { return c.Name != policy.SelectIntent }) {
				return nil
			}
			return errors.New("what the codex_updates are for is declared in their block, by an object with intent and justification")
		},
	}
}

// content is what the text of a reply holds beside words.
type content struct {
	updates []annotator.ToolCall // the elements of its block of updates
	problem *model.Problem
}

// content returns what the newest reply holds. After a resume it is read from the reply's row, as it was from the
// reply.
func (r *Runner) content(ctx context.Context) (*content, error) {
	d := r.day
	if d.content == nil {
		calls, _, problem, err := model.ReadCalls(d.reply.Content, d.placed+len(d.calls) > 0, r.callRules(ctx))
		if err != nil {
			return nil, err
		}
		d.content = &content{model.CallsOf(calls, annotator.OriginUpdates), problem}
	}
	return d.content, nil
}

// checkCall tells what is wrong with a call, in words for the model.
func (r *Runner) checkCall(call annotator.ToolCall) error {
	err := r.Tools.Check(call)
	if f := (*tools.Failure)(nil); errors.As(err, &f) && len(f.Tools) > 0 {
		return fmt.Errorf("%s; the tools are %s", f.Message, strings.Join(f.Tools, ", "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", call.Name, err)
	}
	return nil
}

// unreadableCall is the correction to a text in which something has the shape of a call and is none that can be run.
func unreadableCall(wrong string) string {
	return "Your reply holds what looks like a tool call, and nothing in it was done: " + prompt.Escape(wrong) + ". Make your calls anew, whole. " +
		`If you have no other way to call a tool, write <tool_call>{"name": "...", "arguments": {...}}</tool_call>. ` +
		"If you meant no call, end the scene with one line of plain text."
}
