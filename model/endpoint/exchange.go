package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"annotator"
	"annotator/model"
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// exchange is one request and its response.
type exchange struct {
	client *Client
	call   *Call
	ctx    context.Context // ends with the call, or at a timeout
	watch  *watch

	began     time.Time
	firstByte time.Duration
	response  *http.Response // nil before it arrives
	answer    *answer        // the response's body
}

// exchange sends a call and has the response read. A failure is a *model.Fault.
func (c *Client) exchange(ctx context.Context, call *Call, read func(*exchange) error) error {
	x := &exchange{client: c, call: call, began: c.now()}
	x.ctx, x.watch = newWatch(ctx, c.first, c.next, call.OnSilence)
	defer x.watch.stop()
	err := x.send()
	if x.response != nil {
		defer func() { _ = x.response.Body.Close() }()
	}
	if err == nil {
		err = read(x)
	}
	if err != nil {
		return x.fault(err)
	}
	return nil
}

// send makes the request. The error is a *model.Fault where the response is an error.
func (x *exchange) send() error {
	closed, err := x.roundTrip()
	if err != nil && closed && x.ctx.Err() == nil {
		// Some servers close a connection that they announced to keep open. Without idle connections, the retry opens a
		// new one.
		x.client.Close()
		_, err = x.roundTrip()
	}
	if err != nil {
		return err
	}
	x.firstByte = x.client.now().Sub(x.began)
	x.client.session.keep(x.response.Header)
	body, unreadable := decompressed(x.response)
	x.answer = &answer{body: body, watch: x.watch, left: answerLimit}
	if x.call.Stream {
		x.answer.onProgress = x.call.OnProgress
	}
	if x.response.Header.Get("Date") == "" {
		// RFC 9110 requires this of a recipient with a clock. A Retry-After may be a date.
		x.response.Header.Set("Date", x.client.now().UTC().Format(http.TimeFormat))
	}
	if x.response.StatusCode/100 != 2 {
		x.watch.limitRest(x.client.next)
		body, _ := io.ReadAll(io.LimitReader(x.answer, model.RawLimit)) // what has arrived is enough
		return x.classify(body)
	}
	return unreadable
}

// roundTrip sends the request. closed reports whether it used an existing connection, and no byte was received.
func (x *exchange) roundTrip() (closed bool, err error) {
	var silent atomic.Bool
	req, err := x.request()
	if err != nil {
		return false, err
	}
	trace := httptrace.ClientTrace{
		GotConn:              func(c httptrace.GotConnInfo) { silent.Store(c.Reused) },
		GotFirstResponseByte: func() { silent.Store(false) },
	}
	req = req.WithContext(httptrace.WithClientTrace(x.ctx, &trace))
	x.response, err = x.client.transport.RoundTrip(req) //nolint:bodyclose // exchange closes it
	return silent.Load(), err
}

func (x *exchange) request() (*http.Request, error) {
	method := http.MethodGet
	if x.call.Body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(x.ctx, method, x.call.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	x.client.session.addTo(req.Header)
	maps.Copy(req.Header, x.client.header)
	req.Header.Set("Accept-Encoding", "identity") // without it, a server may choose any
	req.Header.Set("Accept", typeJSON)
	if x.call.Stream {
		req.Header.Set("Accept", typeStream)
	}
	if x.call.Body != nil {
		body, err := x.client.session.body(x.call.Body, x.call.Purpose)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", typeJSON)
		req.ContentLength, req.GetBody = body.size(), body.open
		req.Body, _ = body.open()
	}
	return req, nil
}

func (x *exchange) complete(a Assembler) (*model.Reply, error) {
	reply, err := x.readReply(a)
	switch {
	case errors.Is(err, ErrNoReply):
		err = x.classifyData(x.answer.kept, err)
	case err == nil:
		err = checkReply(reply)
	}
	if err != nil {
		return nil, err
	}
	if reply.Usage.Prompt > maxTokens(x.call.Body) || reply.Usage.Completion > maxCompletion {
		reply.Usage = annotator.Usage{} // a wrong count would do harm
	}
	reply.FirstByte, reply.Duration = x.firstByte, x.client.now().Sub(x.began)
	reply.Raw = x.answer.kept
	return x.client.key.maskReply(reply), nil
}

func (x *exchange) fetch(read func([]byte) error) error {
	x.watch.limitRest(x.client.next)
	body, err := readObject(x.answer)
	if err != nil {
		return err
	}
	if x.client.key.long {
		body = x.client.key.maskBytes(body)
	}
	if err := read(body); err != nil {
		return x.classifyData(body, err)
	}
	return nil
}

// classifyData returns the fault of data that cannot be used.
func (x *exchange) classifyData(data []byte, err error) *model.Fault {
	var said ErrorBody
	switch {
	case errors.As(err, &said):
		return x.classify(said)
	case isFault(err) && !model.CarriesError(data):
		return model.ClassifyTransport(err)
	case isCut(err):
		return errCut()
	}
	f := x.classify(data)
	if f.NotAnAPI {
		f.Kind, f.Err = annotator.Malformed, err
		said := f.Message
		f.Message = fmt.Sprintf("the endpoint sent what is no answer of its API (%v)", err)
		if said != "" {
			f.Message += fmt.Sprintf(": %.120q", said)
		}
	}
	return f
}

// isCut reports whether data cannot be read because its end is missing.
func isCut(err error) bool {
	syntax := (*json.SyntaxError)(nil)
	// encoding/json has no type for it
	return errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input"
}

// classify returns the fault of the response, or of the part of it that is an error.
func (x *exchange) classify(body []byte) *model.Fault {
	return model.Classify(x.response.StatusCode, x.response.Header, x.client.key.maskBytes(body))
}

// fault returns the fault of a failure, with the data of the call.
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
	return x.client.key.maskFault(f)
}

func isFault(err error) bool {
	var f *model.Fault
	return errors.As(err, &f)
}
