package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxRequest is the maximum size of a request in bytes.
const MaxRequest = 1 << 20

// Lines is a transport with one message a line, for standard input and output. It answers an invalid line with an error
// and continues. The transport of the SDK ends at an invalid line.
type Lines struct {
	Reader io.Reader
	Writer io.Writer
}

// Connect begins to read. An error of the reader ends the connection after all earlier requests are answered.
func (l *Lines) Connect(ctx context.Context) (mcp.Connection, error) {
	messages, sent := io.Pipe()
	out := &wholeWriter{w: l.Writer}
	go func() { _ = sent.CloseWithError(forward(l.Reader, sent, out)) }()
	connection, err := (&mcp.IOTransport{Reader: messages, Writer: out}).Connect(ctx)
	return newAnswering(connection), err
}

// forward copies the lines that are messages, and answers other lines with an error.
func forward(from io.Reader, to, answers io.Writer) error {
	lines := bufio.NewReaderSize(from, MaxRequest)
	for {
		line, err := lines.ReadSlice('\n')
		line = bytes.TrimSpace(line)
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil // its bytes are overwritten
			_, err = lines.ReadSlice('\n')
		}
		switch refusal := refusalOf(line, tooLong); {
		case refusal != nil:
			if _, err := answers.Write(refusal); err != nil {
				return err
			}
		case len(line) > 0:
			if _, err := to.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// refusalOf returns the answer to an invalid line; nil for a message, and for an empty line.
func refusalOf(line []byte, tooLong bool) []byte {
	if len(line) == 0 && !tooLong {
		return nil
	}
	var message struct {
		ID json.RawMessage `json:"id"`
	}
	err := json.Unmarshal(line, &message)
	code, what := jsonrpc.CodeInvalidRequest, "a line is one message of JSON-RPC 2.0, and no list of them"
	switch {
	case tooLong:
		code, what = jsonrpc.CodeParseError, fmt.Sprintf("a line has at most %d bytes", MaxRequest)
	case !json.Valid(line):
		code, what = jsonrpc.CodeParseError, fmt.Sprintf("the line is not JSON: %v", err)
	case line[0] == '{':
		if _, err := jsonrpc.DecodeMessage(line); err == nil {
			return nil
		}
	}
	if id := message.ID; len(id) == 0 || id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		message.ID = json.RawMessage("null")
	}
	answer, _ := json.Marshal(map[string]any{ // strings, a number and valid JSON cannot fail
		"jsonrpc": "2.0", "id": message.ID, "error": map[string]any{"code": code, "message": what},
	})
	return append(answer, '\n')
}

// wholeWriter writes one message at a time.
type wholeWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *wholeWriter) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// Close does nothing: the connection does not own the writer.
func (o *wholeWriter) Close() error { return nil }
