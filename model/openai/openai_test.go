package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tripper answers requests without a network.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond returns a tripper that always answers the same.
func respond(status int, media, body string) tripper {
	return func(r *http.Request) (*http.Response, error) {
		return response(status, media, strings.NewReader(body)), nil
	}
}

func response(status int, media string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(body)}
}

func newClient(tb testing.TB, o endpoint.Options) *openai.Client {
	tb.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "http://model.test/v1"
	}
	c, err := openai.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// serve starts a server for the time of a test and returns a client for it.
func serve(tb testing.TB, o endpoint.Options, h http.HandlerFunc) *openai.Client {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	o.BaseURL = s.URL + "/v1"
	return newClient(tb, o)
}

// complete sends a small request.
func complete(ctx context.Context, c *openai.Client, stream bool) (*model.Reply, error) {
	return c.Complete(ctx, &model.Request{Model: "m", History: []byte(`{"role":"user","content":"hi"}`), Stream: stream})
}

// fault returns the fault that a call must have ended with.
func fault(tb testing.TB, reply *model.Reply, err error) *model.Fault {
	tb.Helper()
	var f *model.Fault
	if !errors.As(err, &f) {
		tb.Fatalf("no fault, but %+v, %v", reply, err)
	}
	if reply != nil {
		tb.Fatalf("a fault came with a reply: %+v", reply)
	}
	return f
}

// events renders frames as a stream.
func events(frames ...string) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "data: %s\n\n", f)
	}
	return b.String()
}

func quote(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

const (
	textChunk   = `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Dawn"}}]}`
	finishChunk = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usageChunk  = `{"model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}`
)

var exactUsage = annotator.Usage{Prompt: 10, Cached: 8, Completion: 2, Exact: true}
