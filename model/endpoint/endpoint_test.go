package endpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var api = endpoint.API{Example: "http://localhost:8000/v1", Suffix: "/ask", Header: endpoint.Bearer}

func newClient(tb testing.TB, o endpoint.Options) *endpoint.Client {
	tb.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "http://model.test/v1"
	}
	return wiretest.Open(tb, func(o endpoint.Options) (*endpoint.Client, error) { return endpoint.New(o, api) }, o)
}

// serve starts a server for the time of a test and returns a client for it.
func serve(tb testing.TB, o endpoint.Options, h http.HandlerFunc) *endpoint.Client {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	o.BaseURL = s.URL + "/v1"
	return newClient(tb, o)
}

// recorder is an assembler that records its input. A reply ends with an event named end, or with its stream.
type recorder struct {
	endpoint.Builder
	lines []string
}

func (m *recorder) Whole(body []byte) error { return m.write("", body) }

func (m *recorder) Event(name string, data []byte) (end bool, err error) {
	return name == "end", m.write(name+"|", data)
}

func (m *recorder) write(name string, data []byte) error {
	switch {
	case !json.Valid(data):
		return errors.New("it is no JSON")
	case model.CarriesError(data):
		return endpoint.ErrorBody(data)
	case string(data) == "[]":
		return endpoint.Unusable("it is empty")
	}
	m.lines = append(m.lines, name+string(data))
	return nil
}

func (m *recorder) Size() int { return len(m.Growing()) }

func (m *recorder) Growing() string { return strings.Join(m.lines, "\n") }

func (m *recorder) Reply() (*model.Reply, error) {
	if len(m.lines) == 0 {
		return nil, endpoint.Unusable("nothing came")
	}
	return &model.Reply{Text: strings.Join(m.lines, "\n"), Finish: "stop"}, nil
}

// ask sends a small request.
func ask(ctx context.Context, c *endpoint.Client) (*model.Reply, error) {
	call := endpoint.Call{
		URL: c.BaseURL() + "/ask", Body: endpoint.Segments{[]byte(`{"a"`), nil, []byte(`:1}`)},
		Stream: true,
	}
	return c.Complete(ctx, &call, new(recorder))
}
