package gemini_test

import (
	"encoding/json"
	"flag"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

var update = flag.Bool("update", false, "write the golden files anew")

func says(role annotator.Role, content string) annotator.Message {
	return annotator.Message{Role: role, Content: content}
}

func calls(content string, list ...annotator.ToolCall) annotator.Message {
	return annotator.Message{Role: annotator.RoleAssistant, Content: content, ToolCalls: list}
}

func call(id, name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func result(id, tool, content string) annotator.Message {
	return annotator.Message{Role: annotator.RoleTool, ToolCallID: id, Tool: tool, Content: content}
}

var definitions = []annotator.ToolDefinition{
	{
		Name: "search", Description: "Finds <entries> & more.",
		Schema: []byte(
			`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`),
	},
	{Name: "list", Description: "Lists all."},
}

// conversation has a turn with two calls at once, and one with what no server would take as it is.
var conversation = [][]annotator.Message{
	{says(annotator.RoleUser, "<scene number=\"1\">灯籠 & \"x\"</scene>")},
	{calls("I look.", call("abcdefgh1", "search", `{"q" : "<Mik>", "id": 9007199254740993}`),
		call("abcdefgh2", "list", ""))},
	{result("abcdefgh1", "search", `{"ok":true}`), result("abcdefgh2", "list", "")},
	{{Role: annotator.RoleAssistant, Content: "Done.", Reasoning: "It stays here."}},
	{says(annotator.RoleUser, "Next.")},
	{calls("", call("abcdefgh3", "functions.x:0", `{"q":`), call("abcdefgh4", "list", `{"a":1,"a":2}`))},
	{result("abcdefgh3", "functions.x:0", "no such tool"), result("abcdefgh4", "list", "\u0000\u2028")},
	{says(annotator.RoleAssistant, "")},
	{says(annotator.RoleUser, "")},
}

// done is the shortest answer that is a reply.
const done = `{"candidates":[{"finishReason":"STOP"}]}`

// body renders a request as it is sent.
func body(tb testing.TB, groups [][]annotator.Message, tools []annotator.ToolDefinition, r model.Request) []byte {
	tb.Helper()
	sent := wiretest.Recorder{Answer: done}
	c := newClient(tb, endpoint.Options{HTTP: &sent})
	r.History, r.Tools = wiretest.History(tb, c, groups...), wiretest.Tools(tb, c, tools)
	if _, err := c.Complete(tb.Context(), &r); err != nil {
		tb.Fatal(err)
	}
	return sent.Body
}

func TestRequestsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	auto := model.Request{System: "You keep a <codex>.", MaxTokens: 512, Temperature: 0.5, Seed: 7}
	with := func(c model.Choice) model.Request {
		return model.Request{Choice: c}
	}
	scene := conversation[:1]
	for name, test := range map[string]struct {
		groups  [][]annotator.Message
		tools   []annotator.ToolDefinition
		request model.Request
	}{
		"bare":         {scene, nil, model.Request{}},
		"conversation": {conversation, definitions, auto},
		"none":         {scene, definitions, with(model.Choice{Mode: model.ChoiceNone, Allowed: []string{"list"}})},
		"none_allowed": {scene, definitions, with(model.Choice{Allowed: []string{}})},
		"required":     {scene, definitions, with(model.Choice{Mode: model.ChoiceRequired})},
		"required_allowed": {
			scene, definitions,
			with(model.Choice{Mode: model.ChoiceRequired, Allowed: []string{"search"}}),
		},
		"allowed": {scene, definitions, with(model.Choice{Allowed: []string{"search", "list"}})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.Golden(t, *update, name, body(t, test.groups, test.tools, test.request))
		})
	}
}

func TestSeedFitsTheAPI(t *testing.T) {
	t.Parallel()
	for _, seed := range []int{1 << 31, -1, 1<<40 + 5} {
		var sent struct {
			Generation struct{ Seed int32 } `json:"generationConfig"`
		}
		if err := json.Unmarshal(body(t, nil, nil, model.Request{Seed: seed}), &sent); err != nil ||
			sent.Generation.Seed < 0 {
			t.Errorf("%d: %d, %v", seed, sent.Generation.Seed, err)
		}
	}
}
