package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// frames reads a stream of server-sent events, whatever pieces the network delivers. The readers of vendors' modules
// drop a last line without its end or a byte order mark. Some drop any frame that begins with {"error":, even if the
// error is null.
type frames struct {
	src   *bufio.Reader
	event string // name of the event whose lines are being read
	data  []byte // of its lines, where the first is incomplete
	bare  bool   // these are lines of an object without a field name
	long  []byte // a line that arrived in several pieces
	cr    bool   // the newest line ended with CR: an LF right behind it belongs to that end
}

// endMark is the data of the last frame on some wires. It is not JSON.
const endMark = "[DONE]"

// next returns name and data of the next frame, valid until the next call, and io.EOF at the end of the stream.
//
// An event ends with a blank line, but some servers leave those out. So a line of data that is complete JSON is a frame
// at once, as nearly all are. Other lines are joined until the blank line. A bare object counts as data, too.
func (f *frames) next() (string, []byte, error) {
	for f.data, f.bare = f.data[:0], false; ; {
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
		if len(f.data) == 0 && (string(data) == endMark || json.Valid(data)) {
			return f.event, data, nil
		}
		if err := f.join(data); err != nil {
			return "", nil, err
		}
	}
}

// field returns the data in a line, and keeps the name of an event.
func (f *frames) field(line []byte) []byte {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case line[0] == '{', f.bare:
		f.bare = true
		return line
	case string(name) == "event":
		f.event = string(bytes.TrimSpace(value))
	case string(name) == "data":
		return bytes.TrimSpace(value)
	}
	return nil
}

func (f *frames) join(data []byte) error {
	if len(f.data) > 0 && len(data) > 0 {
		f.data = append(f.data, '\n')
	}
	if f.data = append(f.data, data...); len(f.data) > eventLimit {
		return tooLong("an event of the answer", eventLimit)
	}
	return nil
}

// line returns a line without its end, which is LF, CR or both. The last one may have no end.
func (f *frames) line() ([]byte, error) {
	for f.long = f.long[:0]; ; {
		switch _, err := f.src.Peek(1); { // waits until something arrives
		case errors.Is(err, io.EOF) && len(f.long) > 0:
			return bytes.TrimSpace(f.long), nil
		case err != nil:
			return nil, err
		}
		piece, _ := f.src.Peek(f.src.Buffered())
		line, ended := f.cut(piece)
		if ended && len(f.long) == 0 {
			return bytes.TrimSpace(line), nil
		}
		f.long = append(f.long, line...)
		switch {
		case ended:
			return bytes.TrimSpace(f.long), nil
		case len(f.long) > eventLimit:
			return nil, tooLong("a line of the answer", eventLimit)
		}
	}
}

// cut takes what has arrived of a line, and reports whether that is its end.
func (f *frames) cut(come []byte) (line []byte, ended bool) {
	after := f.cr && come[0] == '\n'
	if f.cr = false; after {
		_, _ = f.src.Discard(1)
		return nil, false
	}
	end := bytes.IndexByte(come, '\n')
	if end < 0 {
		end = len(come)
	}
	if cr := bytes.IndexByte(come[:end], '\r'); cr >= 0 {
		end, f.cr = cr, true
	}
	_, _ = f.src.Discard(min(end+1, len(come)))
	return come[:end], end < len(come)
}

// firstCharacter skips white space and a byte order mark, and peeks at the character after them.
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
