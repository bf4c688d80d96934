package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// frames reads a stream of server-sent events, byte for byte, wherever the network cut it. The readers of vendors' modules
// drop a last line without its end, or any frame that begins with {"error":, be it null, or a byte order mark.
type frames struct {
	src   *bufio.Reader
	event string // name of the event whose lines are being read
	data  []byte // of its lines, where the first is not all of it
	long  []byte // a line that does not fit the reader's buffer
}

// endMark is the data of the last frame on some wires. It is no JSON.
const endMark = "[DONE]"

// next returns name and data of the next frame, valid until the call after it, and io.EOF at the end of the stream.
//
// An event ends with a blank line, but some servers leave those out. So a line of data that is whole by itself is a frame at
// once, as nearly all are; lines that are not whole are joined until the blank line. A bare object is taken for data, too.
func (f *frames) next() (string, []byte, error) {
	for f.data = f.data[:0]; ; {
		line, err := f.line()
		switch {
		case errors.Is(err, io.EOF) && len(f.data) > 0:
			return f.event, f.data, nil
		case err != nil:
			return "", nil, err
		case len(line) == 0:
			event := f.event
			if f.event = ""; len(f.data) > 0 {
				return event, f.data, nil
			}
			continue
		}
		data := f.field(line)
		if len(f.data) == 0 && isWhole(data) {
			return f.event, data, nil
		}
		if err := f.join(data); err != nil {
			return "", nil, err
		}
	}
}

// field returns what a line holds of the data, and keeps it if it is the name of the event.
func (f *frames) field(line []byte) []byte {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case line[0] == '{':
		return line
	case string(name) == "event":
		f.event = string(bytes.TrimSpace(value))
	case string(name) == "data":
		return bytes.TrimSpace(value)
	}
	return nil
}

func isWhole(data []byte) bool { return string(data) == endMark || json.Valid(data) }

func (f *frames) join(data []byte) error {
	if len(f.data) > 0 && len(data) > 0 {
		f.data = append(f.data, '\n')
	}
	if f.data = append(f.data, data...); len(f.data) > eventLimit {
		return tooLong("an event of the answer", eventLimit)
	}
	return nil
}

// line returns a line without its end. The last one need not have an end.
func (f *frames) line() ([]byte, error) {
	line, err := f.src.ReadSlice('\n')
	for f.long = f.long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = f.src.ReadSlice('\n') {
		if f.long = append(f.long, line...); len(f.long) > eventLimit {
			return nil, tooLong("a line of the answer", eventLimit)
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
