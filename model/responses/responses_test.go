package responses_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/responses"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(media string, body io.Reader) tripper {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(body)}, nil
	}
}

func newClient(tb testing.TB, transport http.RoundTripper) *responses.Client {
	tb.Helper()
	c, err := responses.New(endpoint.Options{BaseURL: "http://model.test/v1/responses", HTTP: transport})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// complete has an answer read.
func complete(tb testing.TB, media, body string) (*model.Reply, error) {
	tb.Helper()
	return completeFrom(tb, media, strings.NewReader(body))
}

func completeFrom(tb testing.TB, media string, body io.Reader) (*model.Reply, error) {
	tb.Helper()
	c := newClient(tb, respond(media, body))
	return c.Complete(context.Background(), &model.Request{Model: "m", History: []byte(`{"type":"message","role":"user","content":"hi"}`), Stream: true})
}

// fault returns the fault that a call must have ended with.
func fault(tb testing.TB, reply *model.Reply, err error) *model.Fault {
	tb.Helper()
	var f *model.Fault
	if !errors.As(err, &f) || reply != nil {
		tb.Fatalf("no fault, but %+v, %v", reply, err)
	}
	return f
}

func call(id, name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{ID: id, Name: name, Arguments: arguments}
}
