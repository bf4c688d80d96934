package snapshot

import (
	"context"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
	"annotator/tools"
)

// Request is a question with its settings.
type Request struct {
	Question    string
	Entries     string // of the codex, shown with the question; see Entries
	Turn        int64  // of the model's own question; 0: a person asks
	Scene       int
	MaxTokens   int // of the answer
	Temperature float64
	Stream      bool
	Counter     *tokens.Counter // estimates the prompt; nil: by rule
}

// ErrNoAnswer is the error for a question if the model gives no answer in text.
var ErrNoAnswer = annotator.Errorf(annotator.Malformed, "the summoned model gave no answer in words").
	WithAdvice("ask in other words")

// Ask returns the answer to a question, and its call, which the caller must commit. The context does not change. If the
// model calls tools, Ask asks once more. The error may be ErrNoAnswer or a *model.Unanswered.
func (c *Context) Ask(
	ctx context.Context, client *model.Client, r *Request,
) (answer string, call *annotator.Call, err error) {
	p := *c.prompt
	if err := p.Ask(question(r.Entries, r.Question)); err != nil {
		return "", nil, err
	}
	p.Counter = r.Counter
	request := &model.Request{
		System: p.System, History: p.History, Tools: p.Tools,
		Choice: model.Choice{Mode: model.ChoiceNone}, MaxTokens: r.MaxTokens, Temperature: r.Temperature,
		Stream: r.Stream, LeastPrompt: p.MinTokens(false),
		Call: annotator.Call{Turn: r.Turn, Scene: r.Scene, Purpose: annotator.PurposeAsk, Estimate: p.Tokens()},
	}
	for refused := false; ; refused = true {
		reply, err := client.Complete(ctx, request)
		if err != nil {
			return "", nil, err
		}
		if text := answerText(reply); len(reply.Calls) == 0 && text != "" {
			return text, reply.Call, nil
		}
		reply.Call.Discard(ErrNoAnswer.Error(), reply.Body())
		if err := client.Recorder.Fail(ctx, reply.Call); err != nil {
			return "", nil, err
		}
		if refused || len(reply.Calls) == 0 {
			return "", nil, ErrNoAnswer
		}
		if err := c.refuseCalls(&p, reply); err != nil {
			return "", nil, err
		}
		request.History = p.History
	}
}

// answerText returns an answer in the form in which it is stored.
func answerText(reply *model.Reply) string {
	text := codex.Clean(strings.TrimSpace(reply.Text))
	if text != "" && reply.Outcome == model.OutcomeLength {
		text += " [cut]"
	}
	return text
}

// refuseCalls appends the tool calls of a reply, each with an error as its result.
func (c *Context) refuseCalls(p *window.Prompt, reply *model.Reply) error {
	called := annotator.Message{Role: annotator.RoleAssistant, Content: strings.TrimSpace(reply.Text)}
	var results []annotator.Message
	refusal := tools.ErrorResult(tools.SummonReadOnly,
		"you only answer here: no tool can be called; say in words what you know")
	for i := range reply.Calls {
		call := reply.Calls[i]
		call.ID = annotator.CallID(c.Snapshot.ID, i)
		called.ToolCalls = append(called.ToolCalls, call)
		results = append(results, annotator.Message{
			Role: annotator.RoleTool, ToolCallID: call.ID, Tool: call.Name, Content: refusal.Content,
		})
	}
	if err := p.Add(called); err != nil {
		return err
	}
	return p.Add(results...)
}
