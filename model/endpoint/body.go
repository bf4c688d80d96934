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

// Segments is a body in several pieces, so that a long history is not copied for each request.
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

// Marshal renders JSON without escaping <, > and &, which would cost tokens. The error is a *model.Fault, Misused.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, unsendable(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// MarshalTools renders tools as a list; nil if there are none.
func MarshalTools[T any](tools []annotator.ToolDefinition, convert func(annotator.ToolDefinition) T) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	list := make([]T, len(tools))
	for i, t := range tools {
		list[i] = convert(t)
	}
	return Marshal(list)
}

// StrictTools returns the tools of a request. If the server accepts strict tools, plain is replaced with strict in
// each. Plain does not occur inside a string, where quotes are escaped.
func StrictTools(r *model.Request, plain, strict []byte) []byte {
	if !r.Workarounds.Strict() {
		return r.Tools
	}
	return bytes.ReplaceAll(r.Tools, plain, strict)
}

// MarshalElements renders the elements of a list, joined by commas.
func MarshalElements[T any](list []T) ([]byte, error) {
	encoded, err := Marshal(list)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return encoded[1 : len(encoded)-1], nil
}

// MarshalJoined renders a group, joined by commas. It is for wires on which the results of all calls of a reply are one
// message. convert gets either these results or a single other message.
func MarshalJoined[T any](group []annotator.Message, convert func(joined []annotator.Message) T) ([]byte, error) {
	var list []T
	for len(group) > 0 {
		n := 1
		for group[0].Role == annotator.RoleTool && n < len(group) && group[n].Role == annotator.RoleTool {
			n++
		}
		list, group = append(list, convert(group[:n])), group[n:]
	}
	return MarshalElements(list)
}

// Field is a field of a request's body with an encoded value. A field with an empty value is omitted.
type Field struct {
	Name  string
	Value Segments
}

// List returns encoded elements as a list. The elements include the commas between them.
func List(elements ...[]byte) Segments {
	return slices.Concat(Segments{[]byte("[")}, elements, Segments{[]byte("]")})
}

// EncodeBody renders a request's body: head, fields, settings. Fields that change least come first, for prefix caches.
func EncodeBody(head any, fields []Field, settings any) (Segments, error) {
	front, err := Marshal(head)
	if err != nil {
		return nil, err
	}
	tail, err := Marshal(settings)
	if err != nil {
		return nil, err
	}
	tail[0] = ','
	body := Segments{front[:len(front)-1]}
	separator := ","
	if len(front) == len("{}") {
		separator = ""
	}
	for _, f := range fields {
		if f.Value.size() > 0 {
			body = append(append(body, []byte(separator+`"`+f.Name+`":`)), f.Value...)
			separator = ","
		}
	}
	return append(body, tail), nil
}

// unsendable is the fault of a request that cannot be encoded.
func unsendable(err error) *model.Fault {
	err = fmt.Errorf("encode for the endpoint: %w", err)
	return &model.Fault{Kind: annotator.Misused, Message: err.Error(), Err: err}
}

// ToolArguments returns arguments that a server accepts in a history: an object. A valid one is unchanged, for the
// server's cache.
func ToolArguments(written string) string {
	if strings.HasPrefix(strings.TrimLeft(written, " \t\r\n"), "{") && json.Valid([]byte(written)) {
		return written
	}
	return "{}"
}

// toolNameLimit is the length of a name that OpenAI and Gemini accept, in bytes.
const toolNameLimit = 64

// ToolName returns a name that servers accept in a history: a model may call a tool by a name that none accepts.
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
