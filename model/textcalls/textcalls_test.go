package textcalls_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/model/textcalls"
)

// every has the tools of the tests, which accept any arguments.
var every = &textcalls.Tools{
	Names: []string{"a", "b", "glossary_search", "glossary_create", "glossary_delete", "read_post", "list_snapshots"},
	Check: func(annotator.ToolCall) error { return nil },
}

func find(text string) ([]annotator.ToolCall, string, string) {
	return textcalls.Find(text, every).Calls()
}

const search = `{"query":"Dawn <breaks> & \"falls\""}`

func call(name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{Name: name, Arguments: arguments}
}

func TestFormsOfCallsAreRead(t *testing.T) {
	t.Parallel()
	const (
		hermes = `{"name": "glossary_search", "arguments": ` + search + `}`
		llama  = `{"name": "glossary_search", "parameters": ` + search + `}`
	)
	one := []annotator.ToolCall{call("glossary_search", search)}
	two := append(one, call("list_snapshots", "{}"))
	coder := call("glossary_search", `{"query":"Dawn <breaks>\nhere","limit":"10"}`)
	for _, test := range []struct {
		name, text string
		want       []annotator.ToolCall
		rest       string
	}{
		{"Hermes", "<tool_call>\n" + hermes + "\n</tool_call>", one, ""},
		{"Hermes on one line", "<tool_call>" + hermes + "</tool_call>", one, ""},
		{"Hermes, two", "I look.\n<tool_call>" + hermes + "</tool_call>\n<tool_call>\n" +
			`{"name":"list_snapshots","arguments":{}}` + "\n</tool_call>", two, "I look."},
		{
			"Hermes in long text", strings.Repeat("On and on. ", 100) + "<tool_call>" + hermes + "</tool_call>", one,
			strings.TrimSpace(strings.Repeat("On and on. ", 100)),
		},
		{"Hermes in a fence", "```xml\n<tool_call>" + hermes + "</tool_call>\n```", one, "```xml\n\n```"},
		{
			"Qwen Coder", "<tool_call>\n<function=glossary_search>\n<parameter=query>\nDawn " +
				"<breaks>\nhere\n</parameter>\n<parameter=limit>10</parameter>\n</function>\n</tool_call>",
			[]annotator.ToolCall{coder},
			"",
		},
		{
			"Qwen Coder without tag", "Well: <function=glossary_search><parameter=query>Dawn " +
				"<breaks>\nhere</parameter><parameter=limit>\n10\n</parameter></function>",
			[]annotator.ToolCall{coder},
			"Well:",
		},
		{"Qwen Coder without parameters", "<function=list_snapshots>\n</function>", two[1:], ""},
		{"Llama 3.1", "<function=glossary_search>" + search + "</function>", one, ""},
		{"Llama 3", llama, one, ""},
		{"Llama 3, two", llama + "; " + `{"name":"list_snapshots","parameters":{}}`, two, ""},
		{"python tag", "<|python_tag|>" + llama, one, ""},
		{"Mistral", "[TOOL_CALLS][" + hermes + `, {"name":"list_snapshots","arguments":{},"id":"abc123def"}]`, two, ""},
		{"Mistral with a blank", "[TOOL_CALLS] [" + hermes + "]", one, ""},
		{"newer Mistral", "[TOOL_CALLS]glossary_search[ARGS]" + search + "[TOOL_CALLS]list_snapshots[ARGS]{}", two, ""},
		{"Mistral with ids", "[TOOL_CALLS]glossary_search[CALL_ID]a1b2c3d4e[ARGS]" + search, one, ""},
		{"Mistral without a mark of arguments", "[TOOL_CALLS]glossary_search" + search, one, ""},
		{"fenced", "```json\n" + hermes + "\n```", one, ""},
		{"fenced with a line before", "I look it up:\n\n```tool_call\n" + hermes + "\n```\n", one, "I look it up:"},
		{
			"fences", "```json\n" + hermes + "\n```\nand\n```\n" + `{"name":"list_snapshots","arguments":{}}` + "\n```",
			two, "and",
		},
		{"plain", "\n " + hermes + "\n", one, ""},
		{"plain, a list", "[\n" + hermes + ",\n" + `{"name":"list_snapshots","arguments":{}}` + "\n]", two, ""},
		{"plain with a line before", "I look it up.\n" + hermes, one, "I look it up."},
		{
			"as in the API", `{"id":"x","type":"function","function":{"name":"list_snapshots","arguments":"{}"}}`,
			two[1:],
			"",
		},
		{"arguments in a string", `<tool_call>{"name":"list_snapshots","arguments":"{}"}</tool_call>`, two[1:], ""},
		{
			"tags in a string",
			`<tool_call>{"name":"a","arguments":{"q":"</tool_call><think><function=b></function>"}}</tool_call>`,
			[]annotator.ToolCall{call("a", `{"q":"</tool_call><think><function=b></function>"}`)},
			"",
		},
		{
			"after thinking aloud", strings.Repeat("On and on. ", 300) + "\n" + hermes, one,
			strings.TrimSpace(strings.Repeat("On and on. ", 300)),
		},
		{
			"after thinking aloud in Chinese", strings.Repeat("灯塔看守人没有睡觉。", 300) + "\n" + hermes, one,
			strings.Repeat("灯塔看守人没有睡觉。", 300),
		},
		{
			"beside updates", "<codex_updates>[]</codex_updates><tool_call>" + hermes + "</tool_call>", one,
			"<codex_updates>[]</codex_updates>",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calls, rest, wrong := find(test.text)
			if diff := cmp.Diff(test.want, calls); diff != "" || rest != test.rest || wrong != "" {
				t.Errorf("%s left %q, wrong %q", diff, rest, wrong)
			}
		})
	}
}

// TestSlipsOfForm: a complete call with only one meaning is read, whatever slips of form it has.
func TestSlipsOfForm(t *testing.T) {
	t.Parallel()
	const good = `<tool_call>{"name":"a","arguments":{}}</tool_call>`
	for _, test := range []struct{ text, want string }{
		{`<tool_call>{"name":"a","arguments":{}}`, `a{}`},
		{`{"name":"a","arguments":{}}</tool_call>`, `a{}`},
		{`<tool_call>{'name':'a','arguments':{}}</tool_call>`, `a{}`},
		{`<tool_call>a(q=1)</tool_call>`, `a{"q":1}`},
		{"<function=a><parameter=q>x</function>", `a{"q":"x"}`},
		{"<function=a><parameter=q>x<parameter=r>y</parameter></function>", `a{"q":"x","r":"y"}`},
		{"<function=a>{}", `a{}`},
		{"<|python_tag|>a.call(q=1)", `a{"q":1}`},
		{"```json\n" + `{"name":"a","arguments":{}}`, `a{}`},
		{"```tool_code\nprint(a(q=1))\n```", `a{"q":1}`},
		{"<tool_code>a(q=1)</tool_code>", `a{"q":1}`},
		{`a(q="x")`, `a{"q":"x"}`},
		{`[a(q="x"), b(r=1)]`, `a{"q":"x"} b{"r":1}`},
		{`print(a(q="x"))`, `a{"q":"x"}`},
		{"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>a\n```json\n{}\n```<｜tool▁call▁end｜>", `a{}`},
		{`<function_calls><invoke name="a"></invoke></function_calls>`, `a{}`},
		{`commentary to=functions.a json{}`, `a{}`},
		{good + `<tool_call>{"name":"b","arguments":{}}`, `a{} b{}`},
		{`<tool_call>{"name":"b","arguments":{}} ` + good, `b{} a{}`},
		{good + " and then </tool_call>", `a{}`},
		{`{"tool_calls":[{"function":{"name":"functions.a","arguments":"{}"}}]}`, `a{}`},
		{`[{'a': {'q': True}}]`, `a{"q":true}`},
		{"Well:\n" + `{"name":"a","arguments":{}}` + "\n" + `{"name":"b","arguments":{}}`, `a{} b{}`},
		{"a\n{q: 1,}", `a{"q":1}`},
		{"<tool_call>a<arg_key>q</arg_key><arg_value>x</arg_value></tool_call>", `a{"q":"x"}`},
		{"<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}<|tool_call_end|>" +
			"<|tool_call_begin|>functions.b:1<|tool_call_argument_begin|>{}<|tool_call_end|>", `a{} b{}`},
		{
			"<|tool_calls_section_begin|><|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}<|" +
				"tool_call_end|>" +
				"<|tool_call_begin|>functions.b:1<|tool_call_argument_begin|>{}<|tool_call_end|><|" +
				"tool_calls_section_end|>",
			`a{} b{}`,
		},
		{"<|tool_call>call:a{q:<|\"|>x<|\"|>}<tool_call|>", `a{"q":"x"}`},
		{
			`<｜DSML｜invoke name="a"><｜DSML｜parameter name="q" string="true">x</｜DSML｜parameter></｜DSML｜invoke>`,
			`a{"q":"x"}`,
		},
		{good + "<tool_call>\nThat is all.", `a{}`},
		{`[TOOL_REQUEST]{"name":"a","arguments":{}}[END_TOOL_REQUEST] [TOOL_REQUEST]{"name":"b","arguments":{}}[END_TOOL_REQUEST]`, `a{} b{}`},
		{`<TOOL_CALL>{"name":"a","arguments":{}}</TOOL_CALL>`, `a{}`},
		{`<tool_call name="a">{"q":"x"}</tool_call>`, `a{"q":"x"}`},
		{`<tool name="a"><param name="q">x</param></tool>`, `a{"q":"x"}`},
		{`<longcat_tool_call>a<longcat_arg_key>q</longcat_arg_key><longcat_arg_value>x</longcat_arg_value></longcat_tool_call>`, `a{"q":"x"}`},
		{`{"action":"a","action_input":{"q":"x"}}`, `a{"q":"x"}`},
		{`{"tool_uses":[{"recipient_name":"functions.a","parameters":{"q":"x"}}]}`, `a{"q":"x"}`},
		{`{"functionCall":{"name":"a","args":{"q":"x"}}}`, `a{"q":"x"}`},
		{`functions.a({"q":"x"});`, `a{"q":"x"}`},
		{`a(q: "x", r: 1)`, `a{"q":"x","r":1}`},
	} {
		calls, _, wrong := find(test.text)
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+c.Arguments)
		}
		if strings.Join(got, " ") != test.want || wrong != "" {
			t.Errorf("%s: %s, wrong %q; want %s", test.text, got, wrong, test.want)
		}
	}
}

// TestUnsoundCallIsReported: a text that has the shape of a call and is invalid is an error, and no other call is read.
func TestUnsoundCallIsReported(t *testing.T) {
	t.Parallel()
	const good = `<tool_call>{"name":"a","arguments":{}}</tool_call>`
	for _, test := range []struct{ text, says string }{
		{`<tool_call>{"name":"a","arguments":{}} and so on</tool_call>`, "words follow before </tool_call>"},
		{`<tool_call>{"name":"a","arguments":{"q":"x</tool_call>`, "ends inside"},
		{`<tool_call>{"name":"a","arguments":{"q":1,"q":2}}</tool_call>`, "stands twice"},
		{`<tool_call>{"name":"a","name":"b","arguments":{}}</tool_call>`, "stands twice"},
		{`<tool_call>{"name":"a","arguments":{},"parameters":{}}</tool_call>`, "both"},
		{`<tool_call>{"name":"a","arguments":{},"note":"x"}</tool_call>`, "more than a name"},
		{`<tool_call>{"name":"a","arguments":[]}</tool_call>`, "not a JSON object"},
		{`<tool_call>{"name":"a","arguments":"{} {}"}</tool_call>`, "something follows"},
		{`<tool_call>{"name":"a"}</tool_call>`, "a JSON object with name and arguments"},
		{`<tool_call>{"name":1,"arguments":{}}</tool_call>`, "a JSON object with name and arguments"},
		{`<tool_call>{"name":"a","arguments":` + strings.Repeat(`{"a":`, 30) + `1` + strings.Repeat(`}`, 31) +
			`</tool_call>`, "levels deep"},
		{"<function=a><parameter=q>x</parameter><parameter=q>y</parameter></function>", "stands twice"},
		{"<function=a><parameter=q>x</parameter>", "</function> does not follow"},
		{`a({"q":"x"`, "ends inside"},
		{`a({"q":"x"}, 1)`, ") does not follow the object"},
		{`<tool_call name="a">{"q":"x"</tool_call>`, "the arguments of a"},
		{"<function=a b>{}</function>", "not followed by >"},
		{"[TOOL_CALLS]a[ARGS]{", "ends inside"},
		{`[TOOL_CALLS][{"name":"a","arguments":{}}`, "ends inside"},
		{"```json\n" + `{"name":"a","arguments":{"q":` + "\n```", "a value was expected"},
		{`<|tool▁call▁begin|>a`, "no call follows"},
		{`{"name":"a","arguments":{"q":"cut of`, "ends inside"},
		{`{"name":"a","arguments":{}} {"name":"Dawn"}`, "JSON that is no call follows"},
		{"{torn\n" + `{"name":"a","arguments":{}}`, "JSON that is not whole"},
		{
			strings.Repeat("On and on. ", 400) + "\n" + `{"name":"a","arguments":{}}`,
			"among 4399 characters of other text",
		},
		{
			"```json\n" + `{"name":"a","arguments":{}}` + "\n```\n" + strings.Repeat("On and on. ", 100),
			"characters of other text",
		},
		{`{"name":"a","arguments":{}}` + "\n" + strings.Repeat("On and on. ", 60) + "\n" +
			`{"name":"b","arguments":{}}` + strings.Repeat("\nOn and on.", 60), "characters of other text"},
		{strings.Repeat(good, 251), "more than 250 calls"},
		{
			"[" + strings.Repeat(`{"name":"a","arguments":{}},`, 250) + `{"name":"a","arguments":{}}]`,
			"more than 250 calls",
		},
	} {
		calls, rest, wrong := find(test.text)
		if calls != nil || rest != test.text || !strings.Contains(wrong, test.says) {
			t.Errorf("%s: %v, wrong %q; want %q", test.text, calls, wrong, test.says)
		}
	}
}

func TestNothingOfTheKind(t *testing.T) {
	t.Parallel()
	const hermes = `<tool_call>{"name":"a","arguments":{}}</tool_call>`
	for _, text := range []string{
		"", "Nothing new here.", "Ashe (the warden) has a `lamp` {of brass} [sic].", "{aside}", "[1] A note.",
		"1 < 2 > 0; <b>bold</b>",
		`{"term":"Dawn"}`, `{"name":"Dawn","kind":"ship"}`, `[{"name":"Dawn"},` + "\n" + `{"name":"a","arguments":{}}]`,
		"```json\n" + `{"term":"Dawn"}` + "\n```\nDone.", "```\ncode\n```\n\n```\nmore\n```",
		"```python\nprint(1)\n```",
		"They spoke of the function of lamps; she had a tool to call her own.",
		"<codex_updates>[]</codex_updates>", `<codex_updates>[{"term":"Dawn","definition":"` + hermes +
			`","status":"new"}]</codex_updates> Done.`,
		"<codex_updates>[</codex_updates>" + hermes + "</codex_updates>", "<codex_updates>" + hermes,
		"```\n<codex_updates>\n" + `[{"name":"a","arguments":{}}]` + "\n</codex_updates>\n```", "</codex_updates>",
		"Done.\n</tool_call>", "</function></tool_call>",
		strings.Repeat(hermes, 1<<20/len(hermes)+1),
	} {
		if found := textcalls.Find(text, every); !found.Empty() {
			calls, _, wrong := found.Calls()
			t.Errorf("%.200s: %v, wrong %q", text, calls, wrong)
		}
	}
}

func TestCheckedByTheTools(t *testing.T) {
	t.Parallel()
	const text = `<tool_call>{"name":"a","arguments":{}}</tool_call><tool_call>{"name":"b","arguments":{}}</tool_call>`
	tools := &textcalls.Tools{Names: every.Names, Check: func(c annotator.ToolCall) error {
		if c.Name == "b" {
			return errors.New("there is no tool b")
		}
		return nil
	}}
	calls, rest, wrong := textcalls.Find(text, tools).Calls()
	if calls != nil || rest != text || wrong != "there is no tool b" {
		t.Errorf("%v, rest %q, wrong %q", calls, rest, wrong)
	}
}
