package model

import (
	"annotator"
	"annotator/model/textcalls"
)

// CallRules say which calls in the text of a reply are meant, and can be run.
type CallRules struct {
	// Check returns what is wrong with a call written as text, in words for the model; nil where it can be run.
	Check func(annotator.ToolCall) error
	// Elements returns the elements of the array of a codex_updates block, in JSON, or what is wrong with it, in words
	// for the model.
	Elements func(array string) ([]string, error)
	// Together returns why calls written as text must not stand beside codex updates; nil where they may.
	Together func(calls []annotator.ToolCall) error
	// Shown returns what the model was shown of the story. What stands there is a quotation and no call.
	Shown func() ([]string, error)
}

// Problem is what looks like a call in a reply and cannot be run.
type Problem struct {
	Origin annotator.Origin
	Text   string // what is wrong, in words for the model
}

// ReadCalls finds the calls in the text of a reply: those written as text, unless the reply has structured calls, and
// the elements of its codex_updates block, as calls without a name. rest is the text without the calls written as text.
// Where one of those is a problem, none of them is returned. An error is one of rules.Shown.
func ReadCalls(text string, structured bool, rules *CallRules) (calls []annotator.ToolCall, rest string, problem *Problem, err error) {
	found := new(textcalls.Found)
	if !structured {
		found = textcalls.Find(text)
	}
	if found.Empty() && !textcalls.HasUpdates(text) {
		return nil, text, nil, nil
	}
	shown, err := rules.Shown()
	if err != nil {
		return nil, text, nil, err
	}
	rest = text
	if !found.Empty() {
		calls, rest, problem = textCalls(found, shown, rules)
	}
	array, isBlock, wrong := textcalls.Updates(rest, func(array string) bool { return textcalls.Quoted(array, shown...) })
	var elements []string
	if isBlock && wrong == nil {
		elements, wrong = rules.Elements(array)
	}
	if len(calls) > 0 && len(elements) > 0 {
		if err := rules.Together(calls); err != nil {
			calls, rest, problem = nil, text, &Problem{annotator.OriginText, err.Error()}
		}
	}
	for _, element := range elements {
		calls = append(calls, annotator.ToolCall{Arguments: element, Origin: annotator.OriginUpdates})
	}
	if problem == nil && wrong != nil {
		problem = &Problem{annotator.OriginUpdates, wrong.Error()}
	}
	return calls, rest, problem, nil
}

func textCalls(found *textcalls.Found, shown []string, rules *CallRules) ([]annotator.ToolCall, string, *Problem) {
	found.RemoveQuotations(shown...)
	calls, rest, wrong := found.Calls(rules.Check)
	if wrong != "" {
		return nil, rest, &Problem{annotator.OriginText, wrong}
	}
	for i := range calls {
		calls[i].Origin = annotator.OriginText
	}
	return calls, rest, nil
}

// CallsOf returns the calls of an origin.
func CallsOf(calls []annotator.ToolCall, origin annotator.Origin) (of []annotator.ToolCall) {
	for i := range calls {
		if calls[i].Origin == origin {
			of = append(of, calls[i])
		}
	}
	return of
}
