package conformance_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/anthropic"
	"annotator/model/endpoint"
	"annotator/model/gemini"
	"annotator/model/openai"
	"annotator/model/responses"
)

// client is a wire of a run.
type client interface {
	model.Wire
	Close()
}

// wire is a row of the table that TestEveryWireDoesWhatARunNeeds runs against.
type wire struct {
	name string
	path string // of the base URL
	dial func(endpoint.Options) (client, error)

	allows  bool   // its tool choice can name several of the tools
	forbids bool   // it has a separate field that forbids tool calls
	seeds   bool   // it has a seed
	marks   string // bytes that it inserts into a history for one request only

	// Messages of its servers.
	noKey  string // with a 401
	busy   string // with a 429
	broken string // an error of the server in a stream
	begins string // a stream, up to the first words
	goesOn string // a word more
}

func wires() []wire {
	return []wire{
		{
			name: "chat", path: "/v1", dial: dial(openai.New), forbids: true, seeds: true,
			noKey: `{"error":{"message":"Incorrect API key ` +
				`provided","type":"invalid_request_error","code":"invalid_api_key"}}`,
			busy: `{"error":{"message":"Rate limit reached for ` +
				`requests","type":"requests","code":"rate_limit_exceeded"}}`,
			broken: `data: {"error":{"message":"boom","type":"InternalServerError","code":500}}` + "\n\n",
			goesOn: `data: {"choices":[{"index":0,"delta":{"content":" lamp"}}]}` + "\n\n",
		},
		{
			name: "responses", path: "/v1", dial: dial(responses.New), allows: true, forbids: true,
			noKey: `{"error":{"message":"Incorrect API key ` +
				`provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
			busy: `{"error":{"message":"Rate limit ` +
				`reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
			broken: `event: response.failed` + "\n" +
				`data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error",` +
				`"message":"boom"}}}` + "\n\n",
			begins: `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}` + "\n\n",
			goesOn: `data: {"type":"response.output_text.delta","output_index":0,"delta":" lamp"}` + "\n\n",
		},
		{
			name: "anthropic", path: "/v1", dial: dial(anthropic.New), marks: `,"cache_control":{"type":"ephemeral"}`,
			noKey: `{"type":"error","error":{"type":"authentication_error","message":"invalid ` +
				`x-api-key"},"request_id":"req_1"}`,
			busy: `{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens ` +
				`has exceeded ` +
				`your per-minute rate limit"}}`,
			broken: "event: error\ndata: " + `{"type":"error","error":{"type":"api_error","message":"boom"}}` + "\n\n",
			begins: `data: {"type":"message_start","message":{"content":[]}}` + "\n\n" +
				`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n",
			goesOn: `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" lamp"}}` +
				"\n\n",
		},
		{
			name: "gemini", path: "/v1beta", dial: dial(gemini.New), allows: true, forbids: true, seeds: true,
			noKey: `{"error":{"code":401,"message":"Request had invalid authentication ` +
				`credentials.","status":"UNAUTHENTICATED"}}`,
			busy: `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan ` +
				`and billing ` +
				`details.","status":"RESOURCE_EXHAUSTED"}}`,
			broken: `data: {"error":{"code":500,"message":"boom","status":"INTERNAL"}}` + "\r\n\r\n",
			goesOn: `data: {"candidates":[{"content":{"parts":[{"text":" lamp"}]}}]}` + "\r\n\r\n",
		},
	}
}

// dial converts the constructor of a wire to the table's type.
func dial[C client](open func(endpoint.Options) (C, error)) func(endpoint.Options) (client, error) {
	return func(o endpoint.Options) (client, error) { return open(o) }
}

// TestEveryWireDoesWhatARunNeeds tests the requirements of a run on every wire, against one server that serves them
// all.
func TestEveryWireDoesWhatARunNeeds(t *testing.T) {
	t.Parallel()
	laws := []struct {
		name string
		law  func(*testing.T, wire)
	}{
		{"encoding only grows", onlyGrows},
		{"tools", encodesTools},
		{"unsendable request", refusesUnsendable},
		{"streamed is unstreamed", streamedIsUnstreamed},
		{"what comes decides", whatComesDecides},
		{"conversation", conversation},
		{"settings", settings},
		{"choice of tools", choosesTools},
		{"arranged for a template", arranges},
		{"cached tokens", countsCached},
		{"auxiliary question", asksAuxiliary},
		{"progress", reportsProgress},
		{"silence", onlyTokensCount},
		{"models", listsModels},
		{"cut anywhere", cutAnywhere},
		{"connection cut", connectionCut},
		{"faults", faults},
		{"cut by its limit", cutByItsLimit},
		{"key", keepsItsKey},
		{"cancel", cancels},
		{"endless answer", endlessAnswer},
		{"endless loop", endlessLoop},
		{"wait ends", waitEnds},
	}
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, l := range laws {
				t.Run(l.name, func(t *testing.T) {
					t.Parallel()
					l.law(t, w)
				})
			}
		})
	}
}

// canary is a key that must not occur in answers.
const canary = "sk-canary-0123456789"

// connect returns a client of a server.
func (w *wire) connect(tb testing.TB, server *scripted.Server) client {
	tb.Helper()
	return w.open(tb, endpoint.Options{BaseURL: server.URL + w.path, Key: canary})
}

// answered returns a client whose requests are answered without a network.
func (w *wire) answered(tb testing.TB, answer func(*http.Request) (*http.Response, error)) client {
	tb.Helper()
	return w.open(tb, endpoint.Options{
		BaseURL: "http://model.test" + w.path, Key: canary,
		HTTP: wiretest.Network(answer),
	})
}

func (w *wire) open(tb testing.TB, o endpoint.Options) client {
	tb.Helper()
	return wiretest.Open(tb, w.dial, o)
}

func stream(body io.Reader) *http.Response {
	return wiretest.Response(http.StatusOK, "text/event-stream", body)
}

// talk is a growing conversation, encoded by one wire.
type talk struct {
	client  client
	history []byte
	tools   []byte
	sent    []annotator.Message
}

var searchTool = annotator.ToolDefinition{
	Name: "search", Description: "Finds <names> & more.",
	Schema: []byte(
		`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`),
}

var readTool = annotator.ToolDefinition{
	Name: "read", Description: "Reads a post.",
	Schema: []byte(`{"type":"object","properties":{"id":{"type":"integer"}}}`),
}

func newTalk(tb testing.TB, c client, tools ...annotator.ToolDefinition) *talk {
	tb.Helper()
	return &talk{client: c, tools: wiretest.Tools(tb, c, tools)}
}

// say adds a group of messages.
func (c *talk) say(tb testing.TB, group ...annotator.Message) {
	tb.Helper()
	if len(c.history) > 0 {
		c.history = append(c.history, ',')
	}
	c.history = append(c.history, wiretest.History(tb, c.client, group)...)
	c.sent = append(c.sent, group...)
}

func (c *talk) user(tb testing.TB, text string) {
	tb.Helper()
	c.say(tb, annotator.Message{Role: annotator.RoleUser, Content: text})
}

// answer adds a reply, with the results of its calls as one group.
func (c *talk) answer(tb testing.TB, r *model.Reply, id func(int) string) {
	tb.Helper()
	m := annotator.Message{Role: annotator.RoleAssistant, Content: r.Text, Reasoning: r.Reasoning}
	var results []annotator.Message
	for i, call := range r.Calls {
		call.ID = id(i)
		m.ToolCalls = append(m.ToolCalls, call)
		results = append(results, annotator.Message{
			Role: annotator.RoleTool, ToolCallID: call.ID, Tool: call.Name,
			Content: "result of " + call.Name + call.Arguments,
		})
	}
	c.say(tb, m)
	if len(results) > 0 {
		c.say(tb, results...)
	}
}

func (c *talk) request(stream bool) *model.Request {
	return &model.Request{
		Model: "scripted", System: "You keep a codex.", History: c.history, Tools: c.tools,
		MaxTokens: 500, Stream: stream,
	}
}

func (c *talk) complete(tb testing.TB, stream bool) *model.Reply {
	tb.Helper()
	reply, err := c.client.Complete(tb.Context(), c.request(stream))
	if err != nil {
		tb.Fatal(err)
	}
	return reply
}

func repeat(text string, bytes int) string { return strings.Repeat(text, bytes/len(text)+1) }

// hi is the shortest conversation.
var hi = []annotator.Message{{Role: annotator.RoleUser, Content: "hi"}}

func ask(ctx context.Context, c client, stream bool) (*model.Reply, error) {
	encoded, err := c.Encode(hi)
	if err != nil {
		return nil, err
	}
	return c.Complete(ctx, &model.Request{Model: "scripted", History: encoded, MaxTokens: 100, Stream: stream})
}
