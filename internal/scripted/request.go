package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"

	"annotator"
	"annotator/model/chatwire"
)

// Request is a request for a reply over any wire. It has the form of chat completions, except Path, Header and Body. It
// and the data it refers to may be stored, and must not be changed.
type Request struct {
	Call       int    // from 1, in order of arrival
	Path       string // of the URL, which identifies the wire
	Header     http.Header
	Body       []byte // as it came
	Model      string
	Messages   []Message
	Tools      []annotator.ToolDefinition
	ToolChoice string // as JSON, such as `"auto"`; empty where the request has none
	Stream     bool
	MaxTokens  int                        // max_completion_tokens, else max_tokens; 0 if the request has neither
	Params     map[string]json.RawMessage // every field of the body except the messages
	Tokens     int                        // of the rendered prompt

	includeUsage bool
}

// Message is one message of a request.
type Message struct {
	annotator.Message
	Name string          // the wire's "name"; mostly empty
	Raw  json.RawMessage // as it came, in the form of chat completions

	flaws flaws
}

// MayCall reports whether the request allows tool calls.
func (r *Request) MayCall() bool { return len(r.Tools) > 0 && r.ToolChoice != `"none"` }

// last returns the index of the last message for which test holds, or -1.
func (r *Request) last(test func(*Message) bool) int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if test(&r.Messages[i]) {
			return i
		}
	}
	return -1
}

// newRequest reads the fields of a prompt that the server uses.
func newRequest(p *prompt) (Request, error) {
	var o chatwire.Options
	if err := json.Unmarshal(chatwire.JSON(p.fields), &o); err != nil {
		return Request{}, err
	}
	return Request{
		Model: o.Model, Messages: p.messages, Tools: p.tools, ToolChoice: string(o.ToolChoice), Stream: o.Stream,
		MaxTokens: o.OutputLimit(), Params: p.fields, Tokens: p.end.tokens, includeUsage: o.StreamOptions.IncludeUsage,
	}, nil
}

// readField does not change into if the field is absent or null.
func readField(fields map[string]json.RawMessage, name string, into any) error {
	raw, ok := fields[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("field %q: %w", name, err)
	}
	return nil
}

func decodeMessage(raw json.RawMessage) (Message, error) {
	if raw[0] != '{' {
		return Message{}, fmt.Errorf("a message is an object, not %.20s", raw)
	}
	var wire chatwire.Message
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Message{}, err
	}
	m := Message{Message: wire.Canonical(), Name: wire.Name, Raw: raw}
	m.flaws = findFlaws(&m)
	return m, nil
}
