package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"annotator"
	"annotator/model"
	"annotator/model/anthropic"
	"annotator/model/endpoint"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tripper answers requests without a network.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, media string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(body)}
}

// respond returns a tripper that always answers the same.
func respond(status int, media, body string) tripper {
	return func(*http.Request) (*http.Response, error) {
		return response(status, media, strings.NewReader(body)), nil
	}
}

// sent is what a client has sent.
type sent struct {
	url    string
	header http.Header
	body   []byte
}

// record answers every request with an object, and keeps the newest.
func record(into *sent, object string) tripper {
	return func(r *http.Request) (*http.Response, error) {
		*into = sent{url: r.URL.String(), header: r.Header}
		if r.Body != nil {
			into.body, _ = io.ReadAll(r.Body)
		}
		return response(200, "application/json", strings.NewReader(object)), nil
	}
}

func newClient(tb testing.TB, o endpoint.Options) *anthropic.Client {
	tb.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "https://api.anthropic.com/v1"
	}
	c, err := anthropic.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
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

// events renders a stream: each event is its data, and has the name that stands in it.
func events(all ...string) string {
	var b strings.Builder
	for _, data := range all {
		var named struct{ Type string }
		_ = json.Unmarshal([]byte(data), &named)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", named.Type, data)
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

func call(id, name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{ID: id, Name: name, Arguments: arguments}
}

const (
	startEvent = `{"type":"message_start","message":{"model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":1,"cache_read_input_tokens":8,"output_tokens":1}}}`
	textStart  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	textDelta  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Dawn"}}`
	blockStop  = `{"type":"content_block_stop","index":0}`
	endEvent   = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`
	stopEvent  = `{"type":"message_stop"}`
	ping       = `{"type":"ping"}`
)

var exactUsage = annotator.Usage{Prompt: 10, Cached: 8, Completion: 2, Exact: true}
