// Package endpoint is the HTTP client that all wires share. It sends a body to a URL and reads the response to its end:
// one object, or a stream of events. It limits the size of a response and the time without a token, masks the key, and
// returns a *model.Fault for a failed call.
//
// A wire adds a renderer, which writes the body, and an Assembler, which builds the reply.
package endpoint

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"annotator"
	"annotator/model"
)

// Options configure a client.
type Options struct {
	BaseURL string // with its version, as in http://localhost:8000/v1
	Key     string // empty for none

	// HTTP is the transport; nil for one of the client's own. It must not follow redirects.
	HTTP http.RoundTripper

	// FirstToken is the time limit from the request to the first token of the reply. The endpoint processes the whole
	// prompt in it, and without streaming also generates the whole reply. 0 means DefaultFirstToken.
	FirstToken time.Duration

	// NextToken is the time limit from one token to the next. 0 means DefaultNextToken.
	NextToken time.Duration

	Session *Session // what is added to requests; nil: nothing

	Now func() time.Time // for measuring; time.Now where nil
}

// The default time limits for a token.
const (
	DefaultFirstToken = 15 * time.Minute
	DefaultNextToken  = 2 * time.Minute
)

// API describes what the servers of one wire have in common.
type API struct {
	Example string // a base URL, for advice
	Suffix  string // what users paste after a base URL, as "/chat/completions"
	Version string // the path of a base URL that has none; empty: none
	Models  string // path of the list of models, after the base URL; empty: "/models"

	Refusals []model.Refusal // see model.Wire

	// Header returns the headers of every request. The key is empty where there is none.
	Header func(key string) http.Header
}

// Bearer is the Header of an API with bearer tokens.
func Bearer(key string) http.Header {
	if key == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + key}}
}

// Client sends calls to one endpoint. It may be used by many goroutines at once.
type Client struct {
	api       API
	base      string
	header    http.Header
	key       secret
	transport http.RoundTripper
	session   *Session
	first     time.Duration // see Options.FirstToken
	next      time.Duration // see Options.NextToken
	now       func() time.Time
}

// New returns a client. The error, Misused, says what is wrong with the URL or the key, and contains neither.
func New(o Options, api API) (*Client, error) {
	base, err := parseBase(o.BaseURL, &api)
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(o.Key)
	if strings.ContainsFunc(key, isControl) {
		return nil, annotator.Errorf(annotator.Misused, "the API key holds control characters").
			WithReason(annotator.ReasonKeyInvalid)
	}
	c := &Client{
		api: api, base: base, header: api.Header(key), key: newSecret(key), transport: o.HTTP, session: o.Session,
		now: o.Now,
	}
	c.first = cmp.Or(o.FirstToken, DefaultFirstToken)
	c.next = cmp.Or(o.NextToken, DefaultNextToken)
	if c.transport == nil {
		c.transport = newTransport()
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// BaseURL returns the base URL without a slash at its end.
func (c *Client) BaseURL() string { return c.base }

// ServerURL returns a URL of the server outside its API: next to the /v1 of the base URL.
func (c *Client) ServerURL(path string) string { return strings.TrimSuffix(c.base, "/v1") + path }

// Health asks the server's /health, which llama.cpp, vLLM and SGLang have. See model.HealthChecker.
func (c *Client) Health(ctx context.Context) error {
	return c.Fetch(ctx, &Call{URL: c.ServerURL("/health")}, func([]byte) error { return nil })
}

// Refusals lists how servers refuse the usual form of a request. See model.Wire.
func (c *Client) Refusals() []model.Refusal { return c.api.Refusals }

// Close closes connections that are not in use.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Call is one request: a POST of its body, or a GET where it has none.
type Call struct {
	URL        string
	Body       Segments
	Purpose    annotator.CallPurpose
	Stream     bool            // a stream of events is asked for
	OnProgress func(bytes int) // as in model.Request
	OnSilence  func(silent, limit time.Duration)
}

// NewCall returns the call that sends the body of a request.
func NewCall(url string, body Segments, r *model.Request) *Call {
	return &Call{
		URL: url, Body: body, Purpose: r.Call.Purpose, Stream: r.Stream, OnProgress: r.OnProgress,
		OnSilence: r.OnSilence,
	}
}

// Complete sends a call and has the assembler build the reply. A failure is a *model.Fault.
func (c *Client) Complete(ctx context.Context, call *Call, a Assembler) (reply *model.Reply, err error) {
	err = c.exchange(ctx, call, func(x *exchange) (err error) {
		reply, err = x.complete(a)
		return err
	})
	return reply, err
}

// Fetch sends a call and passes the body of the response to read, whose errors are treated like those of an Assembler.
func (c *Client) Fetch(ctx context.Context, call *Call, read func(body []byte) error) error {
	return c.exchange(ctx, call, func(x *exchange) error { return x.fetch(read) })
}

// Read sends a call and returns what read makes of the body of the response, as Fetch does.
func Read[T any](ctx context.Context, c *Client, call *Call, read func(body []byte) (T, error)) (value T, err error) {
	err = c.Fetch(ctx, call, func(body []byte) (err error) {
		value, err = read(body)
		return err
	})
	return value, err
}
