package endpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"

	"annotator"
	"annotator/model"
)

// errCut is the fault of a response without its end.
func errCut() *model.Fault { return Unusable("the endpoint's answer ended before the reply did") }

// Assembler builds one reply from what the endpoint sends. A Builder implements the last four methods.
//
// Its methods return an ErrorBody if the server sent an error in place of data. They return a *model.Fault if they know
// what is wrong, and any other error if the data cannot be read.
type Assembler interface {
	// Whole adds a reply that came as one object.
	Whole(body []byte) error
	// Event adds an event of a stream: its name, or "" where it has none, and its data, which are valid during the call
	// only. It reports whether the reply is complete; the end of the stream completes it, too. Events of the name
	// "error" are not passed.
	Event(name string, data []byte) (end bool, err error)
	// Parts returns how many parts of a reply, such as calls, have begun.
	Parts() int
	// Size returns how many bytes of text, reasoning and calls have come.
	Size() int
	// Growing returns the part that the last event has added to: the text, the reasoning, the arguments of a call.
	Growing() string
	// Reply returns the whole reply, ErrNoReply where none has begun, or a fault where its end is missing.
	Reply() (*model.Reply, error)
}

// ErrNoReply is the error of a response without a reply.
var ErrNoReply = errors.New("there is no reply in it")

// ErrorBody is an error of the server, as model.Classify reads it.
type ErrorBody []byte

// Error says only that there is an error. model.Classify reads the body.
func (ErrorBody) Error() string { return "the endpoint sent an error in place of a reply" }

// Unusable is the fault of a response that cannot be used. It takes its arguments as fmt.Errorf does.
func Unusable(format string, args ...any) *model.Fault {
	err := fmt.Errorf(format, args...)
	return &model.Fault{Kind: annotator.Malformed, Message: err.Error(), Err: err}
}

// readReply reads a stream or one object. The body decides: some servers ignore the request, or send a wrong type.
func (x *exchange) readReply(a Assembler) (*model.Reply, error) {
	src := bufio.NewReader(x.answer)
	first, err := firstCharacter(src)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	media, _, _ := mime.ParseMediaType(x.response.Header.Get("Content-Type"))
	switch {
	case first == '<':
		x.watch.limitRest(x.client.next)
		body, _ := io.ReadAll(io.LimitReader(src, model.RawLimit))
		return nil, x.classify(body)
	case media != typeStream && (first == '{' || first == '['):
		return x.readWhole(src, a)
	}
	return x.readStream(src, a)
}

func (x *exchange) readWhole(src io.Reader, a Assembler) (*model.Reply, error) {
	x.watch.extendForBody()
	body, err := readObject(src)
	if err != nil {
		return nil, err
	}
	if err := x.check(a, body, a.Whole(body)); err != nil {
		return nil, err
	}
	return a.Reply()
}

// check returns the fault of data that an assembler could not use, or of a reply that has too many parts with it.
func (x *exchange) check(a Assembler, data []byte, err error) error {
	if err != nil {
		return x.classifyData(data, err)
	}
	return CheckParts(a.Parts())
}

func (x *exchange) readStream(src *bufio.Reader, a Assembler) (*model.Reply, error) {
	f := frames{src: src}
	var loop loopGuard
	for {
		event, data, err := f.next()
		switch {
		case errors.Is(err, io.EOF):
			return a.Reply()
		case err != nil:
			return nil, err
		case string(data) == endMark:
			x.answer.drain()
			return a.Reply()
		}
		if err := checkValues(data); err != nil {
			return nil, err
		}
		if event == "error" {
			return nil, x.classify(data)
		}
		end := false
		if f.bare { // not an event, but a reply as one object
			err = a.Whole(data)
		} else {
			end, err = a.Event(event, data)
		}
		if err := x.check(a, data, err); err != nil {
			return nil, err
		}
		x.watch.recordSize(a.Size())
		if end {
			x.answer.drain()
			return a.Reply()
		}
		if fault := loop.check(len(data), a); fault != nil {
			return nil, fault
		}
	}
}

// loopGuard ends a stream in which the model repeats itself: some servers ignore the limit of the reply.
type loopGuard struct {
	came int // bytes of data
	next int // bytes of data at the next check; 0 before the first one
}

// firstCheck is the number of bytes of data at the first check. A further check follows whenever the number has
// doubled.
const firstCheck = 64 << 10

func (g *loopGuard) check(came int, a Assembler) *model.Fault {
	if g.came += came; g.came < max(g.next, firstCheck) {
		return nil
	}
	g.next = 2 * g.came
	text := a.Growing()
	return model.FindLoop(text[max(0, len(text)-firstCheck):]) // a repetition is at the end
}
