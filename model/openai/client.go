// Package openai implements the wire of chat completions, as OpenAI, vLLM, llama.cpp, SGLang, LM Studio and Ollama
// serve them.
//
// The types are those of github.com/sashabaranov/go-openai where they lose nothing. Its client is not used: it would
// encode the whole history anew for each request, and it drops what its types do not know, such as an error that is no
// object, a Retry-After or a reasoning field.
package openai

import (
	"context"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct {
	endpoint *endpoint.Client
}

var (
	_ model.Wire = (*Client)(nil)
)

// New returns a client. The base URL is the one with /v1. The error, of kind annotator.Misused, says what is wrong with
// address or key, and shows neither.
func New(o endpoint.Options) (*Client, error) {
	c, err := endpoint.New(o, endpoint.API{
		Example: "http://localhost:8000/v1",
		Suffix:  completions,
		Header:  endpoint.Bearer,
	})
	if err != nil {
		return nil, err
	}
	return &Client{endpoint: c}, nil
}

// completions is the path of chat completions after the base URL.
const completions = "/chat/completions"

// Close closes connections that are not in use.
func (c *Client) Close() { c.endpoint.Close() }

// Complete sends a request and reads the whole reply. See model.Wire.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	call := endpoint.Call{URL: c.endpoint.BaseURL() + completions, Body: body, Stream: r.Stream, OnProgress: r.OnProgress}
	return c.endpoint.Complete(ctx, &call, new(assembler))
}

// Models lists what the endpoint serves. A failure is a *model.Fault.
func (c *Client) Models(ctx context.Context) ([]model.Model, error) {
	return c.endpoint.Models(ctx, "/models")
}

// Encode renders messages for a request. See model.Wire.
//
// Content is never left out: without it, or with null, some templates fail, and some drop the message. Reasoning is not
// sent back: servers refuse it or remove it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) { return encodeMessages(group) }

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	return encodeTools(tools)
}
