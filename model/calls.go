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
	// Updates reads the JSON arrays of a reply's codex_updates blocks. An error says what is wrong with one, in words for the model.
	Updates func(arrays []string) ([]annotator.ParsedCall, error)
	// Together returns why calls written as text must not stand beside codex updates; nil where they may.
	Together func(calls []annotator.ToolCall) error
	// Shown returns what the model was shown of the story. What stands there is a quotation and no call.
	Shown func() ([]string, error)
}

// NoAnswer is the text of a reply whose calls stand in its reasoning, where none is run, and that says nothing else.
const NoAnswer = "(no answer)"

// ReadCalls finds the calls in a normalized reply: its structured calls, or else those written as text, and what else its text holds.
// rest is the text without the calls written as text. Where one of those is a problem, none of them is returned. Beside structured
// calls they are no calls: rest keeps what is not also a structured call. Of a reply that was cut, calls written as text are returned
// if none of them was cut: in a text, where calls end is known only if all of it can be read, and what is made of a reply that goes on
// otherwise cannot be taken back. The model is asked for all of them again. Of structured calls those that are whole are made; the
// last may be incomplete: see Reply.Incomplete. An error is one of rules.Shown.
func ReadCalls(reply *Reply, rules *CallRules) (calls []annotator.ToolCall, rest string, content annotator.ReplyContent, err error) {
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
			calls, rest, problem = calls[:len(reply.Calls)], text, &annotator.CallProblem{Origin: annotator.OriginText, Text: err.Error()}
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

// endTurn leaves out of a reply what follows the model's own turn, where its calls stand in that turn and none behind it. A server
// that does not know where the turn ends has the model go on, and invent what its calls return.
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

// thinksCall reports whether a reply says nothing, and its reasoning has what looks like a call.
func thinksCall(reply *Reply, rules *CallRules) bool {
	return (reply.Text == "" || reply.Text == NoAnswer) && textcalls.Slip(reply.Reasoning, &rules.Tools) != ""
}

// readStructured returns a structured call as it is read: the name without what its server left around it, the
// arguments as strict JSON. What cannot be read stays as it was written.
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

// without returns the calls written as text that are not among the structured ones. Each of those stands for one.
func without(written, structured []annotator.ToolCall) (others []annotator.ToolCall) {
	left := map[string]int{}
	key := func(c *annotator.ToolCall) string {
		var fields map[string]any
		_ = json.Unmarshal([]byte(c.Arguments), &fields) // of an object, or of nothing
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
