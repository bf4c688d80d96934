package scripted_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"

	"github.com/google/go-cmp/cmp"
)

const (
	generate       = "/v1beta/models/scripted:generateContent"
	streamGenerate = "/v1beta/models/scripted:streamGenerateContent?alt=sse"
)

func generates(h http.Handler, path, body string) *httptest.ResponseRecorder {
	return newRecorder(h, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
}

func TestGeminiRefusals(t *testing.T) {
	t.Parallel()
	contents := func(list string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"x"}]},` + list + `]}`
	}
	const call = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},` +
		`"thoughtSignature":"skip_thought_signature_validator"}]}`
	for name, test := range map[string]struct {
		path, body, want string // accepted where want is empty
	}{
		"results": {generate, contents(call +
			`,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"o"}}}]}`), ""},
		"stream": {streamGenerate, contents(call +
			`,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`), ""},
		"stream as array": {strings.TrimSuffix(streamGenerate, "?alt=sse"), contents(`{}`), "alt=sse"},
		"other method":    {"/v1beta/models/scripted:embedContent", `{"contents":[]}`, "not known"},
		"other model": {
			"/v1beta/models/other:generateContent",
			contents(call + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`),
			`"status":"NOT_FOUND"`,
		},
		"unknown field": {generate, `{"contents":[],"model":"m"}`, "unknown field"},
		"no JSON":       {generate, `{"contents":[`, "INVALID_ARGUMENT"},
		"two objects":   {generate, `{"contents":[]}{}`, "something follows"},
		"no contents":   {generate, `{"contents":[]}`, "Field required"},
		"other role":    {generate, contents(`{"role":"assistant","parts":[{"text":"x"}]}`), "valid role"},
		"no parts":      {generate, contents(`{"role":"model","parts":[]}`), "must not be empty"},
		"empty text":    {generate, contents(`{"role":"model","parts":[{"text":""}]}`), "parts[0].data"},
		"no signature": {
			generate, contents(`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}`),
			"thought_signature",
		},
		"bad signature": {
			generate, contents(
				`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"?"}]}`),
			"thought_signature",
		},
		"missing result": {
			generate, contents(call + `,{"role":"user","parts":[{"text":"x"}]}`),
			"match the function call parts",
		},
		"result alone": {
			generate,
			contents(`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`),
			"match the function call parts",
		},
		"other name": {
			generate, contents(call +
				`,{"role":"user","parts":[{"functionResponse":{"name":"g","response":{}}}]}`),
			"match the function call parts",
		},
		"names for AUTO": {
			generate,
			`{"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"AUTO","allowedFunctionNames":["f"]}}}`,
			"ANY and VALIDATED",
		},
		"other mode": {
			generate, `{"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"FORCED"}}}`,
			"not known",
		},
		"too long": {
			generate, contents(`{"role":"user","parts":[{"text":"` + strings.Repeat("x", 4000) + `"}]}`),
			"exceeds the maximum number of tokens allowed (999)",
		},
	} {
		w := generates(scripted.New(scripted.Options{MaxModelLen: 1000}), test.path, test.body)
		if test.want == "" {
			if w.Code != http.StatusOK {
				t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
			}
			continue
		}
		if w.Code/100 != 4 || !strings.Contains(w.Body.String(), test.want) || !strings.HasPrefix(w.Body.String(),
			`{"error":{"code":4`) {
			t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
		}
	}
}

func TestGeminiRequestIsDecoded(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{Keep: true})
	const sent = `{"systemInstruction":{"parts":[{"text":"s"}]},"tools":[
		{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}}]}],
		"contents":[{"role":"user","parts":[{"text":"a"},{"text":"b"}]},
		{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"c2lnbmVk"},
		{"functionCall":{"id":"2","name":"f","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"one"}}},
		{"functionResponse":{"id":"2","name":"f","response":{"output":"two"}}}]}],
		"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]}},
		"generationConfig":{"maxOutputTokens":7,"seed":5}}`
	generates(s, streamGenerate, sent)
	if len(s.Requests()) != 1 {
		t.Fatalf("%d requests", len(s.Requests()))
	}
	got := s.Requests()[0]
	var messages []annotator.Message
	for _, m := range got.Messages {
		messages = append(messages, m.Message)
	}
	want := []annotator.Message{
		{Role: "system", Content: "s"},
		{Role: "user", Content: "ab"},
		{Role: "assistant", ToolCalls: []annotator.ToolCall{
			{ID: "1", Name: "f", Arguments: `{"a":1}`},
			{ID: "2", Name: "f", Arguments: "{}"},
		}},
		{Role: "tool", ToolCallID: "1", Content: "one"},
		{Role: "tool", ToolCallID: "2", Content: "two"},
	}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Error(diff)
	}
	const choice = `{"allowed_tools":{"mode":"auto","tools":[{"function":{"name":"f"},"type":"function"}]},` +
		`"type":"allowed_tools"}`
	if string(got.Body) != sent || got.Path != "/v1beta/models/scripted:streamGenerateContent" || !got.Stream ||
		got.MaxTokens != 7 ||
		got.ToolChoice != choice || string(got.Params["seed"]) != "5" || len(got.Tools) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestGeminiArgumentsAreObjects: arguments that are not an object are never sent as a call.
func TestGeminiArgumentsAreObjects(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{ToolCalls: []annotator.ToolCall{
			{Name: "f", Arguments: `{"a":`},
			{Name: "g", Arguments: "{}"},
		}}
	}})
	const asked = `{"contents":[{"role":"user","parts":[{"text":"x"}]}]`
	if got := generates(s, generate, asked+"}").Body.String(); !strings.Contains(got,
		`"finishReason":"MALFORMED_FUNCTION_CALL"`) || strings.Contains(got, `"name":"f"`) {
		t.Error(got)
	}
	got := generates(s, generate, asked+`,"generationConfig":{"maxOutputTokens":2}}`).Body.String()
	if !strings.Contains(got, `"finishReason":"MAX_TOKENS"`) || strings.Contains(got, "functionCall") {
		t.Error(got)
	}
}
