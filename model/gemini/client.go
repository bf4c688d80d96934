// Package gemini implements the wire of generateContent, as Google's Gemini API serves it.
//
// Google's module is not used. With gRPC and fifteen more modules it makes the binary eleven megabytes larger. Only one
// request, one form of response and a list of models are needed of it.
package gemini

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct{ *endpoint.Client }

var (
	_ model.Wire    = (*Client)(nil)
	_ model.Counter = (*Client)(nil)
)

// New returns a client. The base URL ends with /v1beta. The error, of kind annotator.Misused, says what is wrong with
// the URL or the key, and contains neither.
func New(o endpoint.Options) (*Client, error) {
	c, err := endpoint.New(o, endpoint.API{
		Example:  "https://generativelanguage.googleapis.com/v1beta",
		Suffix:   "/models",
		Version:  "/v1beta", // Google's own clients take the host alone
		Header:   header,
		Refusals: refusals,
	})
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// header returns the header with the key. Google's examples put the key into the URL, which proxies log.
func header(key string) http.Header {
	if key == "" {
		return nil
	}
	return http.Header{"X-Goog-Api-Key": {key}}
}

// Complete sends a request and reads the whole reply. See model.Wire.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	method := "generateContent"
	if r.Stream {
		method = "streamGenerateContent?alt=sse" // otherwise the chunks come as one array
	}
	return c.Client.Complete(ctx, endpoint.NewCall(c.address(r.Model, method), body, r), new(assembler))
}

// address returns the URL of a method of a model. A name without a collection gets that of the models.
func (c *Client) address(name, method string) string {
	if !strings.Contains(name, "/") {
		name = modelsPrefix + name
	}
	return c.BaseURL() + (&url.URL{Path: "/" + name}).EscapedPath() + ":" + method
}

// modelsPrefix is the collection in which the API lists models.
const modelsPrefix = "models/"

// Models lists the models that can generate. A failure is a *model.Fault.
func (c *Client) Models(ctx context.Context) ([]model.Model, error) {
	call := endpoint.Call{URL: c.BaseURL() + "/models?pageSize=1000"} // the maximum of the API, and more than there are
	return endpoint.Read(ctx, c.Client, &call, readModels)
}

func readModels(body []byte) ([]model.Model, error) {
	var list struct {
		Models []struct {
			Name       string         `json:"name"`
			InputLimit endpoint.Count `json:"inputTokenLimit"`
			Methods    []string       `json:"supportedGenerationMethods"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Models == nil {
		return nil, endpoint.Unusable("the endpoint sent what is no list of models")
	}
	models := []model.Model{}
	for _, m := range list.Models {
		if m.Name == "" {
			continue
		}
		if m.Methods == nil || slices.Contains(m.Methods, "generateContent") {
			models = append(models, model.Model{
				ID:         strings.TrimPrefix(m.Name, modelsPrefix),
				MaxContext: int(m.InputLimit),
			})
		}
	}
	return models, nil
}

// CountTokens counts a text. See model.Counter.
func (c *Client) CountTokens(ctx context.Context, name, text string) (int, error) {
	contents, err := c.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: text}})
	if err != nil {
		return 0, err
	}
	call := endpoint.Call{
		URL:  c.address(name, "countTokens"),
		Body: endpoint.Segments{[]byte(`{"contents":[`), contents, []byte(`]}`)},
	}
	return endpoint.Read(ctx, c.Client, &call, readCount)
}

func readCount(body []byte) (int, error) {
	var counted struct {
		Tokens *int `json:"totalTokens"`
	}
	if err := json.Unmarshal(body, &counted); err != nil || counted.Tokens == nil || *counted.Tokens < 0 {
		return 0, endpoint.Unusable("the endpoint sent what is no number of tokens")
	}
	return *counted.Tokens, nil
}

// refusals are the messages of servers, most specific first: of Vertex, gateways, and models before Gemini 3.
var refusals = []model.Refusal{
	{
		Needs: model.NoCallIDs, Pattern: regexp.MustCompile(`unknown name \\?"id\\?" at`),
		Effect: "calls and results go without ids",
	},
	{
		Needs:   model.NoSignatures,
		Pattern: regexp.MustCompile(`(unknown name \\?"|invalid |corrupted )thought[_ ]?signature`),
		Effect:  "calls go without a signature",
	},
	{
		Needs: model.NoToolSubset, Pattern: regexp.MustCompile(`function_?calling_?config.*validated`),
		Effect: "no tools are named where none must be called",
	},
	{Needs: model.NoSeed, Pattern: model.RefusalOf(`seed`), Effect: "no seed is sent"},
}
