// Package chatwire is the server's side of the chat completions API, with the extensions of vLLM. It reads requests,
// and writes replies whole or as a stream. The offline model and the tests' scripted server share it.
package chatwire

import (
	"bytes"
	"cmp"
	"encoding/json"

	"annotator"
)

// Options are the fields of a request that a server acts on, except the messages and the tools.
type Options struct {
	Model         string          `json:"model"`
	ToolChoice    json.RawMessage `json:"tool_choice"` // such as `"auto"`; empty where the request has none
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
}

// OutputLimit returns the most tokens that the reply may have, or 0 where the request sets no limit.
func (o *Options) OutputLimit() int { return cmp.Or(max(o.MaxCompletionTokens, 0), o.MaxTokens) }

// Forbids reports whether the model must not call a tool.
func (o *Options) Forbids() bool { return string(o.ToolChoice) == `"none"` }

// Message is a message of a request.
type Message struct {
	Role             annotator.Role `json:"role"`
	Content          Content        `json:"content"`
	Reasoning        string         `json:"reasoning"`
	ReasoningContent string         `json:"reasoning_content"`
	ToolCalls        []ToolCall     `json:"tool_calls"`
	ToolCallID       string         `json:"tool_call_id"`
	Name             string         `json:"name"`
}

// Canonical returns the message in the form of the root package.
func (m *Message) Canonical() annotator.Message {
	c := annotator.Message{
		Role: m.Role, Content: string(m.Content), Reasoning: m.Reasoning + m.ReasoningContent, ToolCallID: m.ToolCallID,
	}
	for i := range m.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, m.ToolCalls[i].Canonical())
	}
	return c
}

// Content is the text of a message. The texts of several parts are joined.
type Content string

// UnmarshalJSON reads a string, a list of parts or null.
func (c *Content) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(data, &parts)
	for _, p := range parts {
		*c += Content(p.Text)
	}
	return err
}

// ToolCall is a call of a tool in a request or a reply, or a piece of one in a stream.
type ToolCall struct {
	Index    *int     `json:"index,omitempty"` // in a stream only
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function Function `json:"function"`
}

// Function is the tool that is called, and its arguments.
type Function struct {
	Name      string     `json:"name,omitempty"`
	Arguments *arguments `json:"arguments,omitempty"`
}

// arguments are JSON in a string. Arguments without the string around them are kept as JSON.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(a)) != nil {
		*a = arguments(data)
	}
	return nil
}

// NewToolCalls returns calls in the form of the wire.
func NewToolCalls(calls []annotator.ToolCall) []ToolCall {
	wire := make([]ToolCall, len(calls))
	for i, c := range calls {
		wire[i] = ToolCall{ID: c.ID, Type: "function", Function: Function{c.Name, (*arguments)(&c.Arguments)}}
	}
	return wire
}

// Canonical returns the call in the form of the root package.
func (c *ToolCall) Canonical() annotator.ToolCall {
	call := annotator.ToolCall{ID: c.ID, Name: c.Function.Name}
	if c.Function.Arguments != nil {
		call.Arguments = string(*c.Function.Arguments)
	}
	return call
}

// Tool is a tool that a request offers.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	} `json:"function"`
}

// NewTool returns a tool in the form of the wire.
func NewTool(d annotator.ToolDefinition) Tool {
	t := Tool{Type: "function"}
	t.Function.Name, t.Function.Description, t.Function.Parameters = d.Name, d.Description, d.Schema
	return t
}

// DecodeTools reads the tools of a request. Raw is empty if the request has none.
func DecodeTools(raw json.RawMessage) ([]annotator.ToolDefinition, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var wire []Tool
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, err
	}
	tools := make([]annotator.ToolDefinition, len(wire))
	for i := range wire {
		f := &wire[i].Function
		tools[i] = annotator.ToolDefinition{Name: f.Name, Description: f.Description, Schema: f.Parameters}
	}
	return tools, nil
}
