package responses_test

import (
	"testing"

	"go.uber.org/goleak"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/responses"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(tb testing.TB, o endpoint.Options) *responses.Client {
	tb.Helper()
	o.BaseURL = "http://model.test/v1/responses"
	return wiretest.Open(tb, responses.New, o)
}

// complete has an answer read.
func complete(tb testing.TB, n wiretest.Network) (*model.Reply, error) {
	tb.Helper()
	c := newClient(tb, endpoint.Options{HTTP: n})
	return c.Complete(tb.Context(),
		&model.Request{Model: "m", History: []byte(`{"type":"message","role":"user","content":"hi"}`), Stream: true})
}

func call(id, name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{ID: id, Name: name, Arguments: arguments}
}
