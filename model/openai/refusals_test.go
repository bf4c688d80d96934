package openai_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// TestRefusedFieldsAreLeftOut: each refusal, in the words of a server that makes it, changes the next request.
func TestRefusedFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	const (
		history = `{"role":"user","content":"hi"}`
		tools   = `[{"type":"function"}]`
		head    = `{"model":"m","messages":[`
		system  = `{"role":"system","content":"s"},`
		tail    = `"max_tokens":9,"temperature":0.4,"seed":7,"stream":true,"stream_options":{"include_usage":true}}`
	)
	named := `],"tools":` + tools + `,"tool_choice":{"type":"function","function":{"name":"f"}},`
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{
			"no system role", 400, `{"object":"error","message":"System role not supported","code":400}`,
			head + `{"role":"user","content":"s\n\nhi"}` + named + tail,
		},
		{
			"no system role, llama.cpp", 500,
			`{"error":{"code":500,"message":"Jinja Exception: System role not supported","type":"server_error"}}`,
			head + `{"role":"user","content":"s\n\nhi"}` + named + tail,
		},
		{
			"no system role, o1-mini", 400,
			`{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role","code":"unsupported_value"}}`, head + `{"role":"user","content":"s\n\nhi"}` + named + tail,
		},
		{
			"max_completion_tokens", 400,
			`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, head + system + history + named + strings.Replace(tail, "max_tokens", "max_completion_tokens", 1),
		},
		{
			"temperature", 400,
			`{"error":{"message":"Unsupported value: 'temperature' does not support 0.4 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`, head + system + history + named + strings.Replace(tail, `"temperature":0.4,`, "", 1),
		},
		{
			"stream_options", 400,
			`{"message":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]","code":400,"object":"error"}`, head + system + history + named + strings.Replace(tail, `,"stream_options":{"include_usage":true}`, "", 1),
		},
		{
			"seed", 422,
			`{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}`,
			head + system + history + named + strings.Replace(tail, `"seed":7,`, "", 1),
		},
		{
			"a tool by name", 400,
			`{"error":"Invalid tool_choice type: 'object'. Supported string values: none, auto, required"}`,
			head + system + history + `],"tools":` + tools + `,"tool_choice":"required",` + tail,
		},
		{
			"tool_choice", 400,
			`{"error":{"message":"deepseek-reasoner does not support this tool_choice","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, head + system + history + `],"tools":` + tools + `,` + tail,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sent := wiretest.Recorder{Answer: answered}
			c := newClient(t, endpoint.Options{HTTP: &sent})
			f := model.Classify(test.status, http.Header{}, []byte(test.body))
			var known model.Capabilities
			if known.Learn(f, new(model.Request), c.Refusals()) == "" {
				t.Fatalf("nothing is learned from %v", f)
			}
			if again := known.Learn(f, new(model.Request), c.Refusals()); again != "" {
				t.Errorf("it is learned twice: %s", again)
			}
			_, err := c.Complete(t.Context(), &model.Request{
				Model: "m", System: "s", History: []byte(history), Tools: []byte(tools), MaxTokens: 9, Temperature: 0.4,
				Seed: 7, Stream: true,
				Choice:      model.Choice{Mode: model.ChoiceRequired, Allowed: []string{"f"}},
				Workarounds: known.Workarounds,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(sent.Body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNothingToLearn: a fault that is not about the request's form changes no request.
func TestNothingToLearn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		body   string
	}{
		{400, `{"error":{"message":"max_tokens is too large: 9. This model's maximum context length is 8 tokens"}}`},
		{400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}`},
		{400, `{"error":{"message":"The prompt exceeds what is not supported"}}`},
		{401, `{"error":{"message":"Unknown key; the seed is not supported"}}`},
		{404, `{"error":{"message":"temperature: unknown model"}}`},
		{429, `{"error":{"message":"temperature not supported"}}`},
		{500, `{"error":{"message":"boom"}}`},
		{200, ``},
	} {
		c := newClient(t, endpoint.Options{})
		if said := new(model.Capabilities).Learn(model.Classify(test.status, http.Header{}, []byte(test.body)),
			new(model.Request), c.Refusals()); said != "" {
			t.Errorf("%s: %s", test.body, said)
		}
	}
}

// TestStrictTemplateIsMet: the client learns that a server has no system role and requires roles to alternate.
func TestStrictTemplateIsMet(t *testing.T) {
	t.Parallel()
	server := scripted.Start(t, scripted.Options{
		Strict: true, Script: searchOnce,
		Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if r.Messages[0].Role != annotator.RoleSystem {
				return nil
			}
			return &scripted.Fault{Status: 400, Body: `{"error":{"message":"System role not supported","code":400}}`}
		},
	})
	c := newClient(t, endpoint.Options{BaseURL: server.Endpoint()})
	history := wiretest.History(t, c,
		[]annotator.Message{{Role: annotator.RoleUser, Content: "a"}},
		[]annotator.Message{{Role: annotator.RoleUser, Content: "b"}},
		[]annotator.Message{{
			Role:      annotator.RoleAssistant,
			ToolCalls: []annotator.ToolCall{call("a00000001", "f", "{}")},
		}},
		[]annotator.Message{{Role: annotator.RoleTool, ToolCallID: "a00000001", Content: "none"}},
		[]annotator.Message{{Role: annotator.RoleUser, Content: "go on"}})
	r := &model.Request{Model: "scripted", System: "s", History: history, MaxTokens: 100, Stream: true}
	var known model.Capabilities
	for {
		r.Workarounds = known.Workarounds
		reply, err := c.Complete(t.Context(), r)
		if err == nil {
			if reply.Text != "done" {
				t.Errorf("the reply is %+v", reply)
			}
			break
		}
		if f := wiretest.Fault(t, reply, err); known.Learn(f, new(model.Request), c.Refusals()) == "" {
			t.Fatalf("after %q: %v", known.Learned, f)
		}
	}
	if len(known.Learned) != 2 {
		t.Errorf("learned %q", known.Learned)
	}
}

// TestAlternatingConversationIsUnchanged: roles that alternate are sent unchanged, and no text is lost where they do
// not.
func TestAlternatingConversationIsUnchanged(t *testing.T) {
	t.Parallel()
	sent := wiretest.Recorder{Answer: answered}
	c := newClient(t, endpoint.Options{HTTP: &sent})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(messages(), 1, 8).Draw(t, "messages")
		for i := range all {
			// only separators of messages have blank lines
			all[i].Content = strings.ReplaceAll(all[i].Content, "\n", " ")
		}
		history, err := c.Encode(all)
		if err != nil {
			t.Fatal(err)
		}
		send := func(history []byte) (list []byte) {
			if _, err := c.Complete(t.Context(),
				&model.Request{Model: "m", History: history, Workarounds: model.MergeRoles}); err != nil {
				t.Fatal(err)
			}
			list = bytes.TrimPrefix(sent.Body, []byte(`{"model":"m","messages":[`))
			list, _, _ = bytes.Cut(list, []byte(`],"temperature":`))
			return list
		}
		first := send(history)
		if again := send(first); !bytes.Equal(first, again) {
			t.Fatalf("%s\nis sent as\n%s", first, again)
		}
		var merged []struct {
			Role      annotator.Role
			Content   string
			ToolCalls []json.RawMessage `json:"tool_calls"`
		}
		if err := json.Unmarshal(append(append([]byte{'['}, first...), ']'), &merged); err != nil {
			t.Fatal(err)
		}
		words, calls, before := "", 0, annotator.Role("")
		for _, m := range merged {
			if m.Role == before && m.Role == annotator.RoleUser {
				t.Fatalf("two messages of the user: %s", first)
			}
			words, before, calls = words+m.Content, m.Role, calls+len(m.ToolCalls)
		}
		for _, m := range all {
			calls -= len(m.ToolCalls)
			rest, found := strings.CutPrefix(strings.TrimPrefix(words, "\n\n"), m.Content)
			if !found {
				t.Fatalf("%q is not in %s", m.Content, first)
			}
			words = rest
		}
		if calls != 0 {
			t.Fatalf("%d calls too many", calls)
		}
	})
}

// TestRolesOfResults: a template that takes only user and assistant refuses the results of tools in the words in which
// it refuses a system prompt. The system prompt stays where it is, then.
func TestRolesOfResults(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{})
	f := model.Classify(400, http.Header{},
		[]byte(`{"error":{"message":"Only user and assistant roles are supported!","type":"BadRequestError","param":null,"code":400}}`))
	message := func(role annotator.Role) []byte {
		encoded, err := c.Encode([]annotator.Message{{Role: role, Content: "x", ToolCallID: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	var known model.Capabilities
	if what := known.Learn(f, &model.Request{History: message(annotator.RoleTool)}, c.Refusals()); what != "" ||
		f.Advice == "" {
		t.Errorf("it learns %q, and advises %q", what, f.Advice)
	}
	if known.Learn(f, &model.Request{History: message(annotator.RoleUser)}, c.Refusals()) == "" ||
		!known.Workarounds.Has(model.SystemInUser) {
		t.Error("a system prompt that is refused stays where it is")
	}
}
