// Package responses implements the wire of OpenAI's Responses API. vLLM, llama.cpp, SGLang, LM Studio and Ollama serve
// it, too. The server stores nothing: each request contains the whole conversation.
package responses

import (
	"context"
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct{ *endpoint.Client }

var _ model.Wire = (*Client)(nil)

// New returns a client. The base URL ends with /v1. The error, of kind annotator.Misused, says what is wrong with the
// URL or the key, and contains neither.
func New(o endpoint.Options) (*Client, error) {
	c, err := endpoint.New(o, endpoint.API{
		Example: "https://api.openai.com/v1", Suffix: responses, Header: endpoint.Bearer, Refusals: refusals,
	})
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// responses is the path of the API after the base URL.
const responses = "/responses"

// Complete sends a request and reads the whole reply. See model.Wire. The API has no seed.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	return c.Client.Complete(ctx, endpoint.NewCall(c.BaseURL()+responses, body, r), new(assembler))
}

// refusals are the messages of servers, most specific first.
var refusals = append(endpoint.TemplateRefusals(toolResult), []model.Refusal{
	{Needs: model.NoStrictTools, Of: model.StrictTools, Pattern: model.StrictRefused, Effect: model.NoStrictEffect},
	{Needs: model.StrictTools, Effect: model.StrictEffect},
	{
		Needs: model.NoTemperature, Pattern: model.RefusalOf(`temperature`),
		Effect: "the temperature is left to the server",
	},
	{
		Needs: model.NoToolSubset, Pattern: regexp.MustCompile(`allowed_tools|tool_choice.*\bobject\b`),
		Effect: "all tools are allowed where only some should be",
	},
	{Needs: model.NoToolChoice, Pattern: model.RefusalOf(`tool_choice`), Effect: "no choice of tools is sent"},
}...)
