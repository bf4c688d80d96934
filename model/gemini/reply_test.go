package gemini_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// events renders chunks as a stream, as the API ends its lines.
func events(chunks ...string) string {
	return strings.ReplaceAll(wiretest.Events(chunks...), "\n", "\r\n")
}

const (
	thought = `{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"functionCall":{"name":"list"},"thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"gemini-3-pro"}`
	dawn    = `{"candidates":[{"content":{"parts":[{"text":"Dawn"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"gemini-3-pro"}`
	called  = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"search","args":{ "q": "灯" }},"thoughtSignature":"CgYB"},{"functionCall":{"id":"x","name":"list"}}],"role":"model"},"index":0}]}`
	stopped = `{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"CgYB"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":15}}`
)

func TestStream(t *testing.T) {
	t.Parallel()
	stream := events(thought, dawn, called, stopped)
	c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "text/event-stream", stream)})
	got, err := complete(t, c, true)
	if err != nil {
		t.Fatal(err)
	}
	want := &model.Reply{
		Text: "Dawn", Reasoning: "Hm.", Finish: "tool_calls", Model: "gemini-3-pro",
		Calls: []annotator.ToolCall{{Name: "search", Arguments: `{"q":"灯"}`}, {ID: "x", Name: "list", Arguments: "{}"}},
		Usage: annotator.Usage{Prompt: 10, Told: 10, Cached: 8, Completion: 5, Exact: true},
		Raw:   []byte(stream),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(model.Reply{}, "FirstByte", "Duration")); diff != "" {
		t.Error(diff)
	}
	array := newClient(t,
		endpoint.Options{HTTP: wiretest.Always(200, "application/json",
			"["+strings.Join([]string{thought, dawn, called, stopped}, ",\n")+"]")})
	if got, err = complete(t, array, true); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, wiretest.Unmeasured()); diff != "" {
		t.Errorf("as an array: %s", diff)
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter", "RECITATION": "content_filter",
		"PROHIBITED_CONTENT": "content_filter", "BLOCKLIST": "content_filter", "SPII": "content_filter",
		"OTHER":                     "OTHER",
		"MISSING_THOUGHT_SIGNATURE": "MISSING_THOUGHT_SIGNATURE",
	} {
		body := fmt.Sprintf(`{"candidates":[{"finishReason":%q}]}`, word)
		reply, err := complete(t, newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "application/json", body)}),
			false)
		if err != nil || reply.Finish != want {
			t.Errorf("%s: %+v, %v", word, reply, err)
		}
	}
}

func TestBlockedPrompt(t *testing.T) {
	t.Parallel()
	const body = `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":10}}`
	reply, err := complete(t,
		newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "text/event-stream", events(body))}), true)
	if err != nil || reply.Finish != "content_filter" || reply.Usage.Prompt != 10 {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestAnswersThatAreNoReply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		want annotator.Kind
	}{
		"nothing":       {``, annotator.Malformed},
		"empty object":  {`{}`, annotator.Malformed},
		"no candidates": {`{"candidates":[]}`, annotator.Malformed},
		"no end":        {dawn, annotator.Malformed},
		"not the first": {
			`{"candidates":[{"index":1,"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`,
			annotator.Malformed,
		},
		"too many calls": {
			`{"candidates":[{"content":{"parts":[{}` +
				strings.Repeat(`,{"functionCall":{}}`, endpoint.MaxParts+1) + `]},"finishReason":"STOP"}]}`,
			annotator.Malformed,
		},
		"no JSON":    {`{"candidates":[`, annotator.Malformed},
		"other JSON": {`{"candidates":{}}`, annotator.Malformed},
		"unreadable call": {
			`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(x)"}]}`, annotator.Malformed,
		},
		"call of no tool": {
			`{"candidates":[{"content":{},"finishReason":"UNEXPECTED_TOOL_CALL"}]}`,
			annotator.Malformed,
		},
		"error": {
			`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
			annotator.Overloaded,
		},
		"error in a list": {
			`[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`,
			annotator.Overloaded,
		},
		"a page":           {`<html>`, annotator.Transient},
		"chat completions": {`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`, annotator.Malformed},
	} {
		reply, err := complete(t,
			newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "application/json", test.body)}), false)
		if f := wiretest.Fault(t, reply, err); f.Kind != test.want {
			t.Errorf("%s: %s, %v", name, f.Kind, f)
		}
	}
}

func TestErrorInAStream(t *testing.T) {
	t.Parallel()
	stream := events(dawn,
		`{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"3s"}]}}`)
	reply, err := complete(t, newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "text/event-stream", stream)}),
		true)
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Overloaded || f.Status != http.StatusTooManyRequests ||
		f.RetryAfter.Seconds() != 3 {
		t.Errorf("%s, %d, %v: %v", f.Kind, f.Status, f.RetryAfter, f)
	}
}

// FuzzReply: any answer gives a reply or a fault, never both, and never a panic.
func FuzzReply(f *testing.F) {
	f.Add([]byte(events(thought, dawn, called, stopped)), true)
	f.Add([]byte(stopped), false)
	f.Add([]byte("["+dawn+","+stopped+"]"), false)
	f.Add([]byte(`{"candidates":[{"content":{"parts":[null,{"functionCall":{"args":[1]}}]},"finishReason":"STOP"}]}`),
		false)
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		media := "application/json"
		if stream {
			media = "text/event-stream"
		}
		reply := wiretest.Reread(t, media, body, func(n wiretest.Network) (*model.Reply, error) {
			return complete(t, newClient(t, endpoint.Options{HTTP: n}), stream)
		})
		if reply != nil && (reply.Finish == "" || reply.Usage.Cached > reply.Usage.Prompt) {
			t.Errorf("%+v", reply)
		}
	})
}
