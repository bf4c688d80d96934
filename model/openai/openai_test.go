package openai_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(tb testing.TB, o endpoint.Options) *openai.Client {
	tb.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "http://model.test/v1"
	}
	return wiretest.Open(tb, openai.New, o)
}

// serve starts a server for the time of a test and returns a client for it.
func serve(tb testing.TB, h http.HandlerFunc) *openai.Client {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return newClient(tb, endpoint.Options{BaseURL: s.URL + "/v1"})
}

// complete sends a small request.
func complete(ctx context.Context, c *openai.Client, stream bool) (*model.Reply, error) {
	return c.Complete(ctx, &model.Request{
		Model: "m", History: []byte(`{"role":"user","content":"hi"}`),
		Stream: stream,
	})
}

const (
	textChunk   = `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Dawn"}}]}`
	finishChunk = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usageChunk  = `{"model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}`
)

var exactUsage = annotator.Usage{Prompt: 10, Told: 10, Cached: 8, Completion: 2, Exact: true}
