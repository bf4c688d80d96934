package model

import (
	"encoding/json"
	"strings"

	"annotator"
	"annotator/model/textcalls"
)

// CallRules say which calls in the text of a reply are meant, and can be run.
type CallRules struct {
	// Tools are what may be called.
	Tools textcalls.Tools
	// Updates reads the JSON arrays of a reply's codex_updates blocks. An error describes for the model what is wrong
	// with one.
	Updates func(arrays []string) ([]annotator.ParsedCall, error)
	// Together returns why a reply must not have both these calls, written as text, and codex updates; nil if it may.
	Together func(calls []annotator.ToolCall) error
	// Shown returns the texts of the story that the model was shown. A call in them is a quotation.
	Shown func() ([]string, error)
}

// NoAnswer is the text of a reply with calls only in its reasoning, from which none is made, and without text.
const NoAnswer = "(no answer)"

// ReadCalls returns the calls in a normalized reply, and the other content of its text. The calls are the structured
// ones, or else those written as text. rest is the text without these.
//
// If one of the calls written as text is a problem, none of them is returned. In a reply with structured calls they are
// no calls: rest keeps those that are not also structured calls. Of a reply that was cut, they are returned only if
// none of them was cut. A call cannot be undone if the whole text means something else. Otherwise the model is asked
// for all of them again. Of structured calls the complete ones are made; the last may be incomplete: see
// Reply.Incomplete. An error is one of rules.Shown.
func ReadCalls(reply *Reply, rules *CallRules) (calls []annotator.ToolCall, rest string, content annotator.ReplyContent,
	err error,
) {
	for i := range reply.Calls {
		calls = append(calls, readStructured(reply.Calls[i], rules))
	}
	text := reply.Text
	slip := len(calls) == 0 && thinksCall(reply, rules)
	found := textcalls.Find(text, &rules.Tools)
	if found.Empty() && !textcalls.HasUpdates(text) && !slip && textcalls.Slip(text, &rules.Tools) == "" {
		return calls, text, content, nil
	}
	shown, err := rules.Shown()
	if err != nil {
		return calls, text, content, err
	}
	written, rest, problem := textCalls(found, shown)
	if len(calls) == 0 {
		calls = written
	} else if content.Left = problem != nil || len(without(written, calls)) > 0; content.Left {
		written, rest, problem = nil, text, nil
	}
	updates, wrong := readUpdates(rest, shown, rules)
	if len(written) > 0 && len(updates) > 0 {
		if err := rules.Together(written); err != nil {
			calls, rest, problem = calls[:len(reply.Calls)], text,
				&annotator.CallProblem{Origin: annotator.OriginText, Text: err.Error()}
		}
	}
	switch {
	case problem != nil:
	case wrong != nil:
		problem = &annotator.CallProblem{Origin: annotator.OriginUpdates, Text: wrong.Error()}
	case len(calls)+len(updates) > 0 || textcalls.HasUpdates(rest):
	case slip:
		if said := textcalls.Slip(reply.Reasoning, &rules.Tools, shown...); said != "" {
			said += ". It also stands in your reasoning, from which nothing is done"
			problem = &annotator.CallProblem{Origin: annotator.OriginText, Text: said}
		}
	default:
		if said := textcalls.Slip(text, &rules.Tools, shown...); said != "" {
			problem = &annotator.CallProblem{Origin: annotator.OriginText, Text: said}
		}
	}
	content.Updates, content.Problem = updates, problem
	return calls, rest, content, nil
}

// thoughtTurn begins the thoughts of gpt-oss, which are a turn of their own. Nothing in them is executed.
const thoughtTurn = "<|channel|>analysis"

// endTurn removes the text after the model's own turn, if the turn has calls and the rest has none. If a server does
// not recognise the end of the turn, the model continues, and invents the results of its calls.
func (r *Reply) endTurn(q *Request) (ended bool, err error) {
	at, mark := nextTurn(q, r.Text)
	if mark == "" || q.Rules == nil || len(r.Calls) > 0 || strings.Contains(r.Text, thoughtTurn) {
		return false, nil
	}
	for _, turn := range []struct {
		text  string
		calls bool
	}{{r.Text[:at], true}, {r.Text[at:], false}} {
		calls, _, content, err := ReadCalls(&Reply{Text: turn.text}, q.Rules)
		if err != nil || content.Problem != nil || turn.calls != (len(calls)+len(content.Updates) > 0) {
			return false, err
		}
	}
	r.Call.Raw = []byte(r.Text)
	r.Text, r.Cut, r.Outcome = strings.TrimSpace(r.Text[:at]), false, OutcomeStop
	return true, nil
}

// thinksCall reports whether a reply has no text, and its reasoning has a text that looks like a call.
func thinksCall(reply *Reply, rules *CallRules) bool {
	return (reply.Text == "" || reply.Text == NoAnswer) && textcalls.Slip(reply.Reasoning, &rules.Tools) != ""
}

// readStructured returns a structured call with its name without additions of the server, and its arguments as strict
// JSON. What cannot be read is unchanged.
func readStructured(call annotator.ToolCall, rules *CallRules) annotator.ToolCall {
	if name := textcalls.CleanName(call.Name); rules.Tools.Known(name) {
		call.Name = name
	}
	if !json.Valid([]byte(call.Arguments)) || !strings.HasPrefix(strings.TrimSpace(call.Arguments), "{") {
		if strict, err := rules.Tools.Arguments(call.Name, call.Arguments); err == nil {
			call.Arguments = strict
		}
	}
	return call
}

// without returns the calls written as text that are not among the structured ones. Each structured call matches one.
func without(written, structured []annotator.ToolCall) (others []annotator.ToolCall) {
	left := map[string]int{}
	key := func(c *annotator.ToolCall) string {
		var fields map[string]any
		_ = json.Unmarshal([]byte(c.Arguments), &fields) // no fields if it is no object
		return c.Name + annotator.EncodeJSON(fields)
	}
	for i := range structured {
		left[key(&structured[i])]++
	}
	for i := range written {
		if k := key(&written[i]); left[k] > 0 {
			left[k]--
		} else {
			others = append(others, written[i])
		}
	}
	return others
}

// readUpdates reads the codex_updates blocks of a text.
func readUpdates(text string, shown []string, rules *CallRules) ([]annotator.ParsedCall, error) {
	quoted := func(array string) bool { return textcalls.Quoted(array, shown...) }
	fit := func(array string) bool { _, err := rules.Updates([]string{array}); return err == nil }
	arrays, err := textcalls.Updates(text, quoted, fit)
	if err != nil || len(arrays) == 0 {
		return nil, err
	}
	return rules.Updates(arrays)
}

// textCalls returns the calls of a text that are no quotations, and the text without them.
func textCalls(found *textcalls.Found, shown []string) ([]annotator.ToolCall, string, *annotator.CallProblem) {
	found.RemoveQuotations(shown...)
	calls, rest, wrong := found.Calls()
	if wrong != "" {
		return nil, rest, &annotator.CallProblem{Origin: annotator.OriginText, Text: wrong}
	}
	for i := range calls {
		calls[i].Origin = annotator.OriginText
	}
	return calls, rest, nil
}
