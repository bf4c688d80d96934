package openai_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// TestAnswersThatAreNoReply covers answers that are faults.
func TestAnswersThatAreNoReply(t *testing.T) {
	t.Parallel()
	const stream, object, page = "text/event-stream", "application/json", "text/html; charset=utf-8"
	tests := []struct {
		name        string
		status      int
		media, body string
		want        annotator.Kind
	}{
		{"no key", 401, object, `{"error":"Unauthorized"}`, annotator.Misconfigured},
		{"web page", 200, page, "<html>", annotator.Transient},
		{"web page without a type", 200, "", "<!doctype html>", annotator.Transient},
		{"gateway", 502, page, "<html>", annotator.Transient},
		{
			"error in a 200", 200, object,
			`{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`,
			annotator.Overloaded,
		},
		{"error in a list", 200, object, `[{"error":{"code":429}}]`, annotator.Overloaded},
		{
			"error frame", 200, stream, wiretest.Events(textChunk, `{"error":{"message":"boom","code":500}}`, "[DONE]"),
			annotator.Transient,
		},
		{
			"error frame, a string", 200, stream, wiretest.Events(textChunk, `{"error":"Unauthorized"}`),
			annotator.Misconfigured,
		},
		{
			"error frame beside choices", 200, stream,
			wiretest.Events(textChunk,
				`{"error":{"code":502,"message":"x"},"choices":[{"delta":{},"finish_reason":"error"}]}`),
			annotator.Transient,
		},
		{
			"error event", 200, stream, "event: error\ndata: {\"message\":\"context length of only 9 tokens\"}\n\n",
			annotator.PromptTooLong,
		},
		{"bare error line", 200, stream, `{"error":{"code":503}}` + "\n", annotator.Overloaded},
		{"no finish", 200, stream, wiretest.Events(textChunk), annotator.Malformed},
		{"no finish but [DONE]", 200, stream, wiretest.Events(textChunk, "[DONE]"), annotator.Malformed},
		{
			"cut in arguments", 200, stream,
			wiretest.Events(callChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}`)),
			annotator.Malformed,
		},
		{
			"more calls than fit", 200, stream,
			wiretest.Events(callChunk(`{}`+strings.Repeat(`,{"function":{"name":"f"}}`, endpoint.MaxParts)),
				finishChunk), annotator.Malformed,
		},
		{"unstreamed without finish", 200, object, `{"choices":[{"message":{"content":"x"}}]}`, annotator.Malformed},
		{"no choices", 200, object, `{"model":"m"}`, annotator.Malformed},
		{"choices empty", 200, object, `{"choices":[]}`, annotator.Malformed},
		{"half an object", 200, object, `{"choices":[{"message":{"content":"x"`, annotator.Malformed},
		{"nothing", 200, "", "", annotator.Malformed},
		{"no content", 204, "", "", annotator.Malformed},
		{"redirect", 308, "", "", annotator.Unsafe},
		{"long line", 200, stream, "data: " + strings.Repeat("x", 17<<20), annotator.Refused},
		{"long answer", 200, object, "{" + strings.Repeat(" ", 65<<20), annotator.Refused},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{HTTP: wiretest.Always(test.status, test.media, test.body)})
			reply, err := complete(t.Context(), c, true)
			f := wiretest.Fault(t, reply, err)
			if f.Kind != test.want || f.Status == 0 || f.Header == nil || len(f.Raw) > model.RawLimit {
				t.Errorf("%+v is %q, want %q", f, f.Kind, test.want)
			}
		})
	}
}
