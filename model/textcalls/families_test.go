package textcalls_test

import (
	"strings"
	"testing"

	"annotator/model/textcalls"
)

// Expectations other than calls.
const (
	refused = "refused" // something looks like a call and cannot be read
	left    = "left"    // it is plain text
)

// TestCallsOfEveryFamilyAreRead: replies in the forms of chat templates and parsers of model families are read, whole
// and with slips.
func TestCallsOfEveryFamilyAreRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ family, text, want string }{
		{
			"Llama 3.1",
			`<|python_tag|>{"name": "glossary_search", "parameters": {"query": "Mara", "limit": 5}}<|eom_id|>`,
			`glossary_search{"query": "Mara", "limit": 5}`,
		},
		{"Llama 3.1, header leaked", "<|start_header_id|>assistant<|end_header_id|>\n\n" +
			`{"name": "read_post", "parameters": {"post_id": 100}}<|eot_id|>`, `read_post{"post_id": 100}`},
		{
			"Llama 3, header leaked", "<|start_header_id|>[glossary_search(query='Mara'), read_post(post_id=7)]",
			`glossary_search{"query":"Mara"} read_post{"post_id":7}`,
		},
		{
			"Hermes Theta", "<|im_start|>" + `{"name": "read_post", "arguments": {"post_id": 7}}` + "<|im_end|>",
			`read_post{"post_id": 7}`,
		},
		{
			"Llama 3.1, type function", `{"type": "function", "name": "read_post", "parameters": {"post_id": "100"}}`,
			`read_post{"post_id": "100"}`,
		},
		{
			"Llama 3.2, list", `[glossary_search(query="Mara"), read_post(post_id=100)]`,
			`glossary_search{"query":"Mara"} read_post{"post_id":100}`,
		},
		{"Llama 3.1, custom", `<function=read_post>{"post_id": 100}</function><|eot_id|>`, `read_post{"post_id": 100}`},
		{"Llama 3.2, cut", `[glossary_search(query="Mara"), read_post(post_id=`, refused},
		{"Llama 4", `<|python_start|>[glossary_search(query="Mara")]<|python_end|>`, `glossary_search{"query":"Mara"}`},
		{
			"Llama 4, two lists", `<|python_start|>[glossary_search(query="Mara")]<|python_end|>` + "\n" +
				`<|python_start|>[read_post(post_id=1)]<|python_end|>`,
			`glossary_search{"query":"Mara"} read_post{"post_id":1}`,
		},

		{"Qwen 2.5", "I look it up.\n<tool_call>\n" + `{"name": "glossary_search", "arguments": {"query": "Mara"}}` +
			"\n</tool_call><|im_end|>", `glossary_search{"query": "Mara"}`},
		{
			"Qwen 2.5, doubled tag", "<tool_call>\n<tool_call>\n" +
				`{"name": "glossary_search", "arguments": {"query": "Mara"}}` + "\n</tool_call>\n</tool_call>",
			`glossary_search{"query": "Mara"}`,
		},
		{"Qwen 2.5, braces doubled", "<tool_call>\n" + `{{"name": "glossary_search", "arguments": {"query": "Mara"}}}` +
			"\n</tool_call>", `glossary_search{"query": "Mara"}`},
		{
			"Qwen 2.5, a brace too many", "<tool_call>\n" +
				`{"name": "glossary_search", "arguments": {"query": "Mara"}}}` + "\n</tool_call>",
			`glossary_search{"query": "Mara"}`,
		},
		{"Qwen 2.5, a brace too few", "<tool_call>\n" + `{"name": "glossary_search", "arguments": {"query": "Mara"}` +
			"\n</tool_call>", refused},
		{"Qwen 2.5, prose in the tag", "<tool_call>\nI search for Mara: " +
			`{"name": "glossary_search", "arguments": {"query": "Mara"}}` + "\n</tool_call>", refused},
		{"Qwen 3, after thoughts", "</think>\n\n<tool_call>\n" + `{"name": "read_post", "arguments": {"post_id": 7}}` +
			"\n</tool_call>", `read_post{"post_id": 7}`},
		{
			"Qwen 3 Coder", "<tool_call>\n<function=glossary_create>\n<parameter=term>\nMara " +
				"Voss\n</parameter>\n<parameter=tags>\n[\"person\"]\n</parameter>\n</function>\n</tool_call>",
			`glossary_create{"term":"Mara Voss","tags":"[\"person\"]"}`,
		},
		{
			"Qwen 3 Coder, without its first tag",
			"I note it.\n\n<function=glossary_create>\n<parameter=term>\nMara " +
				"Voss\n</parameter>\n</function>\n</tool_call>", `glossary_create{"term":"Mara Voss"}`,
		},
		{"Qwen 3 Coder, markup in a value", "<tool_call>\n<function=glossary_create>\n<parameter=term>\n<b>Mara</b> " +
			"& \"Tam\"\n</parameter>\n</function>\n</tool_call>", `glossary_create{"term":"<b>Mara</b> & \"Tam\""}`},
		{"Qwen 3 Coder, cut", "<tool_call>\n<function=glossary_create>\n<parameter=term>\nMara Vo", refused},
		{
			"names as the text of tags",
			"<tool_call>\n<function>glossary_search</function>\n<parameter>query</parameter>\nMara " +
				"Voss\n<parameter>limit</parameter>\n5\n</function>\n</tool_call>",
			`glossary_search{"query":"Mara Voss","limit":"5"}`,
		},
		{
			"names as the text of tags, each value ended",
			"<function=glossary_search><parameter>query</parameter>Mara</parameter></function>",
			`glossary_search{"query":"Mara"}`,
		},
		{"names as the text of tags, JSON", "<tool_call><function>glossary_search</function>{\"query\": " +
			"\"Mara\"}</tool_call>", `glossary_search{"query": "Mara"}`},
		{
			"names as the text of tags, nothing", "<tool_call><function>list_snapshots</function></tool_call>",
			`list_snapshots{}`,
		},
		{"values without names", "<function=glossary_search>\n<parameter>Mara</parameter>\n</function>", refused},
		{
			"values without names, two",
			"<function=glossary_search>\n<parameter>query</parameter>\n<parameter>Mara</parameter>\n</function>",
			refused,
		},
		{
			"names as the text of tags, cut",
			"<tool_call><function>glossary_search</function>\n<parameter>query</parameter>\nMar", refused,
		},
		{
			"names as the text of tags, twice",
			"<function=glossary_search><parameter>query</parameter>Mara<parameter>query</parameter>Tam</function>",
			refused,
		},
		{"a function in words", "<tool_call><function>glossary_search</function> would find her.</tool_call>", refused},
		{
			"objects without a comma between them",
			`[{"name": "glossary_search", "arguments": {"query": "Mara"}} {"name": "read_post", "arguments": {"post_id": 7}}]`, `glossary_search{"query":"Mara"} read_post{"post_id":7}`,
		},
		{
			"Qwen, agent", "✿FUNCTION✿: glossary_search\n✿ARGS✿: {\"query\": \"Mara\"}\n✿RESULT✿",
			`glossary_search{"query": "Mara"}`,
		},

		{
			"Hermes 2 Pro, scratch pad", "<scratch_pad>\nI need to search.\n</scratch_pad>\n<tool_call>\n" +
				`{"arguments": {"query": "Mara"}, "name": "glossary_search"}` + "\n</tool_call>",
			`glossary_search{"query": "Mara"}`,
		},
		{"Hermes, Python literals", "<tool_call>\n{'arguments': {'query': 'Mara\\'s lamp', 'all': True}, 'name': " +
			"'glossary_search'}\n</tool_call>", `glossary_search{"query":"Mara's lamp","all":true}`},
		{"Hermes, apostrophe not escaped", "<tool_call>\n{'arguments': {'query': 'Mara's lamp'}, 'name': " +
			"'glossary_search'}\n</tool_call>", refused},
		{"Hermes, ends with an opening tag", "<tool_call>\n" + `{"name": "read_post", "arguments": {"post_id": 7}}` +
			"\n<tool_call>", `read_post{"post_id": 7}`},

		{
			"Mistral 7B v0.3",
			`[TOOL_CALLS] [{"name": "glossary_search", "arguments": {"query": "Mara"}, "id": "VvvODy9mT"}]</s>`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Mistral v11", `[TOOL_CALLS]glossary_search[CALL_ID]VvvODy9mT[ARGS]{"query": "Mara"}</s>`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Mistral v13",
			`[TOOL_CALLS]glossary_search[ARGS]{"query": "Mara"}[TOOL_CALLS]read_post[ARGS]{"post_id": 7}`,
			`glossary_search{"query": "Mara"} read_post{"post_id": 7}`,
		},
		{
			"Magistral", "[/THINK]I search.[TOOL_CALLS]glossary_search[ARGS]" + `{"query": "Mara"}`,
			`glossary_search{"query": "Mara"}`,
		},
		{"Mistral, the mark alone", `[TOOL_CALLS]`, refused},
		{"Mistral, marks lost", `glossary_search{"query": "Mara"}`, `glossary_search{"query": "Mara"}`},

		{
			"DeepSeek V3", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>glossary_search\n```json\n" +
				`{"query": "Mara"}` +
				"\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>read_post\n```json\n{\"post_id\": " +
				"7}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
			`glossary_search{"query": "Mara"} read_post{"post_id": 7}`,
		},
		{
			"DeepSeek V3.1",
			`<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>glossary_search<｜tool▁sep｜>{"query": "Mara"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, `glossary_search{"query": "Mara"}`,
		},
		{"DeepSeek R1, function named so", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>glossary_search\n```json\n" +
			`{"query": "Mara"}` + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", `glossary_search{"query": "Mara"}`},
		{
			"DeepSeek V3.2", "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"glossary_search\">\n<｜DSML｜parameter " +
				"name=\"query\" string=\"true\">Mara</｜DSML｜parameter>\n<｜DSML｜parameter name=\"limit\" " +
				"string=\"false\">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
			`glossary_search{"query":"Mara","limit":"5"}`,
		},
		{
			"DeepSeek V3.1, cut", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>glossary_search<｜tool▁sep｜>{"query": "Ma`,
			refused,
		},

		{"Kimi K2", `<|tool_calls_section_begin|><|tool_call_begin|>functions.glossary_search:0<|tool_call_argument_begin|>{"query": "Mara"}<|tool_call_end|><|tool_calls_section_end|>`, `glossary_search{"query": "Mara"}`},
		{
			"Kimi K2, section not closed",
			`I search. <|tool_calls_section_begin|><|tool_call_begin|>functions.glossary_search:0<|tool_call_argument_begin|>{"query": "Mara"}<|tool_call_end|>`, `glossary_search{"query": "Mara"}`,
		},
		{
			"GLM 4.5", "<tool_call>glossary_search\n<arg_key>query</arg_key>\n<arg_value>Mara</arg_value>\n" +
				"<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>",
			`glossary_search{"query":"Mara","limit":"5"}`,
		},
		{"GLM 4.6, no arguments", "<tool_call>list_snapshots\n</tool_call>", `list_snapshots{}`},
		{
			"GLM 4.5, value not closed",
			"<tool_call>glossary_search\n<arg_key>query</arg_key>\n<arg_value>Mara\n</tool_call>", refused,
		},
		{"GLM 4", "glossary_search\n{\"query\": \"Mara\"}", `glossary_search{"query": "Mara"}`},

		{
			"Granite 3", `<|tool_call|>[{"name": "glossary_search", "arguments": {"query": "Mara"}}]`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Granite 3.1", `<tool_call>[{"name": "glossary_search", "arguments": {"query": "Mara"}}]`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Granite 20B FC", `<function_call> {"name": "glossary_search", "arguments": {"query": "Mara"}}`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"MiniMax M1", "<tool_calls>\n" + `{"name": "glossary_search", "arguments": {"query": "Mara"}}` + "\n" +
				`{"name": "read_post", "arguments": {"post_id": 7}}` + "\n</tool_calls>",
			`glossary_search{"query": "Mara"} read_post{"post_id": 7}`,
		},
		{
			"MiniMax M2", "<minimax:tool_call>\n<invoke name=\"glossary_search\">\n<parameter " +
				"name=\"query\">Mara</parameter>\n</invoke>\n<invoke " +
				"name=\"list_snapshots\">\n</invoke>\n</minimax:tool_call>",
			`glossary_search{"query":"Mara"} list_snapshots{}`,
		},
		{
			"Seed-OSS",
			"<seed:tool_call>\n<function=glossary_search>\n<parameter=query>Mara</parameter>\n</function>\n" +
				"</seed:tool_call>", `glossary_search{"query":"Mara"}`,
		},
		{"gpt-oss", `<|channel|>commentary to=functions.glossary_search <|constrain|>json<|message|>{"query": "Mara"}<|call|>`, `glossary_search{"query": "Mara"}`},
		{
			"gpt-oss, recipient in the role",
			`<|start|>assistant to=functions.glossary_search<|channel|>commentary json<|message|>{"query": "Mara"}<|call|>`, `glossary_search{"query": "Mara"}`,
		},
		{
			"gpt-oss, analysis before",
			`<|channel|>analysis<|message|>I search.<|end|><|start|>assistant<|channel|>commentary to=functions.glossary_search<|message|>{"query": "Mara"}<|call|>`, `glossary_search{"query": "Mara"}`,
		},
		{"Gemma 3", "```tool_code\nglossary_search(query=\"Mara\")\n```", `glossary_search{"query":"Mara"}`},
		{
			"Gemma 3, two lines", "```tool_code\nglossary_search(query=\"Mara\")\nread_post(post_id=7)\n```",
			`glossary_search{"query":"Mara"} read_post{"post_id":7}`,
		},
		{"Gemma 3, assigned", "```tool_code\nresult = glossary_search(query=\"Mara\")\nprint(result)\n```", refused},
		{
			"FunctionGemma", "<start_function_call>call:glossary_search{query:<escape>Mara<escape>}<end_function_call>",
			`glossary_search{"query":"Mara"}`,
		},
		{"Command R7B", "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"glossary_search\", " +
			"\"parameters\": {\"query\": \"Mara\"}}\n]<|END_ACTION|>", `glossary_search{"query": "Mara"}`},
		{"Command R", "Action: ```json\n[\n    {\n        \"tool_name\": \"glossary_search\",\n        " +
			"\"parameters\": {\"query\": \"Mara\"}\n    }\n]\n```", `glossary_search{"query": "Mara"}`},
		{
			"Phi 4 mini", `functools[{"name": "glossary_search", "arguments": {"query": "Mara"}}]`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Phi 4 mini, template's mark",
			`<|tool_call|>[{"name": "glossary_search", "arguments": {"query": "Mara"}}]<|/tool_call|>`,
			`glossary_search{"query": "Mara"}`,
		},
		{"xLAM", `[{"name": "glossary_search", "arguments": {"query": "Mara"}}, {"name": "read_post", "arguments": {"post_id": 7}}]`, `glossary_search{"query": "Mara"} read_post{"post_id": 7}`},
		{
			"Hunyuan A13B", `<tool_calls>[{"name": "glossary_search", "arguments": {"query": "Mara"}}]</tool_calls>`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Hunyuan V1",
			"<tool_calls><tool_call>glossary_search<tool_sep>\n<arg_key>query</arg_key>\n" +
				"<arg_value>Mara</arg_value>\n</tool_call></tool_calls>", `glossary_search{"query":"Mara"}`,
		},
		{"ERNIE 4.5", "<tool_call>\n" + `{"name": "glossary_search", "arguments": {"query": "Mara"}}` +
			"\n</tool_call>\n</s>", `glossary_search{"query": "Mara"}`},
		{
			"LFM2", `<|tool_call_start|>[glossary_search(query="Mara")]<|tool_call_end|>I search.`,
			`glossary_search{"query":"Mara"}`,
		},
		{
			"LFM2, JSON",
			`<|tool_call_start|>[{"name": "glossary_search", "arguments": {"query": "Mara"}}]<|tool_call_end|>`,
			`glossary_search{"query": "Mara"}`,
		},
		{"Jamba", "<tool_calls>[\n    {\"name\": \"glossary_search\", \"arguments\": {\"query\": " +
			"\"Mara\"}}\n]</tool_calls>", `glossary_search{"query": "Mara"}`},
		{
			"Nemotron", `<TOOLCALL>[{"name": "glossary_search", "arguments": {"query": "Mara"}}]</TOOLCALL>`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"OLMo 3", "<function_calls>\nglossary_search(query=\"Mara\")\nread_post(post_id=7)\n</function_calls>",
			`glossary_search{"query":"Mara"} read_post{"post_id":7}`,
		},
		{"Apertus", `<|tools_prefix|>[{"glossary_search": {"query": "Mara"}}, {"read_post": {"post_id": 7}}]<|tools_suffix|>`, `glossary_search{"query": "Mara"} read_post{"post_id": 7}`},
		{
			"SmolLM3", "<tool_call>" + `{"name": "glossary_search", "arguments": {"query": "Mara"}}` + "</tool_call>",
			`glossary_search{"query": "Mara"}`,
		},
		{"SmolLM3, code", "<code>\nglossary_search(query=\"Mara\")\n</code>", `glossary_search{"query":"Mara"}`},
		{
			"InternLM 2.5",
			`<|action_start|><|plugin|>{"name": "glossary_search", "parameters": {"query": "Mara"}}<|action_end|>`,
			`glossary_search{"query": "Mara"}`,
		},
		{"Functionary 3.2", ">>>glossary_search\n{\"query\": \"Mara\"}", `glossary_search{"query": "Mara"}`},
		{
			"Functionary, text first", ">>>all\nI search.>>>glossary_search\n{\"query\": \"Mara\"}",
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Step 3", "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke " +
				"name=\"glossary_search\"><steptml:parameter " +
				"name=\"query\">Mara</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
			`glossary_search{"query":"Mara"}`,
		},
		{
			"MiMo",
			"<tool_call>\n<function=glossary_search>\n<parameter=query>Mara</parameter>\n</function>\n</tool_call>",
			`glossary_search{"query":"Mara"}`,
		},
		{"GigaChat 3", `function call<|role_sep|>` + "\n" +
			`{"name": "glossary_search", "arguments": {"query": "Mara"}}`, `glossary_search{"query": "Mara"}`},
		{
			"FireFunction", `functools[{"name": "glossary_search", "arguments": {"query": "Mara"}}]`,
			`glossary_search{"query": "Mara"}`,
		},
		{
			"Cline, Roo Code",
			"I search for her.\n<glossary_search>\n<query>Mara</query>\n<limit>5</limit>\n</glossary_search>",
			`glossary_search{"query":"Mara","limit":"5"}`,
		},
		{
			"the tool as tag, JSON", "<glossary_search>{\"query\": \"Mara\"}</glossary_search>",
			`glossary_search{"query": "Mara"}`,
		},
		{
			"the tool as tag, YAML", "<glossary_search>\nquery: Mara: the lamp\nlimit: 5\n</glossary_search>",
			`glossary_search{"query":"Mara: the lamp","limit":"5"}`,
		},
		{"the tool as tag, nothing", "<list_snapshots></list_snapshots>", `list_snapshots{}`},
		{"the tool as tag, empty", "<list_snapshots/>", `list_snapshots{}`},
		{"the tool as tag, prose", "<glossary_search>\nMara, who waits\n</glossary_search>", refused},
		{"the tool as tag, cut", "<glossary_search>\n<query>Mara", refused},
		{"another tag", "<i>Heron</i>\n<query>Mara</query>", left},
		{"Claude", "<function_calls>\n<invoke name=\"glossary_search\">\n<parameter " +
			"name=\"query\">Mara</parameter>\n</invoke>\n</function_calls>", `glossary_search{"query":"Mara"}`},
		{
			"ReAct", "Thought: I search.\nAction: glossary_search\nAction Input: {\"query\": \"Mara\"}",
			`glossary_search{"query": "Mara"}`,
		},
		{"ReAct, observation", "Action: glossary_search\nAction Input: {\"query\": \"Mara\"}\nObservation: nothing " +
			"was found.", `glossary_search{"query": "Mara"}`},
		{
			"list", "- glossary_search(query=\"Mara\")\n- read_post(post_id=7)",
			`glossary_search{"query":"Mara"} read_post{"post_id":7}`,
		},
		{
			"numbered list", "1. [glossary_search(query=\"Mara\")]\n2. [read_post(post_id=7)]",
			`glossary_search{"query":"Mara"} read_post{"post_id":7}`,
		},
		{
			"list that explains",
			"I could call:\n- glossary_search(query=\"Mara\") to find her\n- or read_post(post_id=7)", refused,
		},
		{"example in prose", "The tool `glossary_search(query=\"Mara\")` would find her.", refused},
		{"mention", "I used glossary_search and read_post.", left},
		{"nothing", "[]", left},
	} {
		calls, _, wrong := find(test.text)
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+c.Arguments)
		}
		said := strings.Join(got, " ")
		switch {
		case wrong != "", said == "" && textcalls.Slip(test.text, every) != "":
			said = refused
		case said == "":
			said = left
		}
		if said != test.want {
			t.Errorf("%s: %s\n\tgives %s\n\twant  %s (%.160q)", test.family, test.text, said, test.want, wrong)
		}
	}
}
