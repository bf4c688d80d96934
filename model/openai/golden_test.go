package openai_test

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
		{ID: "abcdefgh1", Name: "search", Arguments: `{"q" : "<Mik>", "id": 9007199254740993}`},
		{ID: "abcdefgh2", Name: "list"},
	}}},
	{
		{Role: annotator.RoleTool, ToolCallID: "abcdefgh1", Tool: "search", Content: `{"ok":true}`},
		{Role: annotator.RoleTool, ToolCallID: "abcdefgh2", Tool: "list"},
	},
	{{Role: annotator.RoleAssistant, Content: "Done."}},
	{{Role: annotator.RoleUser, Content: "Next."}},
	{{Role: annotator.RoleUser, Content: "And next."}},
}

var definitions = []annotator.ToolDefinition{
	{
		Name: "search", Description: "Finds <entries> & more.",
		Schema: []byte(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`),
	},
	{Name: "list", Description: "Lists all.", Schema: []byte(`{"type":"object","properties":{}}`)},
}

// What servers say that want requests otherwise.
const (
	wantsNoSystem = `{"error":{"message":"System role not supported","code":500}}`
	wantsOneRole  = `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/...","code":400}}`
)

// TestRequestsMatchGoldenFiles compares the bytes of requests with files.
func TestRequestsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		request  model.Request
		refusals []string
	}{
		{"conversation", model.Request{MaxTokens: 900, Temperature: 0.4, Seed: 3, Stream: true}, nil},
		{"none", model.Request{Choice: model.Choice{Mode: model.ChoiceNone}}, nil},
		{"required", model.Request{Choice: model.Choice{Mode: model.ChoiceRequired, Allowed: []string{"search"}}}, nil},
		{"strict", model.Request{MaxTokens: 900}, []string{wantsNoSystem, wantsOneRole}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sent := wiretest.Recorder{Answer: answered}
			c := newClient(t, endpoint.Options{HTTP: &sent})
			var known model.Capabilities
			for _, refusal := range test.refusals {
				if known.Learn(model.Classify(http.StatusBadRequest, http.Header{}, []byte(refusal)),
					new(model.Request), c.Refusals()) == "" {
					t.Errorf("nothing is learned from %s", refusal)
				}
			}
			r := &test.request
			r.Workarounds = known.Workarounds
			r.Model, r.System = "qwen3-32b", "Keep a \"codex\".\n"
			r.History, r.Tools = wiretest.History(t, c, conversation...), wiretest.Tools(t, c, definitions)
			if _, err := c.Complete(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			wiretest.Golden(t, *update, test.name, sent.Body)
		})
	}
}
