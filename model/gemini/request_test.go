package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/gemini"

	"pgregory.net/rapid"
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

func TestRequestThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "", "")})
	reply, err := c.Complete(t.Context(), &model.Request{Temperature: math.NaN()})
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Misused {
		t.Errorf("kind is %q", f.Kind)
	}
	if _, err := c.EncodeTools([]annotator.ToolDefinition{{Schema: []byte(`{`)}}); !errors.Is(err, annotator.Misused) {
		t.Errorf("a broken schema gives %v", err)
	}
}

// TestEncodeIsAppendOnly: messages encoded in groups or all at once have the same bytes, and decode to the messages.
func TestEncodeIsAppendOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c gemini.Client
		var all []annotator.Message
		var groups [][]byte
		for _, group := range rapid.SliceOfN(rapid.Custom(drawGroup), 1, 6).Draw(t, "groups") {
			encoded, err := c.Encode(group)
			if err != nil {
				t.Fatal(err)
			}
			if last := len(all) - 1; last >= 0 && all[last].Role == annotator.RoleTool &&
				group[0].Role == annotator.RoleTool {
				continue // the results of one reply are one group
			}
			groups, all = append(groups, encoded), append(all, group...)
		}
		whole, err := c.Encode(all)
		if err != nil {
			t.Fatal(err)
		}
		if joined := bytes.Join(groups, []byte(",")); !bytes.Equal(whole, joined) {
			t.Fatalf("%s\nis not\n%s", joined, whole)
		}
		var back []struct {
			Role  string
			Parts []struct{ Text *string }
		}
		if err := json.Unmarshal(append(append([]byte("["), whole...), ']'), &back); err != nil {
			t.Fatal(err)
		}
		for i, content := range back {
			if len(content.Parts) == 0 || content.Role != "user" && content.Role != "model" {
				t.Fatalf("content %d is %+v", i, content)
			}
		}
	})
}

func drawGroup(t *rapid.T) []annotator.Message {
	text := rapid.OneOf(rapid.String(), rapid.Just(""), rapid.Just("<a href=\"&\">\u2028\xff")).Draw(t, "text")
	switch role := rapid.SampledFrom([]annotator.Role{"user", "assistant", "tool"}).Draw(t, "role"); role {
	case annotator.RoleTool:
		return rapid.SliceOfN(rapid.Just(result("abcdefghi", "search", text)), 1, 3).Draw(t, "results")
	case annotator.RoleAssistant:
		arguments := rapid.SampledFrom([]string{
			"", "{}", "null", `{"q":`, `{"q":1e400}`,
			`{"q":[{"r":"\ud800"}]}`,
		}).Draw(t, "arguments")
		return []annotator.Message{calls(text,
			rapid.SliceOfN(rapid.Just(call("abcdefghi", text, arguments)), 0, 3).Draw(t, "calls")...)}
	}
	return []annotator.Message{says(annotator.RoleUser, text)}
}
