package anthropic_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model/anthropic"
	"annotator/model/endpoint"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(tb testing.TB, o endpoint.Options) *anthropic.Client {
	tb.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "https://api.anthropic.com/v1"
	}
	return wiretest.Open(tb, anthropic.New, o)
}

// events renders a stream. The name of each event is the type in its data.
func events(all ...string) string {
	var b strings.Builder
	for _, data := range all {
		var named struct{ Type string }
		_ = json.Unmarshal([]byte(data), &named)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", named.Type, data)
	}
	return b.String()
}

func call(id, name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{ID: id, Name: name, Arguments: arguments}
}

// done is the shortest answer that is a reply.
const done = `{"content":[],"stop_reason":"end_turn"}`

const (
	startEvent = `{"type":"message_start","message":{"model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":1,"cache_read_input_tokens":8,"output_tokens":1}}}`
	textStart  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	textDelta  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Dawn"}}`
	blockStop  = `{"type":"content_block_stop","index":0}`
	endEvent   = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`
	stopEvent  = `{"type":"message_stop"}`
	ping       = `{"type":"ping"}`
)

var exactUsage = annotator.Usage{Prompt: 10, Told: 10, Cached: 8, Completion: 2, Exact: true}
