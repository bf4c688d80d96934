// Package openai implements the wire of chat completions, as OpenAI, vLLM, llama.cpp, SGLang, LM Studio and Ollama
// serve them.
//
// The types are those of github.com/sashabaranov/go-openai where they lose nothing. Its client is not used: it encodes
// the whole history for each request. It also drops fields that its types lack, such as an error that is no object, a
// Retry-After or a reasoning field.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

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
		Example: "http://localhost:8000/v1", Suffix: completions, Header: endpoint.Bearer, Refusals: refusals,
	})
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// completions is the path of chat completions after the base URL.
const completions = "/chat/completions"

// Complete sends a request and reads the whole reply. See model.Wire.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	return c.Client.Complete(ctx, endpoint.NewCall(c.BaseURL()+completions, body, r), new(assembler))
}

// CountTokens asks the server's tokenizer, which has a path next to /v1. See model.Counter.
func (c *Client) CountTokens(ctx context.Context, name, text string) (int, error) {
	body, err := endpoint.Marshal(struct {
		Model   string `json:"model"`
		Prompt  string `json:"prompt"`
		Content string `json:"content"` // llama.cpp's name for the prompt
		Special bool   `json:"add_special_tokens"`
	}{name, text, text, false})
	if err != nil {
		return 0, err
	}
	call := endpoint.Call{
		URL:  c.ServerURL("/tokenize"),
		Body: endpoint.Segments{body},
	}
	return endpoint.Read(ctx, c.Client, &call, readCount)
}

// readCount reads the response of a tokenizer: vLLM and SGLang send a count, llama.cpp the tokens only.
func readCount(answer []byte) (int, error) {
	var counted struct {
		Count  int               `json:"count"`
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&counted); err != nil {
		return 0, endpoint.Unusable("the tokenizer sent what is no count")
	}
	n := cmp.Or(counted.Count, len(counted.Tokens))
	if n <= 0 {
		return 0, endpoint.Unusable("the tokenizer sent no count")
	}
	return n, nil
}

// toolResult is a substring of every history that has the result of a tool.
const toolResult = `{"role":"tool",`

// refusals are the messages of servers, most specific first.
var refusals = append(endpoint.TemplateRefusals(toolResult), []model.Refusal{
	{Needs: model.NoStrictTools, Of: model.StrictTools, Pattern: model.StrictRefused, Effect: model.NoStrictEffect},
	{Needs: model.StrictTools, Effect: model.StrictEffect},
	{
		Needs: model.MergeRoles, Pattern: regexp.MustCompile(`roles must alternate`),
		Effect: "neighbouring messages of one role go as one",
	},
	{
		Needs: model.MaxCompletionTokens, Pattern: model.RefusalOf(`max_tokens`),
		Effect: "the limit on a reply goes as max_completion_tokens",
	},
	{
		Needs: model.NoTemperature, Pattern: model.RefusalOf(`temperature`),
		Effect: "the temperature is left to the server",
	},
	{
		Needs: model.NoStreamUsage, Pattern: model.RefusalOf(`stream_options`),
		Effect: "no account of tokens is asked for in streams",
	},
	{Needs: model.NoSeed, Pattern: model.RefusalOf(`seed`), Effect: "no seed is sent"},
	{
		Needs: model.NoNamedTool, Pattern: regexp.MustCompile(`tool_choice.*\bobject\b`),
		Effect: "a tool is not chosen by name",
	},
	{Needs: model.NoToolChoice, Pattern: model.RefusalOf(`tool_choice`), Effect: "no choice of tools is sent"},
}...)
