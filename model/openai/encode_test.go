package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model/endpoint"
)

func call(id, name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	assistant := func(m annotator.Message) annotator.Message { m.Role = annotator.RoleAssistant; return m }
	tests := []struct {
		name string
		give annotator.Message
		want string
	}{
		{
			"user",
			annotator.Message{Role: annotator.RoleUser, Content: "<scene> & \"x\""},
			`{"role":"user","content":"<scene> & \"x\""}`,
		},
		{"empty user", annotator.Message{Role: annotator.RoleUser}, `{"role":"user","content":""}`},
		{
			"reasoning stays here", assistant(annotator.Message{Content: "a", Reasoning: "b"}),
			`{"role":"assistant","content":"a"}`,
		},
		{
			"empty tool result",
			annotator.Message{Role: annotator.RoleTool, ToolCallID: "c1"},
			`{"role":"tool","content":"","tool_call_id":"c1"}`,
		},
		{
			"call as written",
			assistant(annotator.Message{ToolCalls: []annotator.ToolCall{call("c1", "search", `{"q" : "<Mik>"}`)}}),
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"search","arguments":"{\"q\" : \"<Mik>\"}"}}]}`,
		},
		{
			"no arguments", assistant(annotator.Message{ToolCalls: []annotator.ToolCall{call("c1", "list", "")}}),
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}}]}`,
		},
		{
			"no object",
			assistant(annotator.Message{ToolCalls: []annotator.ToolCall{call("c1", "functions.x:0", `{"q":`)}}),
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"functions_x_0","arguments":"{}"}}]}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := newClient(t, endpoint.Options{}).Encode([]annotator.Message{test.give})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func messages() *rapid.Generator[annotator.Message] {
	return rapid.Custom(func(t *rapid.T) annotator.Message {
		m := annotator.Message{
			Content:   rapid.String().Draw(t, "content"),
			Reasoning: rapid.String().Draw(t, "reasoning"),
		}
		switch m.Role = rapid.SampledFrom([]annotator.Role{"user", "assistant", "tool"}).Draw(t, "role"); m.Role {
		case annotator.RoleTool:
			m.ToolCallID = rapid.StringN(1, 9, -1).Draw(t, "id")
		case annotator.RoleAssistant:
			m.ToolCalls = rapid.SliceOfN(calls(), 0, 3).Draw(t, "calls")
		}
		return m
	})
}

func calls() *rapid.Generator[annotator.ToolCall] {
	return rapid.Custom(func(t *rapid.T) annotator.ToolCall {
		arguments := wiretest.JSON(map[string]string{"q": rapid.String().Draw(t, "q")})
		return call(rapid.StringMatching(`[a-z0-9]{9}`).Draw(t, "id"),
			rapid.StringMatching(`[a-z_]{1,12}`).Draw(t, "name"), arguments)
	})
}

func TestEncodeTools(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{})
	got, err := c.EncodeTools([]annotator.ToolDefinition{{
		Name: "a", Description: "<b>",
		Schema: []byte(`{"type":"object"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"function","function":{"name":"a","description":"<b>","parameters":{"type":"object"}}}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
