package model_test

import (
	"strings"
	"testing"

	"annotator/model"

	"pgregory.net/rapid"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, said, thought string }{
		{"", "", ""},
		{" Plain. ", " Plain. ", ""},
		{"<think>Hm.</think>\nIt was so.", "It was so.", "Hm."},
		{"<THINK>Hm.</THINK>It was so.", "It was so.", "Hm."},
		{"It <analysis>so\nor so</analysis>was.", "It was.", "so\nor so"},
		{"It was. <thinking>And yet", "It was.", "And yet"},
		{"<think>never closed", "", "never closed"},
		{"begun elsewhere</think>It was so.", "It was so.", "begun elsewhere"},
		{"begun</think>It <think>so</think>was.", "It was.", "begun\nso"},
		{"[THINK]Hm.[/THINK]So.", "So.", "Hm."},
		{"◁think▷Hm.◁/think▷So.", "So.", "Hm."},
		{"<think></think>So.", "So.", ""},
		{"1 < 2 > 0 and [THINKING] it over.", "1 < 2 > 0 and [THINKING] it over.", ""},
	}
	for _, test := range tests {
		r := model.Reply{Text: test.text}
		if r.Normalize(&model.Request{}); r.Text != test.said || r.Reasoning != test.thought {
			t.Errorf("of %q it says %q and thinks %q, want %q and %q", test.text, r.Text, r.Reasoning, test.said,
				test.thought)
		}
	}
	r := model.Reply{Text: "<think>Then.</think>So.", Reasoning: "First.\x00", Model: "m\x00\nm", Finish: "st\x00op"}
	if r.Normalize(&model.Request{}); r.Reasoning != "First.\uFFFD\nThen." || r.Model != "m m" || r.Finish != "st op" {
		t.Errorf("%+v", r)
	}
}

// TestThoughtEndsWithinCall: an end mark of reasoning inside a complete call is a part of the call, or is removed from
// it. A call that ends before the mark, or begins in marked reasoning, stays reasoning.
func TestThoughtEndsWithinCall(t *testing.T) {
	t.Parallel()
	const before, behind = `<tool_call>{"name":"a","arguments":{"q":"x `, ` y"}}</tool_call>`
	for text, want := range map[string]string{ // of the said
		before + "</think>" + behind: before + "</think>" +
			behind,
		"Hm.</think>" + before + "</think>" + behind: before + "</think>" +
			behind,
		before + "</think>" + behind + " So.": before + "</think>" +
			behind + " So.",
		`{"name":"a","arguments":{"q":"</think>"}}`:                  `{"name":"a","arguments":{"q":"</think>"}}`,
		`<tool_call>{"name":"a","arguments":{}}</think></tool_call>`: hermes,
		`<tool_call>{"name":"a",</think>"arguments":{}}</tool_call>`: hermes,
		"I look.\n<tool_call>\n</think>\n" + `{"name":"a","arguments":{}}` +
			"\n</tool_call>": "I look.\n<tool_call>\n\n" + `{"name":"a","arguments":{}}` + "\n</tool_call>",
		"<tool_call><function=a><parameter=q>x</parameter></think></function></tool_call>": "" +
			"<tool_call><function=a><parameter=q>x</parameter></function></tool_call>",
		"<tool_call><function=a><parameter=q>x</parameter></function></think></tool_call>": "" +
			"<tool_call><function=a><parameter=q>x</parameter></function></tool_call>",
		hermes + "</think>No change.":                   "No change.",
		hermes + "</think></tool_call>":                 "</tool_call>",
		hermes + "</think>" + hermes:                    hermes,
		"<think>" + before + "</think>" + behind:        strings.TrimSpace(behind),
		`{"name":"a","arguments":{}}</think>`:           "",
		`<tool_call>{"name":"a","arg</think>uments":{}`: `uments":{}`,
	} {
		r := model.Reply{Text: text}
		if r.Normalize(&model.Request{Rules: callRules("")}); r.Text != want {
			t.Errorf("of %s it says %s, want %s", text, r.Text, want)
		}
		if again := r.Text; again != "" {
			if r.Normalize(&model.Request{Rules: callRules("")}); r.Text != again {
				t.Errorf("of %s it says %s, and then %s", text, again, r.Text)
			}
		}
	}
}

// TestNothingIsLostInThought: text and reasoning together are the original text, and splitting them again changes
// nothing.
func TestNothingIsLostInThought(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{
		"<think>", "</think>", "[THINK]", "[/THINK]", "one ", "two\n", "<b>",
		"<tool_call>{}</tool_call>",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		r := model.Reply{Text: text}
		r.Normalize(&model.Request{})
		for _, word := range []string{"one", "two", "<b>", "tool_call"} {
			if got, want := strings.Count(r.Text+r.Reasoning, word), strings.Count(text, word); got != want {
				t.Fatalf("%q is there %d times, was %d times", word, got, want)
			}
		}
		if again := r; strings.Contains(r.Text, "<think>") || !same(&again) {
			t.Fatalf("settled once: %+v, twice: %+v", r, again)
		}
	})
}

func same(r *model.Reply) bool {
	before := r.Text
	r.Normalize(&model.Request{})
	return r.Text == before
}
