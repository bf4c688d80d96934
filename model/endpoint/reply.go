package endpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"annotator"
	"annotator/model"
)

// Assembler puts one reply together from what the endpoint sends.
//
// Its methods return a ErrorBody where the server sent an error in the place of data, a *model.Fault where they know what is
// wrong, and any other error where the data cannot be read.
type Assembler interface {
	// Whole takes in a reply that came as one object.
	Whole(body []byte) error
	// Event takes in an event of a stream: its name, or "" where it has none, and its data, which are valid during the call
	// only. It reports whether the reply is at its end; the end of the stream is one, too. Events of the name "error" do
	// not come here.
	Event(name string, data []byte) (end bool, err error)
	// Growing returns what has come of the part that an event added to last: of a text, a thought, the arguments of a call.
	Growing() string
	// Reply returns the whole, ErrNoReply where none has begun, or a fault where the end of it is missing: what was cut off is never
	// half a reply.
	Reply() (*model.Reply, error)
}

// ErrNoReply says that an answer has nothing of a reply in it.
var ErrNoReply = errors.New("there is no reply in it")

// ErrorBody is an error of the server's in the form in which model.Classify reads it.
type ErrorBody []byte

// Error tells that there is one; what it says is for model.Classify to read.
func (ErrorBody) Error() string { return "the endpoint sent an error in place of a reply" }

// Unusable is the fault of an answer that cannot be used. It takes its arguments as fmt.Errorf does.
func Unusable(format string, args ...any) *model.Fault {
	err := fmt.Errorf(format, args...)
	return &model.Fault{Kind: annotator.Malformed, Message: err.Error(), Err: err}
}

// readReply reads an answer: a stream, or one object. What came decides, not what was asked for, since some servers ignore
// the wish for a stream, and some give it a wrong type.
func (x *exchange) readReply(a Assembler) (*model.Reply, error) {
	src := bufio.NewReader(x.answer)
	first, err := firstCharacter(src)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case first == '<':
		body, _ := io.ReadAll(io.LimitReader(src, model.RawLimit))
		return nil, x.classify(body)
	case mediaType(x.response) != typeStream && (first == '{' || first == '['):
		return x.readWhole(src, a)
	}
	return x.readStream(src, a)
}

func (x *exchange) readWhole(src io.Reader, a Assembler) (*model.Reply, error) {
	body, err := readObject(src)
	if err != nil {
		return nil, err
	}
	if err := a.Whole(body); err != nil {
		return nil, x.classifyData(body, err)
	}
	return a.Reply()
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
		if f.bare { // no event, but a reply that came as one object after all
			err = a.Whole(data)
		} else {
			end, err = a.Event(event, data)
		}
		switch {
		case err != nil:
			return nil, x.classifyData(data, err)
		case end:
			x.answer.drain()
			return a.Reply()
		}
		if fault := loop.look(len(data), a); fault != nil {
			return nil, fault
		}
	}
}

// loopGuard ends a stream in which the model goes round in circles: some servers let it, far beyond the limit of the reply.
type loopGuard struct {
	came int // bytes of data
	next int // look when so many have come; 0: at the first time
}

// firstLook is after how many bytes of data the reply is looked at. Each later time is when they have doubled.
const firstLook = 64 << 10

func (g *loopGuard) look(came int, a Assembler) *model.Fault {
	if g.came += came; g.came < max(g.next, firstLook) {
		return nil
	}
	g.next = 2 * g.came
	text := a.Growing()
	return model.FindLoop(text[max(0, len(text)-firstLook):]) // the end of it tells
}
