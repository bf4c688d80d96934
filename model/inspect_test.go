package model_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/model"

	"pgregory.net/rapid"
)

// inspect inspects a reply of a wire.
func inspect(r *model.Request, reply *model.Reply) *model.Fault {
	reply.Normalize(r)
	return model.Inspect(r, reply)
}

func TestInspect(t *testing.T) {
	t.Parallel()
	call := func(arguments string) []annotator.ToolCall {
		return []annotator.ToolCall{{Name: "glossary_create", Arguments: arguments}}
	}
	counted := func(prompt, completion int) annotator.Usage {
		return annotator.Usage{Prompt: prompt, Completion: completion, Exact: true}
	}
	var story strings.Builder
	for night := range 40 {
		fmt.Fprintf(&story, "In night %d the keeper said: \"The lamp is lit.\"\n", night)
	}
	long := story.String()
	written := func(text string) string { return strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(text) }
	tests := []struct {
		name  string
		reply model.Reply
		code  string // "": it can be used
		kind  annotator.Kind
	}{
		{"words", model.Reply{Text: "It is read.", Finish: "stop"}, "", ""},
		{"a call", model.Reply{Calls: call(`{"term":"Ash"}`), Finish: "tool_calls"}, "", ""},
		{"a call beside exclamation marks", model.Reply{Text: "!!", Calls: call(`{}`), Finish: "tool_calls"}, "", ""},
		{"a sign that is no letter", model.Reply{Text: "👍", Finish: "stop"}, "", ""},
		{"words, cut", model.Reply{Text: "It is", Finish: "length"}, "", ""},
		{"a call, cut", model.Reply{Calls: call(`{"term":"A`), Finish: "length"}, "", ""},
		{"another word for the end", model.Reply{Text: "It is read.", Finish: "end_turn"}, "", ""},
		{"another model", model.Reply{Text: "It is read.", Finish: "stop", Model: "m-2026"}, "", ""},
		{"filtered", model.Reply{Text: "It", Finish: "content_filter"}, model.CodeFiltered, annotator.Refused},
		{
			"ended for no known reason",
			model.Reply{Text: "It is read.", Finish: "tired"},
			model.CodeFinish,
			annotator.Refused,
		},
		{"broken off", model.Reply{Text: "It", Finish: "abort"}, model.CodeBroken, annotator.Malformed},
		{"empty", model.Reply{Finish: "stop"}, model.CodeEmpty, annotator.Malformed},
		{"blank", model.Reply{Text: " \n\t", Finish: "stop"}, model.CodeEmpty, annotator.Malformed},
		{
			"a thought alone",
			model.Reply{Reasoning: "It may be so.", Finish: "stop"},
			model.CodeEmpty,
			annotator.Malformed,
		},
		{"no word", model.Reply{Text: "!!!!!!", Finish: "stop"}, model.CodeStuck, annotator.Malformed},
		{
			"a thought to the limit",
			model.Reply{Reasoning: "It may be so.", Finish: "length"},
			model.CodeThinking,
			annotator.Malformed,
		},
		{
			"the limit, by the count",
			model.Reply{Finish: "stop", Usage: counted(50, 100)},
			model.CodeThinking,
			annotator.Malformed,
		},
		{
			"overflowed numbers",
			model.Reply{Text: strings.Repeat("!", 4_000), Finish: "length"},
			model.CodeStuck,
			annotator.Malformed,
		},
		{
			"one phrase",
			model.Reply{Text: strings.Repeat("and then she said ", 10_000), Finish: "stop"},
			model.CodeStuck,
			annotator.Malformed,
		},
		{
			"one thought",
			model.Reply{Text: "So.", Reasoning: strings.Repeat("Wait. ", 1_000), Finish: "stop"},
			model.CodeStuck, annotator.Malformed,
		},
		{"one phrase in arguments", model.Reply{
			Calls:  call(`{"term":"` + strings.Repeat("灯笼", 900) + `"}`),
			Finish: "tool_calls",
		}, model.CodeStuck, annotator.Malformed},
		{"NUL", model.Reply{Text: "It\x00is", Finish: "stop"}, model.CodeDamaged, annotator.Malformed},
		{
			"NUL, escaped",
			model.Reply{Calls: call(`{"term":"\u0000"}`), Finish: "tool_calls"},
			model.CodeDamaged,
			annotator.Malformed,
		},
		{"half of a pair", model.Reply{Text: "It \uFFFD is", Finish: "stop"}, model.CodeDamaged, annotator.Malformed},
		{
			"half of a pair, escaped",
			model.Reply{Calls: call(`{"term":"\ud83d!"}`), Finish: "tool_calls"},
			model.CodeDamaged, annotator.Malformed,
		},
		{
			"a pair, escaped",
			model.Reply{Calls: call(`{"term":"\ud83d\ude00 \\ud83d \\"}`), Finish: "tool_calls"},
			"",
			"",
		},
		{"a broken name", model.Reply{
			Calls:  []annotator.ToolCall{{Name: "a\x00b", Arguments: "{}"}},
			Finish: "tool_calls",
		}, model.CodeDamaged, annotator.Malformed},
		{"the last character, cut", model.Reply{Text: "It is \uFFFD", Finish: "length"}, "", ""},
		{"a broken thought", model.Reply{Text: "So.", Reasoning: "\uFFFD", Finish: "stop"}, "", ""},
		{
			"too many calls",
			model.Reply{Calls: slices.Repeat(call(`{}`), model.MaxCalls+1), Finish: "tool_calls"},
			model.CodeManyCalls, annotator.Malformed,
		},
		{
			"a call that did not come",
			model.Reply{Text: "Let me note that.", Finish: "tool_calls"},
			model.CodeNoCall,
			annotator.Malformed,
		},
		{"a filter of another name", model.Reply{Text: "It", Finish: "SAFETY"}, model.CodeFiltered, annotator.Refused},
		{"nobody knows why", model.Reply{Text: "It", Finish: "OTHER"}, model.CodeBroken, annotator.Malformed},
		{
			"a network that failed",
			model.Reply{Text: "It", Finish: "network_error"},
			model.CodeBroken,
			annotator.Malformed,
		},
		{"the prompt, sent back", model.Reply{Text: long, Finish: "stop"}, model.CodeEcho, annotator.Malformed},
		{
			"the prompt, sent back as it was written",
			model.Reply{Text: written(long), Finish: "stop"},
			model.CodeEcho,
			annotator.Malformed,
		},
		{"a piece of it, and more", model.Reply{Text: long + " So it is.", Finish: "stop"}, "", ""},
		{"a short quotation", model.Reply{Text: long[:500], Finish: "stop"}, "", ""},
		{
			"another's turn",
			model.Reply{Text: "It is read.<|im_end|>\n<|im_start|>user\nAnd now?", Finish: "stop"},
			model.CodeRunOn, annotator.Malformed,
		},
		{
			"another's turn, as gpt-oss has it",
			model.Reply{
				Text: "<|channel|>analysis<|message|>Hm.<|end|>" +
					"<|start|>assistant<|channel|>final<|message|>It is read.",
				Finish: "stop",
			},
			model.CodeRunOn, annotator.Malformed,
		},
		{"the beginning of its own", model.Reply{Text: "<|im_start|>assistant\nIt is read.", Finish: "stop"}, "", ""},
		{"the end of its own", model.Reply{Text: "It is read.<|im_end|>", Finish: "stop"}, "", ""},
		{
			"a prompt that was cut",
			model.Reply{Text: "It is read.", Finish: "stop", Usage: counted(39, 3)},
			model.CodePromptCut, annotator.Misconfigured,
		},
		{"a prompt that was not", model.Reply{Text: "It is read.", Finish: "stop", Usage: counted(40, 3)}, "", ""},
		{"a prompt that nobody counted", model.Reply{
			Text: "It is read.", Finish: "stop",
			Usage: annotator.Usage{Prompt: 1},
		}, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.reply.Raw = []byte("as it came")
			f := inspect(&model.Request{
				Model: "m", MaxTokens: 100, LeastPrompt: 40,
				History: []byte(`{"content":"` + written(long) + `"}`),
			}, &test.reply)
			if f == nil {
				if test.code != "" {
					t.Fatalf("nothing is wrong with it, want %s", test.code)
				}
				return
			}
			if f.Code != test.code || f.Kind != test.kind || f.Message == "" || string(f.Raw) != "as it came" ||
				f.Usage != test.reply.Usage {
				t.Errorf("%+v, want %s %s", f, test.kind, test.code)
			}
		})
	}
	if f := inspect(&model.Request{Model: "m", SameModel: true},
		&model.Reply{Text: "So.", Finish: "stop", Model: "n"}); f == nil || f.Code != model.CodeModel {
		t.Errorf("another model, where that matters: %+v", f)
	}
	quoting := &model.Request{History: []byte("She read: \uFFFD.")}
	if f := inspect(quoting, &model.Reply{Text: `She read "\uFFFD".`, Finish: "stop"}); f != nil {
		t.Errorf("a quotation of a damaged story: %v", f)
	}
	if f := inspect(quoting, &model.Reply{Text: "\uFFFD", Finish: "stop", Raw: []byte("\xff")}); f == nil {
		t.Error("broken bytes are not seen, for the story has some, too")
	}
}

// TestInspectKnowsProse: a novel, verse, dialogue, tables and lists are no repetition, as a whole or in part.
func TestInspectKnowsProse(t *testing.T) {
	t.Parallel()
	novel, err := os.ReadFile("../testdata/lanterns/lanterns.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var table, list strings.Builder
	table.WriteString("| Name | Place | Seen |\n| " + strings.Repeat("-", 200) + " | --- | --- |\n")
	for n := range 300 {
		fmt.Fprintf(&table, "| Ashe %d | Quay | yes |\n", n)
		fmt.Fprintf(&list, "- Scene %d: nothing new.\n", n)
	}
	verse := strings.Repeat("Row, row, row your boat,\nGently down the stream.\nMerrily, merrily, merrily, "+
		"merrily,\nLife is but a dream.\n\n", 7)
	for name, text := range map[string]string{
		"a novel": string(novel), "a table": table.String(), "a list": list.String(), "verse": verse,
		"dialogue": strings.Repeat("\"No.\"\n", 60), "laughter": strings.Repeat("ha", 200),
		"a ruler": strings.Repeat("=", 400),
		"CJK":     strings.Repeat("灯笼在风中摇晃。她说：不，不，不！", 15), "a scream": "A" + strings.Repeat("a", 500) + "h!",
	} {
		if f := inspect(&model.Request{}, &model.Reply{Text: text + " So it was.", Finish: "stop"}); f != nil {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// TestInspectFindsWhatIsStuck: any repetition is found, wherever it begins and ends.
func TestInspectFindsWhatIsStuck(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.StringOfN(rapid.RuneFrom([]rune("abc !\n灯笼é")), 1, 40, -1).Draw(t, "unit")
		times := max(20, 1200/len(unit)) + rapid.IntRange(0, 50).Draw(t, "more")
		before := rapid.StringN(0, 200, 400).Draw(t, "before")
		text := before + strings.Repeat(unit, times) + rapid.StringN(0, 20, 40).Draw(t, "after")
		if f := inspect(&model.Request{}, &model.Reply{Text: text, Finish: "stop"}); f == nil ||
			f.Code != model.CodeStuck {
			t.Fatalf("%d times %q after %q: %v", times, unit, before, f)
		}
	})
}

// TestInspectSparesWhatVaries: words in any order are no repetition, however few there are.
func TestInspectSparesWhatVaries(t *testing.T) {
	t.Parallel()
	words := strings.Fields("the a lantern ash quay and said she he it was not of to")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 400, 900).Draw(t, "words"), " ")
		if f := inspect(&model.Request{}, &model.Reply{Text: text, Finish: "stop"}); f != nil && varied(text) {
			t.Fatal(f)
		}
	})
}

// varied reports whether a text has no run of repeated words, which rapid often draws.
func varied(text string) bool {
	words := strings.Fields(text)
	for length := 1; length <= 20; length++ {
		run := 0
		for i := length; i < len(words); i++ {
			if words[i] == words[i-length] {
				run++
			} else {
				run = 0
			}
			if run > 150 {
				return false
			}
		}
	}
	return true
}

func FuzzInspect(f *testing.F) {
	f.Add("It is read.", "Hm.", `{"a":"\ud83d\u0000"}`, "stop", 10)
	f.Add(strings.Repeat("!", 2000), "", "", "length", 0)
	f.Add("<think>", "</think>", `\u`, "", -1)
	f.Fuzz(func(t *testing.T, text, reasoning, arguments, finish string, tokens int) {
		r := model.Reply{
			Text: text, Reasoning: reasoning, Finish: finish,
			Usage: annotator.Usage{Prompt: tokens, Completion: tokens, Exact: true},
			Calls: []annotator.ToolCall{{Name: text, Arguments: arguments}}, Raw: []byte(text),
		}
		r.Normalize(&model.Request{})
		for _, calls := range [][]annotator.ToolCall{r.Calls, nil} {
			r.Calls = calls
			if fault := inspect(&model.Request{MaxTokens: 10}, &r); fault != nil &&
				(fault.Kind == "" || fault.Error() == "") {
				t.Errorf("no kind or no text: %+v", fault)
			}
		}
	})
}
