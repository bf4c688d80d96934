package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"annotator"
)

// Request is a reply asked for, over whatever wire: all but Path, Header and Body has the form of chat completions. It and all
// it points to may be kept, and must not be changed.
type Request struct {
	Call       int    // from 1, in order of arrival
	Path       string // of the address, which tells the wire
	Header     http.Header
	Body       []byte // as it came
	Model      string
	Messages   []Message
	Tools      []annotator.ToolDefinition
	ToolChoice string // as JSON, such as `"auto"`; empty where the request has none
	Stream     bool
	MaxTokens  int                        // max_completion_tokens, else max_tokens; 0 where the request has neither
	Params     map[string]json.RawMessage // every field of the body but the messages
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

// MayCall reports whether the request leaves the model free to call a tool.
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

// newRequest reads the fields of a prompt that a server acts on.
func newRequest(p *prompt) (Request, error) {
	r := Request{Messages: p.messages, Tools: p.tools, Params: p.fields}
	r.ToolChoice = string(p.fields["tool_choice"])
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	for _, field := range []struct {
		name string
		into any
	}{
		{"model", &r.Model},
		{"stream", &r.Stream},
		{"stream_options", &options},
		{"max_tokens", &r.MaxTokens},
		{"max_completion_tokens", &r.MaxTokens},
	} {
		if err := readField(p.fields, field.name, field.into); err != nil {
			return Request{}, err
		}
	}
	r.Tokens = p.end.tokens
	r.includeUsage = options.IncludeUsage
	return r, nil
}

// readField leaves into as it is where the field is absent or null.
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

// wireMessage is a message as the wire has it.
type wireMessage struct {
	Role             annotator.Role  `json:"role"`
	Content          json.RawMessage `json:"content"`
	Name             string          `json:"name"`
	Reasoning        string          `json:"reasoning"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCalls        []wireCall      `json:"tool_calls"`
	ToolCallID       string          `json:"tool_call_id"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// call takes the arguments as they are where they are no string, for the strict template to find.
func (w *wireCall) call() annotator.ToolCall {
	call := annotator.ToolCall{ID: w.ID, Name: w.Function.Name}
	if json.Unmarshal(w.Function.Arguments, &call.Arguments) != nil {
		call.Arguments = string(w.Function.Arguments)
	}
	return call
}

func decodeMessage(raw json.RawMessage) (Message, error) {
	if raw[0] != '{' {
		return Message{}, fmt.Errorf("a message is an object, not %.20s", raw)
	}
	var wire wireMessage
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Message{}, err
	}
	content, err := decodeContent(wire.Content)
	if err != nil {
		return Message{}, err
	}
	m := Message{Name: wire.Name, Raw: raw}
	m.Role, m.Content, m.ToolCallID = wire.Role, content, wire.ToolCallID
	m.Reasoning = wire.Reasoning + wire.ReasoningContent
	for i := range wire.ToolCalls {
		m.ToolCalls = append(m.ToolCalls, wire.ToolCalls[i].call())
	}
	m.flaws = findFlaws(&m)
	return m, nil
}

// decodeContent reads the forms that content has: a string, an array of parts, and null or nothing at all.
func decodeContent(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	if raw[0] != '[' {
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	}
	var parts []struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(raw, &parts)
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(part.Text)
	}
	return text.String(), err
}

// decodeTools reads the field "tools".
func decodeTools(raw json.RawMessage) ([]annotator.ToolDefinition, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var wire []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, fmt.Errorf("field \"tools\": %w", err)
	}
	tools := make([]annotator.ToolDefinition, len(wire))
	for i := range wire {
		f := &wire[i].Function
		tools[i] = annotator.ToolDefinition{Name: f.Name, Description: f.Description, Schema: f.Parameters}
	}
	return tools, nil
}
