package openai

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"

	"annotator"
	"annotator/model"
)

// readReply reads the answer to a chat completion: a stream, or one object. What came decides, not what was asked for, since
// some servers ignore the wish for a stream, and some give it a wrong type.
func (x *exchange) readReply() (*model.Reply, error) {
	src := bufio.NewReader(x.answer)
	first, err := firstCharacter(src)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	media, _, _ := mime.ParseMediaType(x.response.Header.Get("Content-Type"))
	switch {
	case first == '<':
		body, _ := io.ReadAll(io.LimitReader(src, model.RawLimit))
		return nil, x.classify(body)
	case media != acceptStream && (first == '{' || first == '['):
		return x.readWhole(src)
	}
	return x.readStream(src)
}

func (x *exchange) readWhole(src io.Reader) (*model.Reply, error) {
	body, err := io.ReadAll(src)
	if err != nil {
		return nil, err
	}
	var a assembler
	if err := x.take(&a, body); err != nil {
		return nil, err
	}
	return a.reply()
}

func (x *exchange) readStream(src *bufio.Reader) (*model.Reply, error) {
	var (
		a assembler
		f = frames{src: src}
	)
	for {
		data, err := f.next()
		switch {
		case errors.Is(err, io.EOF):
			return a.reply()
		case err != nil:
			return nil, err
		case string(data) == endMark:
			x.answer.drain()
			return a.reply()
		case f.event == "error":
			return nil, x.classify(data)
		}
		if err := x.take(&a, data); err != nil {
			return nil, err
		}
	}
}

// take adds a chunk to the reply, unless it is an error.
func (x *exchange) take(a *assembler, data []byte) error {
	var c chunk
	err := json.Unmarshal(data, &c)
	if (err != nil || len(c.Choices) == 0 || c.Error != nil) && model.CarriesError(data) {
		return x.classify(data)
	}
	if err != nil {
		return unusable("the endpoint sent what is no chat completion: %w", err)
	}
	a.take(&c)
	return nil
}

// unusable takes its arguments as fmt.Errorf does.
func unusable(format string, args ...any) *model.Fault {
	err := fmt.Errorf(format, args...)
	return &model.Fault{Kind: annotator.Malformed, Message: err.Error(), Err: err}
}
