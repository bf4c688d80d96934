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

// listen has the calls that a model wrote into its text be the reply's calls, where they are sound. The text keeps the rest, so
// that no later request shows the same thing twice; all of it is on record with the call.
func (r *Runner) listen(ctx context.Context, call *annotator.Call, reply *model.Reply) error {
	if len(reply.Calls) > 0 {
		return nil
	}
	calls, rest, _, err := r.spoken(ctx, reply.Text)
	if err != nil || len(calls) == 0 {
		return err
	}
	call.Raw = []byte(reply.Text)
	reply.Calls, reply.Text = calls, rest
	if !r.heard {
		r.heard = true
		r.word("the endpoint leaves tool calls in the text of replies; they are read from there. " +
			"`annotator doctor` says how to have the server read them")
	}
	return nil
}

// spoken finds the calls in a text, what is left of it, and what is wrong with them. What the model was shown is not taken for
// its own: a story may quote calls.
func (r *Runner) spoken(ctx context.Context, text string) (calls []annotator.ToolCall, rest, wrong string, err error) {
	found := textcalls.Find(text)
	if found.Empty() {
		return nil, text, "", nil
	}
	shown, err := r.window.Texts(ctx)
	if err != nil {
		return nil, "", "", err
	}
	found.Spare(shown...)
	calls, rest, wrong = found.Calls(r.checkCall)
	if wrong != "" || slices.ContainsFunc(calls, func(c annotator.ToolCall) bool { return c.Name != policy.SelectIntent }) {
		return calls, rest, wrong, nil
	}
	updates, _, err := r.updates(ctx, rest)
	if len(updates) > 0 { // it would not be read: a reply that makes calls is not at its end
		return nil, text, "what the codex_updates are for is declared in their block, by an object with intent and justification", err
	}
	return calls, rest, "", err
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

// misspoken is the answer to a text in which something has the shape of a call and is none that can be run.
func misspoken(wrong string) string {
	return "Your reply holds what looks like a tool call, and nothing in it was done: " + prompt.Escape(wrong) + ". Make your calls anew, whole. " +
		`If you have no other way to call a tool, write <tool_call>{"name": "...", "arguments": {...}}</tool_call>. ` +
		"If you meant no call, end the scene with one line of plain text."
}
