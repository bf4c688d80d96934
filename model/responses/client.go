// Package responses implements the wire of OpenAI's Responses API, which vLLM, llama.cpp, SGLang, LM Studio and Ollama
// serve, too. The server stores nothing: each request contains the whole conversation.
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
}

var (
	_ model.Wire = (*Client)(nil)
)

// New returns a client. The base URL is the one with /v1. The error, of kind annotator.Misused, says what is wrong with
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

// responses is the path of the API after the base URL.
const responses = "/responses"

// Close closes connections that are not in use.
func (c *Client) Close() { c.endpoint.Close() }

// Complete sends a request and reads the whole reply. See model.Wire. The API has no seed.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
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

// Encode renders messages for a request. See model.Wire.
//
// Reasoning is not sent back: the API takes it only in the encrypted form in which it sent it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) { return encodeMessages(group) }

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	return encodeTools(tools)
}

var refusals = []model.Refusal{
	{Needs: model.NoTemperature, Pattern: model.RefusalOf(`temperature`), Effect: "the temperature is left to the server"},
	{Needs: model.NoToolSubset, Pattern: regexp.MustCompile(`allowed_tools|tool_choice.*\bobject\b`), Effect: "all tools are allowed where only some should be"},
	{Needs: model.NoToolChoice, Pattern: model.RefusalOf(`tool_choice`), Effect: "no choice of tools is sent"},
}

// Refusals lists how servers refuse the usual form of a request. See model.Wire.
func (*Client) Refusals() []model.Refusal { return refusals }
