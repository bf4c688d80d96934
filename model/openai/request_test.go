package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/scripted"
)

// recorder answers every request well and keeps what was sent.
type recorder struct {
	request *http.Request
	body    []byte
	again   []byte // what GetBody gives
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.request = req
	r.body, _ = io.ReadAll(req.Body)
	second, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	r.again, _ = io.ReadAll(second)
	return response(200, "text/event-stream", strings.NewReader(events(finishChunk, "[DONE]"))), nil
}

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
			model.Request{Model: "o1", History: []byte(history), Tools: []byte(tools), Choice: model.Choice{Mode: model.ChoiceNone}, Temperature: 0.4},
			`{"model":"o1","messages":[` + history + `],"tools":` + tools + `,"tool_choice":"none","temperature":0.4,"stream":false}`,
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
			var sent recorder
			c := newClient(t, endpoint.Options{HTTP: &sent, Key: "canary-key"})
			if _, err := c.Complete(t.Context(), &test.give); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(sent.body)); diff != "" {
				t.Error(diff)
			}
			if !bytes.Equal(sent.body, sent.again) || sent.request.ContentLength != int64(len(sent.body)) {
				t.Errorf("length %d; sent again: %s", sent.request.ContentLength, sent.again)
			}
			if got := sent.request.Header.Get("Authorization"); got != "Bearer canary-key" {
				t.Errorf("Authorization is %q", got)
			}
			if got := sent.request.URL.String(); got != "http://model.test/v1/chat/completions" {
				t.Errorf("sent to %q", got)
			}
		})
	}
}

// TestConversation talks with a server that is as strict as the strictest template. Each request goes on from the bytes of
// the one before, and the server finds it in its cache.
func TestConversation(t *testing.T) {
	t.Parallel()
	server := scripted.Start(t, scripted.Options{Strict: true, Keep: true, Script: searchOnce})
	c := newClient(t, endpoint.Options{BaseURL: server.Endpoint()})
	tools, err := c.EncodeTools([]annotator.ToolDefinition{{Name: "search", Description: "d", Schema: []byte(`{"type":"object"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	var (
		history []byte
		last    *model.Reply
	)
	say := func(group ...annotator.Message) {
		encoded, err := c.Encode(group)
		if err != nil {
			t.Fatal(err)
		}
		if len(history) > 0 {
			history = append(history, ',')
		}
		history = append(history, encoded...)
	}
	for turn := range 6 {
		say(annotator.Message{Role: annotator.RoleUser, Content: strings.Repeat("a scene ", 50)})
		for range 2 {
			r := &model.Request{Model: "scripted", System: "s", History: history, Tools: tools, MaxTokens: 100, Stream: turn%2 == 0}
			if last, err = c.Complete(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			say(annotator.Message{Role: annotator.RoleAssistant, Content: last.Text, ToolCalls: last.Calls})
			for _, made := range last.Calls {
				say(annotator.Message{Role: annotator.RoleTool, ToolCallID: made.ID})
			}
		}
	}
	if v := server.Violations(); len(v) > 0 {
		t.Errorf("the template refuses: %+v", v)
	}
	if u := last.Usage; !u.Exact || u.Prompt-u.Cached > 32 {
		t.Errorf("the last request was not in the cache: %+v", u)
	}
	checkPrefixes(t, server.Requests())
}

// searchOnce calls a tool, and answers when it has the result.
func searchOnce(r scripted.Request) scripted.Reply {
	if r.Messages[len(r.Messages)-1].Role == annotator.RoleTool {
		return scripted.Reply{Text: "done"}
	}
	return scripted.Reply{Reasoning: "hm", ToolCalls: []annotator.ToolCall{{Name: "search", Arguments: `{"q": "x"}`}}}
}

func checkPrefixes(t *testing.T, requests []scripted.Request) {
	t.Helper()
	var before []byte
	for i, r := range requests {
		list, _, found := bytes.Cut(r.Body, []byte(`],"tools":`))
		if !found || !bytes.HasPrefix(list, before) {
			t.Fatalf("request %d does not begin with the messages of the one before", i+1)
		}
		before = list
	}
}
