package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
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

// TestEncodeIsAppendOnly: messages encoded in groups or all at once have the same bytes, and decode to the messages.
func TestEncodeIsAppendOnly(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(messages(), 1, 6).Draw(t, "messages")
		cut := rapid.IntRange(0, len(all)-1).Draw(t, "cut")
		whole, _ := c.Encode(all)
		head, _ := c.Encode(all[:cut])
		tail, _ := c.Encode(all[cut:])
		joined := tail
		if cut > 0 {
			joined = bytes.Join([][]byte{head, tail}, []byte(","))
		}
		if !bytes.Equal(whole, joined) {
			t.Fatalf("%s\nis not\n%s", joined, whole)
		}
		var back []struct {
			Role       annotator.Role
			Content    *string
			ToolCallID string `json:"tool_call_id"`
		}
		if err := json.Unmarshal(append(append([]byte("["), whole...), ']'), &back); err != nil {
			t.Fatal(err)
		}
		for i, m := range back {
			if m.Role != all[i].Role || m.Content == nil || *m.Content != all[i].Content ||
				m.ToolCallID != all[i].ToolCallID {
				t.Fatalf("message %d is %+v, want %+v", i, m, all[i])
			}
		}
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
	if got, err := c.EncodeTools(nil); got != nil || err != nil {
		t.Errorf("no tools give %q, %v", got, err)
	}
	if _, err := c.EncodeTools([]annotator.ToolDefinition{{Schema: []byte(`{`)}}); !errors.Is(err, annotator.Misused) {
		t.Errorf("a broken schema gives %v", err)
	}
}

func TestRequestThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "", "")})
	reply, err := c.Complete(t.Context(), &model.Request{Temperature: math.NaN()})
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Misused {
		t.Errorf("kind is %q", f.Kind)
	}
}
