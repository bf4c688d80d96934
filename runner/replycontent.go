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
	"annotator/model/textcalls"
	"annotator/policy"
	"annotator/tools"
)

// replyContent is what the text of a reply holds beside prose.
type replyContent struct {
	updates []annotator.ToolCall // the elements of its block of updates
	left    bool                 // calls in the text beside structured ones, which are not made
	problem *model.Problem       // what looks like a call or a block and cannot be read; nil for nothing
}

// content returns the content of the newest reply. After a resume it is read from the reply's row.
func (r *Runner) content(ctx context.Context) (*replyContent, error) {
	s := r.scene
	if s.content == nil {
		content, err := r.readContent(ctx)
		if err != nil {
			return nil, err
		}
		s.content = content
	}
	return s.content, nil
}

// readContent reads the content of the newest reply again. What it says of calls was read before their rows were made.
func (r *Runner) readContent(ctx context.Context) (*replyContent, error) {
	s, rules := r.scene, r.callRules(ctx)
	if s.answered+len(s.calls) > 0 {
		updates, problem, err := model.ReadUpdates(s.reply.Content, rules)
		if err != nil {
			return nil, err
		}
		left, err := model.LeftInText(s.reply.Content, rules)
		return &replyContent{updates: updates, problem: problem, left: left}, err
	}
	calls, _, problem, err := model.ReadCalls(&model.Reply{Text: s.reply.Content, Reasoning: s.reply.Reasoning}, rules)
	return &replyContent{updates: model.CallsOf(calls, annotator.OriginUpdates), problem: problem}, err
}

// callRules returns the rules for calls in the text of a reply. A block of updates beside calls is ignored, because a reply with
// calls is not final. So calls that only declare an intent for a block are a mistake.
func (r *Runner) callRules(ctx context.Context) *model.CallRules {
	return &model.CallRules{
		Tools: textcalls.Tools{Names: r.tools.Names(), Check: r.checkCall}, Elements: tools.Elements, Shown: func() ([]string, error) { return r.window.Texts(ctx) },
		Together: func(calls []annotator.ToolCall) error {
			if slices.ContainsFunc(calls, func(c annotator.ToolCall) bool { return c.Name != policy.SelectIntent }) {
				return nil
			}
			return errors.New("what the codex_updates are for is declared in their block, by an object with intent and justification")
		},
	}
}

// checkCall tells the model what is wrong with a call.
func (r *Runner) checkCall(call annotator.ToolCall) error {
	err := r.tools.Check(call)
	if f := (*tools.Failure)(nil); errors.As(err, &f) && len(f.Tools) > 0 {
		return fmt.Errorf("%s; the tools are %s", f.Message, strings.Join(f.Tools, ", "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", call.Name, err)
	}
	return nil
}

// correction tells the model what it is to write again, after what cannot be read, of a reply that may have been cut.
func (c *replyContent) correction(cut bool) string {
	if cut {
		return c.correction(false) + " Your reply reached its limit in tokens, so write less at once."
	}
	if c.problem.Origin == annotator.OriginUpdates {
		return "Your codex_updates could not be read: " + prompt.Quote(c.problem.Text) + ". Send the whole block again, corrected."
	}
	return "Your reply holds what looks like a tool call, and nothing in it was done: " + prompt.Quote(c.problem.Text) +
		`. Make your calls anew, whole. If you have no other way to call a tool, write <tool_call>{"name": "...", "arguments": {...}}</tool_call>. ` +
		"If you meant no call, end the scene with one line of plain text."
}
