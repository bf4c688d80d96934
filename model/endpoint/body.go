package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"annotator"
	"annotator/model"
)

// Segments are a body in several pieces, so that a long history is not copied for each request.
type Segments [][]byte

func (s Segments) size() (n int64) {
	for _, piece := range s {
		n += int64(len(piece))
	}
	return n
}

func (s Segments) open() (io.ReadCloser, error) {
	pieces := net.Buffers(slices.Clone(s)) // reading consumes them
	return io.NopCloser(&pieces), nil
}

// Marshal renders JSON without escaping <, > and &, which would make several tokens of one. The error is a *model.Fault
// of kind annotator.Misused.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, Unsendable(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// MarshalElements renders the elements of a list, joined by commas.
func MarshalElements[T any](list []T) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	encoded, err := Marshal(list)
	if err != nil {
		return nil, err
	}
	return encoded[1 : len(encoded)-1], nil
}

// MarshalRest renders an object that has fields as the rest of an object that is open.
func MarshalRest(v any) ([]byte, error) {
	encoded, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	encoded[0] = ','
	return encoded, nil
}

// Unsendable is the fault of a request that cannot be encoded.
func Unsendable(err error) *model.Fault {
	err = fmt.Errorf("encode for the endpoint: %w", err)
	return &model.Fault{Kind: annotator.Misused, Message: err.Error(), Err: err}
}

// ToolArguments returns arguments that can be sent back: servers parse them, and refuse anything but an object. An
// object is sent as the model wrote it, so that the server finds it in its cache.
func ToolArguments(written string) string {
	if strings.HasPrefix(strings.TrimLeft(written, " \t\r\n"), "{") && json.Valid([]byte(written)) {
		return written
	}
	return "{}"
}

// toolNameLimit is the length of a name that OpenAI and Gemini take, in bytes.
const toolNameLimit = 64

// ToolName returns a name that can be sent back: a model may call a tool with a name that no server takes.
func ToolName(written string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, written)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), toolNameLimit)]
}
