package endpoint_test

import (
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

	"annotator/model"
	"annotator/model/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tripper answers requests without a network.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, media string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(body)}
}

var api = endpoint.API{Example: "http://localhost:8000/v1", Suffix: "/ask", Header: endpoint.Bearer}

func newClient(tb testing.TB, o endpoint.Options) *endpoint.Client {
	tb.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "http://model.test/v1"
	}
	c, err := endpoint.New(o, api)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// serve starts a server for the time of a test and returns a client for it.
func serve(tb testing.TB, o endpoint.Options, h http.HandlerFunc) *endpoint.Client {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	o.BaseURL = s.URL + "/v1"
	return newClient(tb, o)
}

// minutes is an assembler that writes down what comes. A reply ends with the event that says so, and with its stream.
type minutes struct{ lines []string }

func (m *minutes) Whole(body []byte) error { return m.write("", body) }

func (m *minutes) Event(name string, data []byte) (end bool, err error) {
	return name == "end", m.write(name+"|", data)
}

func (m *minutes) write(name string, data []byte) error {
	switch {
	case !json.Valid(data):
		return errors.New("it is no JSON")
	case model.CarriesError(data):
		return endpoint.Complaint(data)
	case string(data) == "[]":
		return endpoint.Unusable("it is empty")
	}
	m.lines = append(m.lines, name+string(data))
	return nil
}

func (m *minutes) Reply() (*model.Reply, error) {
	if len(m.lines) == 0 {
		return nil, endpoint.Unusable("nothing came")
	}
	return &model.Reply{Text: strings.Join(m.lines, "\n"), Finish: "stop"}, nil
}

// ask sends a small request.
func ask(ctx context.Context, c *endpoint.Client) (*model.Reply, error) {
	call := endpoint.Call{URL: c.BaseURL() + "/ask", Body: endpoint.Segments{[]byte(`{"a"`), nil, []byte(`:1}`)}, Stream: true}
	return c.Complete(ctx, &call, new(minutes))
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
