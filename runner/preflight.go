package runner

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/context/window"
	"annotator/model"
)

// preflightTokens is the limit of the answer. Some APIs take no lower one.
const preflightTokens = 16

// preflight sends a short conversation with all that a run sends: the system prompt, the tools, every role, a call and
// its result. What the chat template cannot render, or which flag the server was started without, shows before the
// first scene, and the client learns the workarounds. A server that is loading is waited for. The answer itself does
// not matter.
func (r *Runner) preflight(ctx context.Context) error {
	if !r.config.Preflight || r.progress.done == r.progress.total && r.progress.resume == 0 {
		return nil
	}
	p := r.window.NewPrompt()
	p.Size = p.Size.Framed(preflightPromptTokens)
	request := &model.Request{
		System: p.System, Tools: p.Tools, MaxTokens: preflightTokens, Temperature: r.config.Temperature, Stream: r.config.Stream,
		Call: annotator.Call{Purpose: annotator.PurposeProbe, Estimate: p.Tokens()}, MaxReply: r.maxReply(p),
	}
	if err := r.addPreflightMessages(p); err != nil {
		return err
	}
	request.History = p.History
	reply, err := r.Client.Complete(ctx, request)
	if refused := (*model.Unanswered)(nil); errors.As(err, &refused) {
		r.warn(fmt.Sprintf("the server would not answer a conversation with tools: %s", refused.Error()))
		r.learnContext(refused.MaxContext, r.minPrompt())
		return nil
	}
	if err != nil {
		return err
	}
	return r.Client.EndProbe(ctx, reply.Call)
}

// preflightPromptTokens is about how many tokens the messages of a preflight have.
const preflightPromptTokens = 60

// addPreflightMessages adds the messages of a preflight to a prompt.
func (r *Runner) addPreflightMessages(p *window.Prompt) error {
	call := annotator.ToolCall{ID: annotator.CallID(0, 0), Name: r.tools.Names()[0], Arguments: "{}"}
	for _, m := range []annotator.Message{
		{Role: annotator.RoleUser, Content: "This is a test of the connection."},
		{Role: annotator.RoleAssistant, ToolCalls: []annotator.ToolCall{call}},
		{Role: annotator.RoleTool, ToolCallID: call.ID, Tool: call.Name, Content: `{"ok":true}`},
		{Role: annotator.RoleAssistant, Content: "It works."},
		{Role: annotator.RoleUser, Content: "Say yes."},
	} {
		if err := p.Add(m); err != nil {
			return err
		}
	}
	return nil
}
