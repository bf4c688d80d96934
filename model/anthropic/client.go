// Package anthropic implements the wire of Anthropic's Messages API, which vLLM, llama.cpp, SGLang, Ollama and LM
// Studio serve, too.
//
// The API caches a prompt only up to the breakpoints in it, of which it takes four. One is after the tools, one after
// the system prompt, one where the request before ended, and one at the end. The last two are inserted when a request
// is sent, so that the encoded history only grows at its end.
//
// Another choice of tools than that of the request before has the server process all messages again: its cache depends
// on the choice. So a request for an answer in words does not send a choice, and says in its last message that no tool
// may be called, until a reply calls one nevertheless.
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

// version is the version of the API.
const version = "2023-06-01"

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct {
	endpoint *endpoint.Client
}

var (
	_ model.Wire    = (*Client)(nil)
	_ model.Counter = (*Client)(nil)
)

// New returns a client. The base URL is the one with /v1. The error, of kind annotator.Misused, says what is wrong with
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

// messages is the path of the API after the base URL.
const messages = "/messages"

// header sends the key as the API does, and to other servers than Anthropic's also as a bearer token.
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

// Complete sends a request and reads the whole reply. See model.Wire. The API has no seed.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	call := endpoint.Call{URL: c.endpoint.BaseURL() + messages, Body: body, Stream: r.Stream, OnProgress: r.OnProgress}
	reply, err := c.endpoint.Complete(ctx, &call, new(assembler))
	if err == nil && r.Choice.Mode == model.ChoiceNone && len(reply.Calls) > 0 && !r.Workarounds.Has(model.ForbidCalls) {
		return nil, forbiddenCall(reply)
	}
	return reply, err
}

// Models lists what the endpoint serves. A failure is a *model.Fault.
func (c *Client) Models(ctx context.Context) ([]model.Model, error) {
	return c.endpoint.Models(ctx, "/models?limit=1000") // the maximum of the API
}

// CountTokens counts a message with the text. The count includes a few tokens of the message. See model.Counter.
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

// Encode renders messages for a request. See model.Wire.
//
// Reasoning is not sent back: without its signature, the API refuses it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) { return encodeMessages(group) }

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	return encodeTools(tools)
}
