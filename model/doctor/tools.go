package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"annotator"
	"annotator/model"
	"annotator/model/textcalls"
)

// scene returns the first request of a run: system prompt, tools, a scene.
func (e *examination) scene(choice model.Choice, after ...annotator.Message) (*model.Request, error) {
	tools, err := e.Wire.EncodeTools(e.Tools)
	if err != nil {
		return nil, err
	}
	history, err := e.Wire.Encode(append([]annotator.Message{user(e.Scene)}, after...))
	budget := e.client.Capabilities.Budget
	budget.Begin()
	return &model.Request{
		System: e.System, History: history, Tools: tools, Choice: choice, MaxTokens: budget.Reply(),
		Stream: e.stream,
		Rules: &model.CallRules{ // the reply has nothing to quote
			Tools:   textcalls.Tools{Names: toolNames(e.Tools), Check: e.checkCall},
			Updates: func([]string) ([]annotator.ParsedCall, error) { return nil, nil },
			Shown:   func() ([]string, error) { return nil, nil },
		},
	}, err
}

func (e *examination) sendScene(ctx context.Context, choice model.Choice, after ...annotator.Message) (*model.Reply,
	*model.Fault,
) {
	r, err := e.scene(choice, after...)
	if err != nil {
		return nil, model.ClassifyTransport(err)
	}
	r.Call.Purpose = annotator.PurposeAnnotate // the client inspects the reply, as in a run
	return e.complete(ctx, r)
}

// callsTool sends a scene as a run does. If the model answers without a call, the scene is sent again with a call
// required. That shows whether the model can call at all.
func callsTool(ctx context.Context, e *examination) Finding {
	reply, fault := e.sendScene(ctx, model.Choice{})
	if fault != nil {
		return e.unanswered(fault)
	}
	if v, called := e.readCalls(reply); called {
		return v
	}
	forced, fault := e.sendScene(ctx, model.Choice{Mode: model.ChoiceRequired})
	if fault == nil {
		if v, called := e.readCalls(forced); called && v.State == OK {
			return missing(toolCalls, "only where a call is required; else it answers in words, and a run records "+
				"little")
		}
	}
	return missing(toolCalls,
		"it answers %s, with no call that can be read: a run in which it stays so records nothing", quote(reply))
}

// readCalls checks the calls of a reply, structured or written as text.
func (e *examination) readCalls(r *model.Reply) (Finding, bool) {
	for _, c := range r.Calls {
		if flaw := e.checkCall(c); flaw != nil {
			return missing(toolCalls, "%s; a run asks again", flaw), true
		}
	}
	switch {
	case len(r.Calls) == 0:
		return Finding{}, false
	case r.Calls[0].Origin == annotator.OriginText:
		return missing(toolCalls, "%s, as text: the server does not read its model's calls, and a run does",
			callNames(r.Calls)), true
	}
	return ok("%s", callNames(r.Calls)), true
}

func toolNames(tools []annotator.ToolDefinition) (names []string) {
	for i := range tools {
		names = append(names, tools[i].Name)
	}
	return names
}

// checkCall returns what is wrong with a call. A run checks more.
func (e *examination) checkCall(c annotator.ToolCall) error {
	if !slices.Contains(toolNames(e.Tools), c.Name) {
		return fmt.Errorf("it calls %q, which there is not", c.Name)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &object); err != nil || object == nil {
		return fmt.Errorf("the arguments of %s are no object", c.Name)
	}
	return nil
}

func callNames(calls []annotator.ToolCall) string {
	return model.FirstNames(calls, func(c annotator.ToolCall) string { return c.Name })
}

// refusesTools is the reason why checks with tools are skipped.
const refusesTools = "requests with tools are refused"

// constrainsArguments marks the tools as strict, if the wire can. They stay strict if the server accepts the request.
func constrainsArguments(ctx context.Context, e *examination) Finding {
	switch {
	case e.refusesTools:
		return skipped(refusesTools)
	case e.Begun:
		return skipped("a run that has begun goes on as it was")
	case !e.adopt(ctx, model.StrictTools):
		return skipped("not on this wire")
	}
	r, err := e.scene(model.Choice{})
	if err != nil {
		return skipped("%s", err)
	}
	r.MaxTokens = fewTokens
	if _, fault := e.complete(ctx, r); fault != nil {
		e.adopt(ctx, model.NoStrictTools)
		return skipped("%s; a run does without", fault)
	}
	if e.client.Capabilities.Workarounds.Has(model.NoStrictTools) {
		return skipped("the server refuses it; a run does without")
	}
	return ok("the server takes tools as strict")
}

// callsOnDemand requires a tool by name.
func callsOnDemand(ctx context.Context, e *examination) Finding {
	if e.refusesTools {
		return skipped(refusesTools)
	}
	wanted := e.Tools[0].Name
	reply, fault := e.sendScene(ctx, model.Choice{Mode: model.ChoiceRequired, Allowed: []string{wanted}})
	switch {
	case fault != nil:
		return missing(toolCalls.against(fault), "%s", fault)
	case len(reply.Calls) == 0:
		return missing(toolCalls, "%s is required, and it answers %s", wanted, quote(reply))
	case reply.Calls[0].Name != wanted:
		return missing("", "%s is required, and it calls %s", wanted, reply.Calls[0].Name)
	}
	return ok("%s, when it is required", wanted)
}

// replaysCall sends a conversation in the form of a run. It has a scene, a reply with text and two calls, their
// results, the end of the turn and the next message. The ids have the form of a run's: nine letters and digits, as the
// strictest template requires.
func replaysCall(ctx context.Context, e *examination) Finding {
	calls := []annotator.ToolCall{
		{ID: "doctor001", Name: e.Tools[0].Name, Arguments: `{}`},
		{ID: "doctor002", Name: e.Tools[0].Name, Arguments: `{}`},
	}
	after := []annotator.Message{
		{Role: annotator.RoleAssistant, Content: "I look it up.", ToolCalls: calls},
		toolResult(calls[0]),
		toolResult(calls[1]),
		assistant("The scene is read."),
		user("Answer with the word yes."),
	}
	r, err := e.scene(model.Choice{}, after...)
	if err != nil {
		return failed("", "%s", err)
	}
	r.MaxTokens, r.Rules = fewTokens, nil
	if e.Measure != nil {
		r.Call.Characters = e.Measure(append(after, user(e.Scene)))
	}
	reply, fault := e.complete(ctx, r)
	if fault != nil {
		f := e.unanswered(fault)
		if fault.Kind == annotator.Malformed || fault.Filtered { // another reply, or another text, may be better
			f.State = Missing
		}
		return f
	}
	e.replay, e.replayed = r, reply
	return ok("two calls at once, their ids of nine characters, and their results")
}

// unanswered returns the finding about a conversation with tools that failed.
func (e *examination) unanswered(f *model.Fault) Finding {
	help := toolCalls.against(f)
	if e.refusesTools = f.Status != 0 && help != ""; f.Template && help != "" {
		help = template
	}
	return failed(help, "%s", f)
}

func toolResult(c annotator.ToolCall) annotator.Message {
	return annotator.Message{Role: annotator.RoleTool, ToolCallID: c.ID, Tool: c.Name, Content: `{"ok":true}`}
}
