package responses_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

const (
	stream = "text/event-stream"
	object = "application/json"

	account   = `"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":8},"output_tokens":2}`
	textItem  = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Dawn"}]}`
	callItem  = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"x\":1}"}`
	completed = `{"type":"response.completed","response":{"status":"completed","model":"m","output":[],` + account +
		`}}`
	textBegins = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}`
	textDelta  = `{"type":"response.output_text.delta","output_index":0,"delta":"Da"}`
	textDelta2 = `{"type":"response.output_text.delta","output_index":0,"delta":"wn"}`
	textDone   = `{"type":"response.output_item.done","output_index":0,"item":` + textItem + `}`
)

func whole(status, output, more string) string {
	return `{"status":"` + status + `","model":"m","output":[` + output + `]` + more + `}`
}

// TestReadReply covers the forms in which servers send replies.
func TestReadReply(t *testing.T) {
	t.Parallel()
	counted := annotator.Usage{Prompt: 10, Told: 10, Cached: 8, Completion: 2, Exact: true}
	dawn := model.Reply{Text: "Dawn", Finish: "stop", Model: "m", Usage: counted}
	uncounted := model.Reply{Text: "Dawn", Finish: "stop", Model: "m"}
	tests := []struct {
		name, media, body string
		want              model.Reply
	}{
		{"whole", object, whole("completed", textItem, ","+account), dawn},
		{"deltas alone", stream, wiretest.Events(textBegins, textDelta, textDelta2, completed), dawn},
		{"items without deltas", stream, wiretest.Events(textDone, completed), dawn},
		{"deltas and items", stream, wiretest.Events(textBegins, textDelta, textDelta2, textDone, completed), dawn},
		{
			"deltas, and items without words", stream,
			wiretest.Events(textBegins, textDelta, textDelta2,
				strings.Replace(textDone, `"content":[{"type":"output_text","text":"Dawn"}]`, `"content":[]`, 1),
				completed), dawn,
		},
		{"all in the end", stream, wiretest.Events(textBegins, textDelta,
			strings.Replace(completed, `"output":[]`, `"output":[`+textItem+`]`, 1)), dawn},
		{"named events", stream, "event: response.output_item.done\n" + wiretest.Events(textDone) +
			"event: response.completed\n" + wiretest.Events(completed), dawn},
		{"what is new", stream, wiretest.Events(`{"type":"response.something.new","delta":{"a":1}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call"}}`, textDone,
			completed), dawn},
		{"usage of nothing", object, whole("completed", textItem, `,"usage":{"input_tokens":0}`), uncounted},
		{"usage unreadable", object, whole("completed", textItem, `,"usage":{"input_tokens":"many"}`), uncounted},
		{
			"calls", object, whole("completed", callItem+","+callItem, ""),
			model.Reply{
				Finish: "tool_calls", Model: "m",
				Calls: []annotator.ToolCall{call("c1", "f", `{"x":1}`), call("c1", "f", `{"x":1}`)},
			},
		},
		{
			"a call in deltas", stream, wiretest.Events(
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":""}}`,
				`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"x\""}`,
				`{"type":"response.function_call_arguments.delta","output_index":0,"delta":":1}"}`, completed),
			model.Reply{
				Finish: "tool_calls", Model: "m", Usage: counted,
				Calls: []annotator.ToolCall{call("c1", "f", `{"x":1}`)},
			},
		},
		{
			"open thoughts", object,
			whole("completed",
				`{"type":"reasoning","summary":[{"text":"short"}],"content":[{"type":"reasoning_text","text":"hm"}]},`+
					textItem, ""),
			model.Reply{Text: "Dawn", Reasoning: "hm", Finish: "stop", Model: "m"},
		},
		{
			"summed up thoughts", object,
			whole("completed", `{"type":"reasoning","summary":[{"text":"one"},{"text":"two"}]},`+textItem, ""),
			model.Reply{Text: "Dawn", Reasoning: "one\n\ntwo", Finish: "stop", Model: "m"},
		},
		{
			"cut by its limit", object, whole("incomplete", textItem,
				`,"incomplete_details":{"reason":"max_output_tokens"}`),
			model.Reply{Text: "Dawn", Finish: "length", Model: "m"},
		},
		{
			"a call cut by its limit", object, whole("incomplete", callItem,
				`,"incomplete_details":{"reason":"max_output_tokens"}`),
			model.Reply{Finish: "length", Model: "m", Calls: []annotator.ToolCall{call("c1", "f", `{"x":1}`)}},
		},
		{
			"filtered", object, whole("incomplete", "", `,"incomplete_details":{"reason":"content_filter"}`),
			model.Reply{Finish: "content_filter", Model: "m"},
		},
		{
			"cut for another reason", object, whole("incomplete", "", `,"incomplete_details":{"reason":"bored"}`),
			model.Reply{Finish: "bored", Model: "m"},
		},
		{
			"cut for no reason", object, whole("incomplete", "", `,"incomplete_details":null`),
			model.Reply{Finish: "incomplete", Model: "m"},
		},
		{"refused", object, whole("completed", `{"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]}`,
			""), model.Reply{Text: "I cannot", Finish: "content_filter", Model: "m"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := complete(t, wiretest.Always(200, test.media, test.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got, wiretest.Unmeasured()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnswersThatAreNoReply(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, media, body string
		want              annotator.Kind
	}{
		{
			"failed", object, `{"status":"failed","error":{"code":"rate_limit_exceeded","message":"x"}}`,
			annotator.Overloaded,
		},
		{"failed for no reason", object, `{"status":"failed","error":null}`, annotator.Transient},
		{
			"failed in a stream", stream,
			wiretest.Events(textDone,
				`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}`), annotator.Transient,
		},
		{
			"error event", stream,
			wiretest.Events(textDone, `{"type":"error","code":"context_length_exceeded","message":"x","param":null}`),
			annotator.PromptTooLong,
		},
		{"cancelled", object, whole("cancelled", textItem, ""), annotator.Malformed},
		{"in progress", object, whole("in_progress", textItem, ""), annotator.Malformed},
		{"no end", stream, wiretest.Events(textBegins, textDelta, textDelta2, textDone), annotator.Malformed},
		{"no end but [DONE]", stream, wiretest.Events(textDone, "[DONE]"), annotator.Malformed},
		{
			"an index from nowhere", stream,
			wiretest.Events(`{"type":"response.output_item.added","output_index":2000000000,"item":{}}`, completed),
			annotator.Malformed,
		},
		{
			"an item of too many parts", stream,
			wiretest.Events(`{"type":"response.output_item.done","item":{"type":"message","content":[{}`+
				strings.Repeat(`,{}`, endpoint.MaxParts)+`]}}`, completed), annotator.Malformed,
		},
		{"a delta that is none", stream, wiretest.Events(textBegins, `{"type":"response.output_text.delta","delta":7}`,
			completed), annotator.Malformed},
		{
			"a chat completion", object, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`,
			annotator.Malformed,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			reply, err := complete(t, wiretest.Always(200, test.media, test.body))
			if f := wiretest.Fault(t, reply, err); f.Kind != test.want {
				t.Errorf("%v is %q, want %q", f, f.Kind, test.want)
			}
		})
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add(stream, []byte(wiretest.Events(textBegins, textDelta, textDelta2, textDone, completed)))
	f.Add(stream, []byte("event: error\ndata: {\"type\":\"error\",\"message\":\"x\"}\n\n"))
	f.Add(stream, []byte(wiretest.Events(`{"type":"response.output_item.added","output_index":3}`,
		textDelta, completed)))
	f.Add(object, []byte(whole("incomplete", "null,"+callItem+","+textItem,
		`,"incomplete_details":{"reason":"max_output_tokens"}`)))
	f.Fuzz(func(t *testing.T, media string, body []byte) {
		reply := wiretest.Reread(t, media, body, func(n wiretest.Network) (*model.Reply, error) {
			return complete(t, n)
		})
		if reply != nil && reply.Finish == "" {
			t.Error("a reply without an end")
		}
	})
}
