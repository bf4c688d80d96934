package responses_test

import (
	"flag"
	"net/http"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

var update = flag.Bool("update", false, "write the golden files anew")

// conversation holds every kind of message, and what no server would take as it is.
var conversation = [][]annotator.Message{
	{{Role: annotator.RoleUser, Content: "<scene number=\"1\">灯籠 & \"x\"</scene>"}},
	{{Role: annotator.RoleAssistant, Content: "I look.", Reasoning: "It stays here.", ToolCalls: []annotator.ToolCall{
		call("abcdefgh1", "search", `{"q" : "<Mik>", "id": 9007199254740993}`), call("abcdefgh2", "list", ""),
	}}},
	{
		{Role: annotator.RoleTool, ToolCallID: "abcdefgh1", Tool: "search", Content: `{"ok":true}`},
		{Role: annotator.RoleTool, ToolCallID: "abcdefgh2", Tool: "list"},
	},
	{{Role: annotator.RoleAssistant, Content: "Done."}},
	{{Role: annotator.RoleUser, Content: "Next."}},
	{{Role: annotator.RoleAssistant, ToolCalls: []annotator.ToolCall{call("abcdefgh3", "functions.x:0", `{"q":`)}}},
	{{Role: annotator.RoleTool, ToolCallID: "abcdefgh3", Tool: "functions.x:0", Content: "no such tool"}},
	{{Role: annotator.RoleAssistant}},
	{{Role: annotator.RoleUser}},
}

var definitions = []annotator.ToolDefinition{
	{
		Name: "search", Description: "Finds <entries> & more.",
		Schema: []byte(
			`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`),
	},
	{Name: "list", Description: "Lists all.", Schema: []byte(`{"type":"object","properties":{}}`)},
}

// body renders a request as it is sent.
func body(t *testing.T, groups [][]annotator.Message, tools []annotator.ToolDefinition, r *model.Request,
	refusals ...string,
) []byte {
	t.Helper()
	sent := wiretest.Recorder{Answer: `{"status":"completed"}`}
	c := newClient(t, endpoint.Options{HTTP: &sent})
	var known model.Capabilities
	for _, refusal := range refusals {
		if known.Learn(model.Classify(400, http.Header{}, []byte(refusal)), new(model.Request), c.Refusals()) == "" {
			t.Errorf("nothing is learned from %s", refusal)
		}
	}
	r.Workarounds = known.Workarounds
	r.Model, r.History, r.Tools = "gpt-5", wiretest.History(t, c, groups...), wiretest.Tools(t, c, tools)
	if _, err := c.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if address := sent.Request.URL.String(); address != "http://model.test/v1/responses" {
		t.Errorf("sent to %s", address)
	}
	return sent.Body
}

// TestRequestsMatchGoldenFiles compares the bytes of requests with files.
func TestRequestsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	both := []string{"search", "list"}
	const (
		noTemperature = `{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":null}}`
		noSubset      = `{"error":{"message":"Invalid tool_choice type: 'object'. Supported string values: none, auto, required"}}`
		noChoice      = `{"error":{"message":"this model does not support tool_choice"}}`
	)
	tests := []struct {
		name     string
		request  model.Request
		tools    []annotator.ToolDefinition
		refusals []string
	}{
		{"conversation", model.Request{
			System: "Keep a \"codex\".\n", MaxTokens: 900, Temperature: 0.4, Seed: 3,
			Stream: true,
		}, definitions, nil},
		{"bare", model.Request{MaxTokens: 1}, nil, nil},
		{"none", model.Request{Choice: model.Choice{Mode: model.ChoiceNone}}, definitions, nil},
		{
			"required",
			model.Request{Choice: model.Choice{Mode: model.ChoiceRequired, Allowed: both[:1]}},
			definitions,
			nil,
		},
		{"allowed", model.Request{Choice: model.Choice{Mode: model.ChoiceRequired, Allowed: both}}, definitions, nil},
		{
			"adapted",
			model.Request{Choice: model.Choice{Allowed: both[:1]}, Temperature: 0.4},
			definitions,
			[]string{noTemperature, noSubset},
		},
		{"unchosen", model.Request{Choice: model.Choice{Mode: model.ChoiceRequired}}, definitions, []string{noChoice}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			groups := conversation
			if test.name != "conversation" {
				groups = conversation[:1]
			}
			wiretest.Golden(t, *update, test.name, body(t, groups, test.tools, &test.request, test.refusals...))
		})
	}
}
