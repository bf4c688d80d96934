// Package anthropic implements the wire of Anthropic's Messages API. vLLM, llama.cpp, SGLang, Ollama and LM Studio
// serve it, too.
//
// The API caches a prompt only up to its breakpoints, at most four. One is after the tools, one after the system
// prompt, one where the previous request ended, and one at the end. The last two are inserted when a request is sent,
// so that the encoded history only grows at its end.
//
// The cache depends on the choice of tools: after another choice the server processes all messages again. So a request
// that must not be answered with a call sends no choice. Its last message says that no tool may be called. If a reply
// calls one all the same, later requests send the choice.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// version is the version of the API.
const version = "2023-06-01"

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct{ *endpoint.Client }

var (
	_ model.Wire    = (*Client)(nil)
	_ model.Counter = (*Client)(nil)
)

// New returns a client. The base URL ends with /v1. The error, of kind annotator.Misused, says what is wrong with the
// URL or the key, and contains neither.
func New(o endpoint.Options) (*Client, error) {
	c, err := endpoint.New(o, endpoint.API{
		Example:  "https://api.anthropic.com/v1",
		Suffix:   messages,
		Models:   "/models?limit=1000", // the maximum of the API
		Header:   func(key string) http.Header { return header(o.BaseURL, key) },
		Refusals: refusals,
	})
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// messages is the path of the API after the base URL.
const messages = "/messages"

// header returns the header with the key. Servers other than Anthropic's also get it as a bearer token.
func header(address, key string) http.Header {
	h := http.Header{"Anthropic-Version": {version}}
	if key == "" {
		return h
	}
	if u, err := url.Parse(strings.TrimSpace(address)); err == nil &&
		!strings.HasSuffix(u.Hostname(), "anthropic.com") {
		h = endpoint.Bearer(key)
		h.Set("Anthropic-Version", version)
	}
	h.Set("X-Api-Key", key)
	return h
}

// Complete sends a request and reads the whole reply. See model.Wire. The API has no seed.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	reply, err := c.Client.Complete(ctx, endpoint.NewCall(c.BaseURL()+messages, body, r), new(assembler))
	if err == nil && r.Choice.Mode == model.ChoiceNone && len(reply.Calls) > 0 &&
		!r.Workarounds.Has(model.ForbidCalls) {
		return nil, forbiddenCall(reply)
	}
	return reply, err
}

// CountTokens counts a message with the text. The count includes a few tokens of the message. See model.Counter.
func (c *Client) CountTokens(ctx context.Context, name, text string) (int, error) {
	message, err := c.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: text}})
	if err != nil {
		return 0, err
	}
	body, err := endpoint.Marshal(struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
	}{name, []json.RawMessage{message}})
	if err != nil {
		return 0, err
	}
	call := endpoint.Call{URL: c.BaseURL() + messages + "/count_tokens", Body: endpoint.Segments{body}}
	return endpoint.Read(ctx, c.Client, &call, readCount)
}

func readCount(body []byte) (int, error) {
	var counted struct {
		Tokens int `json:"input_tokens"`
	}
	if err := json.Unmarshal(body, &counted); err != nil || counted.Tokens <= 0 {
		return 0, errors.New("it is no count of tokens")
	}
	return counted.Tokens, nil
}

// forbiddenCall is the fault of a reply that calls a tool although it must not.
func forbiddenCall(r *model.Reply) *model.Fault {
	f := endpoint.Unusable("the model calls %s where no tool may be called", endpoint.ToolName(r.Calls[0].Name))
	f.Status, f.Raw, f.Usage, f.FirstByte, f.Duration = http.StatusOK, r.Raw, r.Usage, r.FirstByte, r.Duration
	return f
}

// refusals are the messages of servers, most specific first.
var refusals = append(endpoint.TemplateRefusals(toolResult), []model.Refusal{
	{Needs: model.NoStrictTools, Of: model.StrictTools, Pattern: model.StrictRefused, Effect: model.NoStrictEffect},
	{Needs: model.StrictTools, Effect: model.StrictEffect},
	{
		Needs: model.NoTemperature, Pattern: model.RefusalOf("temperature"),
		Effect: "the temperature is left to the model",
	},
	{
		Needs: model.NoForcedCall, Pattern: regexp.MustCompile(`tool_choice forces tool use|tool_choice.*thinking`),
		Effect: "no tool call is required of the model",
	},
	{
		Needs: model.ForbidCalls, Pattern: regexp.MustCompile(`where no tool may be called`),
		Effect: "the API is told where no tool may be called, which costs its cache",
	},
}...)
