package openai_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// answered is a recorder's answer that is a reply.
var answered = wiretest.Events(finishChunk, "[DONE]")

func TestRequestBody(t *testing.T) {
	t.Parallel()
	const history, tools = `{"role":"user","content":"hi"}`, `[{"type":"function"}]`
	tests := []struct {
		name string
		give model.Request
		want string
	}{
		{
			"streamed",
			model.Request{
				Model: "gpt-5", System: "s", History: []byte(history), Tools: []byte(tools), MaxTokens: 9, Stream: true,
			},
			`{"model":"gpt-5","messages":[{"role":"system","content":"s"},` + history + `],"tools":` + tools +
				`,"tool_choice":"auto","max_tokens":9,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"unstreamed",
			model.Request{
				Model: "o1", History: []byte(history), Tools: []byte(tools),
				Choice: model.Choice{Mode: model.ChoiceNone}, Temperature: 0.4,
			},
			`{"model":"o1","messages":[` + history + `],"tools":` + tools +
				`,"tool_choice":"none","temperature":0.4,"stream":false}`,
		},
		{
			"bare",
			model.Request{Model: "text-davinci-003", System: "s"},
			`{"model":"text-davinci-003","messages":[{"role":"system","content":"s"}],"temperature":0,"stream":false}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sent := wiretest.Recorder{Answer: answered}
			c := newClient(t, endpoint.Options{HTTP: &sent, Key: "canary-key"})
			if _, err := c.Complete(t.Context(), &test.give); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(sent.Body)); diff != "" {
				t.Error(diff)
			}
			again, err := sent.Request.GetBody()
			if err != nil {
				t.Fatal(err)
			}
			if second, _ := io.ReadAll(again); !bytes.Equal(sent.Body, second) ||
				sent.Request.ContentLength != int64(len(sent.Body)) {
				t.Errorf("length %d; sent again: %s", sent.Request.ContentLength, second)
			}
			if got := sent.Request.Header.Get("Authorization"); got != "Bearer canary-key" {
				t.Errorf("Authorization is %q", got)
			}
			if got := sent.Request.URL.String(); got != "http://model.test/v1/chat/completions" {
				t.Errorf("sent to %q", got)
			}
		})
	}
}

// searchOnce calls a tool, and answers when it has the result.
func searchOnce(r scripted.Request) scripted.Reply {
	if r.Messages[len(r.Messages)-1].Role == annotator.RoleTool {
		return scripted.Reply{Text: "done"}
	}
	return scripted.Reply{Reasoning: "hm", ToolCalls: []annotator.ToolCall{{Name: "search", Arguments: `{"q": "x"}`}}}
}
