package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// frames reads a stream of server-sent events, byte for byte, wherever the network cut it. go-openai's reader is not used:
// it drops a last line without its end, any frame that begins with {"error":, be it null, and a byte order mark.
type frames struct {
	src   *bufio.Reader
	event string // name of the event whose lines are being read
	long  []byte // a line that does not fit the reader's buffer
}

// endMark is the data of the last frame.
const endMark = "[DONE]"

// next returns the data of the next frame, valid until the call after it, and io.EOF at the end of the stream. Every line of
// data is a frame, for chat completions are never broken into lines; a bare object is taken for one, too.
func (f *frames) next() ([]byte, error) {
	for {
		line, err := f.line()
		if err != nil {
			return nil, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0:
			f.event = ""
		case line[0] == '{':
			return line, nil
		case string(name) == "event":
			f.event = string(bytes.TrimSpace(value))
		case string(name) == "data":
			if value = bytes.TrimSpace(value); len(value) > 0 {
				return value, nil
			}
		}
	}
}

// line returns a line without its end. The last one need not have an end.
func (f *frames) line() ([]byte, error) {
	line, err := f.src.ReadSlice('\n')
	for f.long = f.long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = f.src.ReadSlice('\n') {
		if f.long = append(f.long, line...); len(f.long) > lineLimit {
			return nil, tooLong("a line of the answer", lineLimit)
		}
	}
	if len(f.long) > 0 {
		f.long = append(f.long, line...)
		line = f.long
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	return bytes.TrimSpace(line), err
}

// firstCharacter skips white space and a byte order mark, and returns the character that comes then without reading it.
func firstCharacter(src *bufio.Reader) (byte, error) {
	for {
		switch b, err := src.ReadByte(); b {
		case ' ', '\t', '\r', '\n', '\xef', '\xbb', '\xbf':
		case 0:
			if err != nil {
				return 0, err
			}
		default:
			return b, src.UnreadByte()
		}
	}
}
