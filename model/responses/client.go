// Package responses speaks OpenAI's Responses API, which vLLM, llama.cpp, SGLang, LM Studio and Ollama serve, too. Nothing is
// left with the server: each request brings the whole conversation along.
package responses

import (
	"context"
	"regexp"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct {
	endpoint *endpoint.Client
	quirks   endpoint.Quirks
}

var (
	_ model.Wire    = (*Client)(nil)
	_ model.Adapter = (*Client)(nil)
)

// New returns a client. The base URL is the one with /v1. The error, of kind annotator.Misused, tells what is wrong with
// address or key, and shows neither.
func New(o endpoint.Options) (*Client, error) {
	c, err := endpoint.New(o, endpoint.API{
		Example: "https://api.openai.com/v1",
		Suffix:  responses,
		Header:  endpoint.Bearer,
	})
	if err != nil {
		return nil, err
	}
	return &Client{endpoint: c}, nil
}

// responses is where the API stands behind the base URL.
const responses = "/responses"

// Close closes connections that are not in use.
func (c *Client) Close() { c.endpoint.Close() }

// Complete sends a request and reads the whole reply. See model.Wire. The API knows no seed.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r, &c.quirks)
	if err != nil {
		return nil, err
	}
	call := endpoint.Call{URL: c.endpoint.BaseURL() + responses, Body: body, Stream: r.Stream, OnProgress: r.OnProgress}
	return c.endpoint.Complete(ctx, &call, new(assembler))
}

// Models lists what the endpoint serves. A failure is a *model.Fault.
func (c *Client) Models(ctx context.Context) ([]model.Model, error) {
	return c.endpoint.Models(ctx, "/models")
}

// Encode renders messages for a request's list. See model.Wire.
//
// Reasoning is not sent back: the API takes it only in the encrypted form in which it gave it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) { return encodeMessages(group) }

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	return encodeTools(tools)
}

// What servers and models want otherwise.
const (
	noTemperature endpoint.Quirk = 1 << iota // models that think sample as they like
	noSubset                                 // several tools cannot be allowed out of the list
	noChoice
)

var lessons = []endpoint.Lesson{
	{Quirk: noTemperature, Said: endpoint.Refuses(`temperature`), Does: "the temperature is left to the server"},
	{Quirk: noSubset, Said: regexp.MustCompile(`allowed_tools|tool_choice.*\bobject\b`), Does: "all tools are allowed where only some should be"},
	{Quirk: noChoice, Said: endpoint.Refuses(`tool_choice`), Does: "no choice of tools is sent"},
}

// Adapt learns what a server wants otherwise. See model.Adapter.
func (c *Client) Adapt(f *model.Fault) string { return c.quirks.Learn(f, lessons) }
