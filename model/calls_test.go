package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"annotator"
	"annotator/model"
	"annotator/model/textcalls"

	"github.com/google/go-cmp/cmp"
)

const (
	dawn    = `{"term":"Dawn"}`
	newDawn = `{"term":"dawn","definition":"A ship."}`
	mik     = `{"term":"Mik"}`
	opening = "<codex_updates>"
	closing = "</codex_updates>"
	hermes  = `<tool_call>{"name":"a","arguments":{}}</tool_call>`
	declare = `<tool_call>{"name":"declare","arguments":{}}</tool_call>`
)

// callRules take every call, and show the model a story.
func callRules(story string) *model.CallRules {
	return &model.CallRules{
		Tools: textcalls.Tools{
			Names: []string{"a", "structured", "declare", "quoted"},
			Check: func(annotator.ToolCall) error { return nil },
		},
		Updates: func(arrays []string) (updates []annotator.ParsedCall, err error) {
			for _, array := range arrays {
				var raw []json.RawMessage
				err = errors.Join(err, json.Unmarshal([]byte(array), &raw))
				for _, element := range raw {
					updates = append(updates, annotator.ParsedCall{Arguments: element})
				}
			}
			return updates, err
		},
		Together: func(calls []annotator.ToolCall) error {
			if calls[0].Name == "declare" {
				return errors.New("declare it in the block")
			}
			return nil
		},
		Shown: func() ([]string, error) { return []string{story}, nil },
	}
}

// asked returns calls, and the elements of blocks as calls without a name.
func asked(calls []annotator.ToolCall, updates []annotator.ParsedCall) (all []annotator.ToolCall) {
	all = append(all, calls...)
	for _, u := range updates {
		all = append(all, annotator.ToolCall{Arguments: string(u.Arguments), Origin: annotator.OriginUpdates})
	}
	return all
}

// TestCallsAreNeverFoundInReasoning: calls are found in what a reply says, and never in its reasoning, whatever form
// they have.
func TestCallsAreNeverFoundInReasoning(t *testing.T) {
	t.Parallel()
	block := func(elements string) string { return opening + "[" + elements + "]" + closing }
	text := annotator.ToolCall{Name: "a", Arguments: "{}", Origin: annotator.OriginText}
	update := func(element string) annotator.ToolCall {
		return annotator.ToolCall{Arguments: element, Origin: annotator.OriginUpdates}
	}
	for _, test := range []struct {
		name, text string
		structured bool
		want       []annotator.ToolCall
		rest       string
		problem    annotator.Origin // "none" means no problem
	}{
		{"words", "Nothing new here.", false, nil, "Nothing new here.", "none"},
		{"a call", "So: " + hermes, false, []annotator.ToolCall{text}, "So:", "none"},
		{"another call beside structured ones", "So: " + hermes, true, nil, "So: " + hermes, "none"},
		{
			"a structured call again", "So: " + strings.Replace(hermes, `"a"`, `"structured"`, 1), true, nil, "So:",
			"none",
		},
		{"half a call beside structured ones", `<tool_call>{"name":"a"`, true, nil, `<tool_call>{"name":"a"`, "none"},
		{"a call in a sentence", `I call a(q="x").`, false, nil, `I call a(q="x").`, annotator.OriginText},
		{
			"two blocks", block(dawn+","+mik) + block(newDawn), false,
			[]annotator.ToolCall{update(dawn), update(mik), update(newDawn)},
			block(dawn+","+mik) + block(newDawn),
			"none",
		},
		{"a call in reasoning", "<think>" + hermes + "</think> No change.", false, nil, "No change.", "none"},
		{"a call in unclosed reasoning", "<think>" + hermes, false, nil, "", "none"},
		{
			"a call in reasoning that the server opened", hermes + "</think> No change.", false, nil, "No change.",
			"none",
		},
		{"a call in upper case reasoning", "<THINKING>" + hermes + "</Thinking>", false, nil, "", "none"},
		{
			"a call behind reasoning of two marks", "<analysis>" + hermes + "</think>" + hermes + "</analysis>", false,
			nil, "", "none",
		},
		{
			"a call after reasoning", "<think>" + hermes + "</think>\n" + hermes, false,
			[]annotator.ToolCall{text},
			"",
			"none",
		},
		{"half a call", `<tool_call>{"name":"a"`, false, nil, `<tool_call>{"name":"a"`, annotator.OriginText},
		{
			"updates", "Well. " + block(dawn+","+mik), false,
			[]annotator.ToolCall{update(dawn), update(mik)},
			"Well. " + block(dawn+","+mik), "none",
		},
		{"no updates", block(""), false, nil, block(""), "none"},
		{"updates beside structured calls", block(dawn), true, []annotator.ToolCall{update(dawn)}, block(dawn), "none"},
		{
			"updates beside a call", block(dawn) + hermes, false,
			[]annotator.ToolCall{text, update(dawn)},
			block(dawn),
			"none",
		},
		{
			"updates beside a declaration", block(dawn) + declare, false,
			[]annotator.ToolCall{update(dawn)},
			block(dawn) + declare, annotator.OriginText,
		},
		{
			"unreadable updates", opening + "none" + closing, false, nil, opening + "none" + closing,
			annotator.OriginUpdates,
		},
		{"updates in reasoning", "<thinking>" + block(dawn) + "</thinking>", false, nil, "", "none"},
		{"updates in unclosed reasoning", "<think>" + block(dawn), false, nil, "", "none"},
		{
			"updates in reasoning that the server opened", block(dawn) + "</think> No change.", false, nil,
			"No change.",
			"none",
		},
		{
			"updates after reasoning", "<analysis>" + block(dawn) + "</analysis>" + block(mik), false,
			[]annotator.ToolCall{update(mik)},
			block(mik), "none",
		},
		{
			"updates before reasoning", block(mik) + "<analysis>" + block(dawn) + "</analysis>", false,
			[]annotator.ToolCall{update(mik)},
			block(mik), "none",
		},
		{
			"unreadable in reasoning", "<thinking>" + opening + "…</thinking>" + block(dawn), false,
			[]annotator.ToolCall{update(dawn)},
			block(dawn), "none",
		},
		{
			"unreadable in reasoning that the server opened", opening + "…</think>" + block(dawn), false,
			[]annotator.ToolCall{update(dawn)},
			block(dawn), "none",
		},
		{
			"reasoning in reasoning", "<thinking><analysis></analysis>" + block(dawn) + "</thinking>", false, nil, "",
			"none",
		},
		{"marks within marks within marks", strings.Repeat("<th", 99) + "<think></think>" + strings.Repeat("ink>", 99) +
			hermes, false, nil, strings.Repeat("<th", 98), "none"},
		{"marks that make a mark", "<th<think></think>ink>" + hermes + block(dawn), false, nil, "", "none"},
		{
			"a quoted call", "They sang " + `<tool_call>{"name":"quoted","arguments":{}}</tool_call>`, false, nil,
			"They sang " + `<tool_call>{"name":"quoted","arguments":{}}</tool_call>`, "none",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := model.Reply{Text: test.text}
			r.Normalize(&model.Request{})
			r.Reasoning = "" // a call in it is a problem of its own
			if test.structured {
				r.Calls = []annotator.ToolCall{{Name: "structured", Arguments: "{}"}}
			}
			calls, rest, content, err := model.ReadCalls(&r, callRules(`{"name":"quoted","arguments":{}}`))
			problem := content.Problem
			if diff := cmp.Diff(test.want, asked(calls[min(len(calls), len(r.Calls)):], content.Updates)); err != nil ||
				diff != "" || rest != test.rest {
				t.Errorf("%s rest %q, %v", diff, rest, err)
			}
			if content.Left != (test.structured && strings.Contains(test.rest, "<tool_call>")) {
				t.Errorf("calls are left in the text: %v", content.Left)
			}
			if (problem == nil) != (test.problem == "none") || problem != nil &&
				(problem.Origin != test.problem || problem.Text == "") {
				t.Errorf("problem %+v, want %q", problem, test.problem)
			}
		})
	}
	broken := errors.New("broken")
	rules := callRules("")
	rules.Shown = func() ([]string, error) { return nil, broken }
	for _, text := range []string{hermes, block(dawn)} {
		if calls, rest, _, err := model.ReadCalls(&model.Reply{Text: text}, rules); !errors.Is(err, broken) ||
			calls != nil || rest != text {
			t.Errorf("%q, %q, %v", calls, rest, err)
		}
	}
}

// TestCallInReasoningIsReported: a call in the reasoning of a reply without text is a problem, which names the
// reasoning. It is never made. In a quotation, or with a text or a call in the reply, it is no problem.
func TestCallInReasoningIsReported(t *testing.T) {
	t.Parallel()
	const quoted = `<tool_call>{"name":"quoted","arguments":{}}</tool_call>`
	for _, test := range []struct {
		name  string
		reply model.Reply
		told  bool
	}{
		{"no answer", model.Reply{Text: model.NoAnswer, Reasoning: hermes}, true},
		{"no text", model.Reply{Reasoning: "I shall note it. a(q=\"x\")"}, true},
		{"an answer", model.Reply{Text: "No change.", Reasoning: hermes}, false},
		{"a structured call", model.Reply{
			Reasoning: hermes,
			Calls:     []annotator.ToolCall{{Name: "structured", Arguments: "{}"}},
		}, false},
		{"a quotation", model.Reply{Text: model.NoAnswer, Reasoning: "They sang " + quoted}, false},
		{"words", model.Reply{Text: model.NoAnswer, Reasoning: "I need to call a tool."}, false},
	} {
		calls, _, content, err := model.ReadCalls(&test.reply, callRules("They sang "+quoted))
		problem := content.Problem
		if len(calls) != len(test.reply.Calls) || err != nil {
			t.Errorf("%s: %v, %v", test.name, calls, err)
		}
		if (problem != nil) != test.told || problem != nil &&
			(problem.Origin != annotator.OriginText || !strings.Contains(problem.Text, "in your reasoning")) {
			t.Errorf("%s: the model is told %+v", test.name, problem)
		}
	}
}
