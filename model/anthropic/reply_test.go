package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// TestReadReply covers the forms of replies that the API and compatible servers send.
func TestReadReply(t *testing.T) {
	t.Parallel()
	const (
		stream = "text/event-stream"
		object = "application/json"
	)
	ordinary := model.Reply{Text: "Dawn", Finish: "stop", Model: "m", Usage: exactUsage}
	tests := []struct {
		name, media, body string
		want              model.Reply
	}{
		{"ordinary", stream, events(startEvent, ping, textStart, textDelta, blockStop, endEvent, stopEvent), ordinary},
		{"no message_stop", stream, events(startEvent, textStart, textDelta, blockStop, endEvent), ordinary},
		{
			"unknown events, unknown fields", stream,
			events(`{"type":"rumour","rumour":1}`, startEvent, textStart,
				`{"type":"content_block_delta","index":0,"delta":{"type":"smell_delta","smell":"x"}}`, textDelta,
				blockStop, endEvent, stopEvent), ordinary,
		},
		{
			"a piece of no block", stream,
			events(startEvent, `{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"lost"}}`,
				textStart, textDelta, blockStop, endEvent, stopEvent), ordinary,
		},
		{
			"thinking, two calls, one without input", stream, events(startEvent,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq=="}}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xx"}}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
				`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":1}"}}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}`, stopEvent),
			model.Reply{
				Reasoning: "hm", Calls: []annotator.ToolCall{call("a", "f", `{"x":1}`), call("b", "g", `{}`)},
				Finish: "tool_calls", Model: "m", Usage: exactUsage,
			},
		},
		{
			"all tokens counted at the end", stream,
			events(`{"type":"message_start","message":{"model":"m","content":[],"usage":{"input_tokens":0,"output_tokens":0}}}`, textStart, textDelta,
				`{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"input_tokens":2,"cache_read_input_tokens":8,"output_tokens":2}}`, stopEvent),
			model.Reply{Text: "Dawn", Finish: "length", Model: "m", Usage: exactUsage},
		},
		{
			"vLLM 0.32: the prompt whole at first, parted at the end, and nothing of it new", stream, events(
				`{"type":"message_start","message":{"id":"chatcmpl-a095b9fe265b62d3","type":"message","role":"assistant","content":[],"model":"tiny","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":8032,"output_tokens":0}}}`,
				textStart, textDelta, blockStop,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"output_tokens":178,"cache_creation_input_tokens":160,"cache_read_input_tokens":7872}}`,
				stopEvent),
			model.Reply{
				Text: "Dawn", Finish: "stop", Model: "tiny",
				Usage: annotator.Usage{Prompt: 8032, Told: 8032, Cached: 7872, Completion: 178, Exact: true},
			},
		},
		{
			"a prompt counted at first, and 0 at the end", stream, events(startEvent, textStart, textDelta,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":2}}`, stopEvent),
			ordinary,
		},
		{
			"an object", object,
			`{"type":"message","model":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Da"},{"type":"text","text":"wn"},{"type":"tool_use","id":"a","name":"f","input":{"x": 1}}],"stop_reason":"tool_use","usage":{"input_tokens":2,"cache_read_input_tokens":8,"output_tokens":2}}`,
			model.Reply{
				Text: "Dawn", Reasoning: "hm", Calls: []annotator.ToolCall{call("a", "f", `{"x": 1}`)},
				Finish: "tool_calls", Model: "m", Usage: exactUsage,
			},
		},
		{
			"nothing said, nothing counted", object, `{"content":[],"stop_reason":"end_turn"}`,
			model.Reply{Finish: "stop"},
		},
		{
			"unreadable usage", object,
			`{"content":[{"type":"text","text":"Dawn"}],"stop_reason":"end_turn","usage":{"input_tokens":"many"}}`,
			model.Reply{Text: "Dawn", Finish: "stop"},
		},
		{
			"a refusal", object, `{"content":[],"stop_reason":"refusal","usage":{"input_tokens":-3}}`,
			model.Reply{Finish: "content_filter"},
		},
		{
			"the window is full", object, `{"content":[],"stop_reason":"model_context_window_exceeded"}`,
			model.Reply{Finish: "length"},
		},
		{
			"a reason that is not known", object, `{"content":[],"stop_reason":"pause_turn"}`,
			model.Reply{Finish: "pause_turn"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, test.media, test.body)})
			got, err := c.Complete(t.Context(), &model.Request{Stream: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got, wiretest.Unmeasured()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnswerThatIsNoReplyIsAFault: an answer that is no reply is a fault, whatever its status.
func TestAnswerThatIsNoReplyIsAFault(t *testing.T) {
	t.Parallel()
	const overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	tests := []struct {
		name, media, body string
		status            int
		want              annotator.Kind
	}{
		{"overloaded", "", overloaded, 529, annotator.Overloaded},
		{
			"an error after the beginning", "text/event-stream", events(startEvent, textStart, textDelta, overloaded),
			200,
			annotator.Overloaded,
		},
		{
			"an error without an event's name", "text/event-stream",
			"data: " + startEvent + "\n\ndata: " + overloaded + "\n\n", 200, annotator.Overloaded,
		},
		{"an error without a type", "text/event-stream", "data: " + startEvent +
			"\n\ndata: {\"error\":{\"message\":\"x\",\"code\":503}}\n\n", 200, annotator.Overloaded},
		{"an error in an object", "application/json", overloaded, 200, annotator.Overloaded},
		{"no message", "application/json", `{"completion":"x"}`, 200, annotator.Malformed},
		{"more blocks than fit", "application/json", `{"content":[{}` + strings.Repeat(`,{}`, endpoint.MaxParts) +
			`],"stop_reason":"end_turn"}`, 200, annotator.Malformed},
		{
			"more blocks of a stream than fit", "text/event-stream",
			wiretest.Events(`{"type":"message_start","message":{"content":[]}}`) +
				strings.Repeat(wiretest.Events(`{"type":"content_block_start","content_block":{}}`),
					endpoint.MaxParts+1) +
				wiretest.Events(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`), 200,
			annotator.Malformed,
		},
		{"no event", "text/event-stream", "data: {}\n\n", 200, annotator.Malformed},
		{"no JSON", "text/event-stream", "data: x\n\n", 200, annotator.Malformed},
		{"nothing", "text/event-stream", "", 200, annotator.Malformed},
		{
			"too long", "",
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, 400, annotator.PromptTooLong,
		},
		{
			"too long with the reply", "",
			`{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" +
				` exceed context limit: 178959 + 64000 > 200000, decrease input length or ` + "`max_tokens`" +
				` and try again"}}`, 400, annotator.PromptTooLong,
		},
		{
			"too many bytes", "",
			`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, 413,
			annotator.PromptTooLong,
		},
		{
			"no such model", "", `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, 404,
			annotator.Misconfigured,
		},
		{
			"no such key", "", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
			401, annotator.Misconfigured,
		},
		{
			"no credit", "",
			`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, 400, annotator.Misconfigured,
		},
		{
			"their fault", "", `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, 500,
			annotator.Transient,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{HTTP: wiretest.Always(test.status, test.media, test.body)})
			reply, err := c.Complete(t.Context(), &model.Request{Stream: true})
			if f := wiretest.Fault(t, reply, err); f.Kind != test.want {
				t.Errorf("%v is %q, want %q", f, f.Kind, test.want)
			}
		})
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add("text/event-stream", []byte(events(startEvent, textStart, textDelta, blockStop, endEvent, stopEvent)))
	f.Add("text/event-stream",
		[]byte(events(`{"type":"message_start","message":{}}`,
			`{"type":"content_block_start","index":-1,"content_block":{"type":"tool_use","input":null}}`, endEvent)))
	f.Add("application/json",
		[]byte(`{"content":[{"type":"tool_use","input":[]}],"stop_reason":"x","usage":{"input_tokens":9}}`))
	f.Fuzz(func(t *testing.T, media string, body []byte) {
		reply := wiretest.Reread(t, media, body, func(n wiretest.Network) (*model.Reply, error) {
			return newClient(t, endpoint.Options{HTTP: n}).Complete(t.Context(), &model.Request{Stream: true})
		})
		if reply == nil {
			return
		}
		if u := reply.Usage; reply.Finish == "" || u.Cached > u.Prompt || u.Cached < 0 || u.Completion < 0 {
			t.Errorf("no reply: %+v", reply)
		}
	})
}
