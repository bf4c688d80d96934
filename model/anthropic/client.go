// Package anthropic speaks Anthropic's Messages API, which vLLM, llama.cpp, SGLang, Ollama and LM Studio serve, too.
//
// The API caches a prompt up to the breakpoints in it, and only there; it takes four. One stands behind the tools, one behind the
// system prompt, one where the request before ended, and one at the end. The last two are put in when a request is sent, so
// that the encoded history only grows at its end.
//
// Another choice of tools than that of the request before has the server read all messages anew: the API keeps them apart by it.
// So a request that is to be answered in words leaves the choice to the model, which its last message tells what is wanted,
// until a reply calls a tool all the same.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// version is the one of the API whose forms are spoken here.
const version = "2023-06-01"

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct {
	endpoint *endpoint.Client
}

var (
	_ model.Wire    = (*Client)(nil)
	_ model.Counter = (*Client)(nil)
)

// New returns a client. The base URL is the one with /v1. The error, of kind annotator.Misused, tells what is wrong with
// address or key, and shows neither.
func New(o endpoint.Options) (*Client, error) {
	c, err := endpoint.New(o, endpoint.API{
		Example: "https://api.anthropic.com/v1",
		Suffix:  messages,
		Header:  func(key string) http.Header { return header(o.BaseURL, key) },
	})
	if err != nil {
		return nil, err
	}
	return &Client{endpoint: c}, nil
}

// messages is where the API stands behind the base URL.
const messages = "/messages"

// header has the key where the API wants it, and for other servers than Anthropic's where they want it for all their APIs.
func header(address, key string) http.Header {
	h := http.Header{"Anthropic-Version": {version}}
	if key == "" {
		return h
	}
	if u, err := url.Parse(strings.TrimSpace(address)); err == nil && !strings.HasSuffix(u.Hostname(), "anthropic.com") {
		h = endpoint.Bearer(key)
		h.Set("Anthropic-Version", version)
	}
	h.Set("X-Api-Key", key)
	return h
}

// Close closes connections that are not in use.
func (c *Client) Close() { c.endpoint.Close() }

// Complete sends a request and reads the whole reply. See model.Wire. The API knows no seed.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	call := endpoint.Call{URL: c.endpoint.BaseURL() + messages, Body: body, Stream: r.Stream, OnProgress: r.OnProgress}
	reply, err := c.endpoint.Complete(ctx, &call, new(assembler))
	if err == nil && r.Choice.Mode == model.ChoiceNone && len(reply.Calls) > 0 && !r.Workarounds.Has(model.ForbidCalls) {
		return nil, callsUnbidden(reply)
	}
	return reply, err
}

// Models lists what the endpoint serves. A failure is a *model.Fault.
func (c *Client) Models(ctx context.Context) ([]model.Model, error) {
	return c.endpoint.Models(ctx, "/models?limit=1000") // the most that the API gives at once
}

// CountTokens has the server count a message of the text alone: a few tokens that stand around it are in the count. See
// model.Counter.
func (c *Client) CountTokens(ctx context.Context, name, text string) (int, error) {
	message, err := encodeMessages([]annotator.Message{{Role: annotator.RoleUser, Content: text}})
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
	var counted struct {
		Tokens int `json:"input_tokens"`
	}
	call := endpoint.Call{URL: c.endpoint.BaseURL() + messages + "/count_tokens", Body: endpoint.Segments{body}}
	err = c.endpoint.Fetch(ctx, &call, func(body []byte) error {
		if err := json.Unmarshal(body, &counted); err != nil || counted.Tokens <= 0 {
			return errors.New("it is no count of tokens")
		}
		return nil
	})
	return counted.Tokens, err
}

// Encode renders messages for a request's list. See model.Wire.
//
// Reasoning is not sent back: without the signature that it came under, the API refuses it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) { return encodeMessages(group) }

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	return encodeTools(tools)
}
