package openai

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"annotator/model"

	sdk "github.com/sashabaranov/go-openai"
)

const (
	acceptJSON   = "application/json"
	acceptStream = "text/event-stream"
)

// exchange is one request and its answer. It is the HTTP client that go-openai sends the request through: it puts our body
// in the place of go-openai's, and keeps the answer to itself.
type exchange struct {
	client *Client
	ctx    context.Context // ends with the call, or before it on silence
	watch  *watch
	body   segments // nil for a request without one
	accept string

	began     time.Time
	firstByte time.Duration
	response  *http.Response // nil until there is one
	answer    *answer        // the response's body
}

// begin starts the clocks of a call; end must be called.
func (c *Client) begin(ctx context.Context, body segments, accept string) *exchange {
	x := &exchange{client: c, body: body, accept: accept, began: c.now()}
	x.ctx, x.watch = newWatch(ctx, c.firstByte, c.idle)
	return x
}

// end stops the clocks, and closes the connection if the answer was not read to its end.
func (x *exchange) end() {
	x.watch.stop()
	if x.answer != nil {
		_ = x.answer.Close()
	}
}

// Do sends go-openai's request with our body. What it returns is an empty object, which go-openai takes for anything.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("Accept", x.accept)
	if x.body != nil {
		req.ContentLength, req.GetBody = x.body.size(), x.body.open
		req.Body, _ = x.body.open()
	}
	response, err := x.client.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.firstByte = x.client.now().Sub(x.began)
	x.response = response
	x.answer = &answer{body: response.Body, watch: x.watch, left: answerLimit}
	if response.Header.Get("Date") == "" {
		// As RFC 9110 asks of a recipient with a clock; a Retry-After may be a date.
		response.Header.Set("Date", x.client.now().UTC().Format(http.TimeFormat))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// send makes the request by a method of go-openai's client. The error is a *model.Fault where there was an answer that is
// none.
func (x *exchange) send(call func(*sdk.Client) error) error {
	config := x.client.config
	config.HTTPClient = x
	if err := call(sdk.NewClientWithConfig(config)); err != nil {
		return err
	}
	media, _, _ := mime.ParseMediaType(x.response.Header.Get("Content-Type"))
	if x.response.StatusCode/100 != 2 || media == "text/html" {
		body, _ := io.ReadAll(io.LimitReader(x.answer, model.RawLimit)) // what came of it is enough
		return x.classify(body)
	}
	return nil
}

// complete asks for a chat completion. go-openai's call for streams is the one that does not want to read the answer; the
// request has only what cannot be refused before it is sent.
func (x *exchange) complete() (*model.Reply, error) {
	err := x.send(func(c *sdk.Client) error {
		stream, err := c.CreateChatCompletionStream(x.ctx, sdk.ChatCompletionRequest{})
		if err != nil {
			return err
		}
		return stream.Close()
	})
	if err != nil {
		return nil, err
	}
	reply, err := x.readReply()
	if err != nil {
		return nil, err
	}
	reply.FirstByte, reply.Duration = x.firstByte, x.client.now().Sub(x.began)
	reply.Raw = x.client.key.maskBytes(x.answer.kept)
	return reply, nil
}

// classify makes a fault of the answer, or of the part of it that is an error.
func (x *exchange) classify(body []byte) *model.Fault {
	return model.Classify(x.response.StatusCode, x.response.Header, x.client.key.maskBytes(body))
}

// fault completes what is known of a failure.
func (x *exchange) fault(err error) *model.Fault {
	if x.ctx.Err() != nil && !isFault(err) {
		err = errors.Join(x.ctx.Err(), context.Cause(x.ctx))
	}
	f := model.ClassifyTransport(err)
	if x.response != nil {
		f.Status, f.Header = cmp.Or(f.Status, x.response.StatusCode), x.response.Header
		if f.Raw == nil {
			f.Raw = x.answer.kept
		}
	}
	f.FirstByte, f.Duration = x.firstByte, x.client.now().Sub(x.began)
	return x.client.key.conceal(f)
}

func isFault(err error) bool {
	var f *model.Fault
	return errors.As(err, &f)
}
