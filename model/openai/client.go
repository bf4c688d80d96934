// Package openai speaks chat completions, as OpenAI, vLLM, llama.cpp, SGLang, LM Studio and Ollama serve them.
//
// Types, addresses and headers are those of github.com/sashabaranov/go-openai, which nothing else imports. Its client is
// given an HTTP client of ours, the exchange, that sends our bytes and keeps the answer: go-openai would encode the whole
// history anew for each request, and on the way back it loses what its types do not know, such as an error that is no
// object, a Retry-After or a line of reasoning.
package openai

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"annotator"
	"annotator/model"

	sdk "github.com/sashabaranov/go-openai"
)

// Options say where the endpoint is and how long to wait for it.
type Options struct {
	BaseURL string // with its /v1
	Key     string // sent as a bearer token; empty for none

	// HTTP carries the requests; nil for a transport of the client's own. It must not follow redirects.
	HTTP http.RoundTripper

	// FirstByte is how long the endpoint may be silent before the first byte of an answer's body, for it reads the whole
	// prompt first, and without streaming generates the whole reply. 10 minutes where 0.
	FirstByte time.Duration

	// Idle is how long it may be silent between two pieces of the body. 2 minutes where 0.
	Idle time.Duration

	Now func() time.Time // for measuring; time.Now where nil
}

const (
	defaultFirstByte = 10 * time.Minute
	defaultIdle      = 2 * time.Minute
)

// Client is a model.Wire. It may be used by many goroutines at once.
type Client struct {
	config    sdk.ClientConfig
	key       secret
	transport http.RoundTripper
	firstByte time.Duration
	idle      time.Duration
	now       func() time.Time
}

var _ model.Wire = (*Client)(nil)

// New returns a client. The error, of kind annotator.Misused, tells what is wrong with address or key, and shows neither.
func New(o Options) (*Client, error) {
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(o.Key)
	if strings.ContainsFunc(key, isControl) {
		return nil, annotator.Errorf(annotator.Misused, "the API key holds control characters").
			WithAdvice("set ANNOTATOR_API_KEY to the key alone")
	}
	c := &Client{config: sdk.DefaultConfig(key), key: secret(key), transport: o.HTTP, now: o.Now}
	c.config.BaseURL = base
	c.firstByte = cmp.Or(o.FirstByte, defaultFirstByte)
	c.idle = cmp.Or(o.Idle, defaultIdle)
	if c.transport == nil {
		c.transport = newTransport()
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// Close closes connections that are not in use.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Complete sends a request and reads the whole reply. See model.Wire.
func (c *Client) Complete(ctx context.Context, r *model.Request) (*model.Reply, error) {
	body, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	accept := acceptJSON
	if r.Stream {
		accept = acceptStream
	}
	x := c.begin(ctx, body, accept)
	defer x.end()
	reply, err := x.complete()
	if err != nil {
		return nil, x.fault(err)
	}
	return reply, nil
}

// Models lists what the endpoint serves. A failure is a *model.Fault.
func (c *Client) Models(ctx context.Context) ([]model.Model, error) {
	x := c.begin(ctx, nil, acceptJSON)
	defer x.end()
	models, err := x.models()
	if err != nil {
		return nil, x.fault(err)
	}
	return models, nil
}

// Encode renders messages for a request's list. See model.Wire.
//
// Content is always there, and empty where there is none: without it, or with null, some templates fail, and some drop the
// message. Reasoning is not sent back, since servers refuse it or strip it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) { return encodeMessages(group) }

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	return encodeTools(tools)
}
