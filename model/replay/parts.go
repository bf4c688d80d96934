package replay

import (
	"bytes"
	"encoding/json"
	"slices"

	"annotator"
	"annotator/model"
)

// encoder is a model.Encoder whose elements are the parts of a recording. It depends on no wire.
type encoder struct{}

// message is an annotator.Message. Its first field is the role, see toolResult.
type message struct {
	Role       annotator.Role `json:"role"`
	Content    string         `json:"content"`
	Reasoning  string         `json:"reasoning,omitempty"`
	ToolCalls  []toolCall     `json:"calls,omitempty"`
	ToolCallID string         `json:"call_id,omitempty"`
	Tool       string         `json:"tool,omitempty"`
}

// toolResult is a substring of every history that has the result of a tool.
const toolResult = `{"role":"tool",`

// tool is an annotator.ToolDefinition.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// part is a part of a request: one of its fields is set.
type part struct {
	Tools    []tool    `json:"tools,omitempty"`
	System   *string   `json:"system,omitempty"`
	Messages []message `json:"messages,omitempty"` // one, or the results of tools that answer one reply
}

// Encode renders a group of messages as a part. See model.Encoder.
func (encoder) Encode(group []annotator.Message) ([]byte, error) {
	p := part{Messages: make([]message, len(group))}
	for i := range group {
		m := &group[i]
		p.Messages[i] = message{
			Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, ToolCallID: m.ToolCallID, Tool: m.Tool,
		}
		for _, call := range m.ToolCalls {
			p.Messages[i].ToolCalls = append(p.Messages[i].ToolCalls, toolCall(call))
		}
	}
	return encode(p)
}

// EncodeTools renders the tools as a part. See model.Encoder.
func (encoder) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	p := part{Tools: make([]tool, len(tools))}
	for i, t := range tools {
		p.Tools[i] = tool{t.Name, t.Description, t.Schema}
	}
	return encode(p)
}

// partsOf returns the parts of a request whose history and tools are encoded by encoder.
func partsOf(r *model.Request) (parts []json.RawMessage, err error) {
	if r.Tools != nil {
		parts = append(parts, r.Tools)
	}
	if r.System != "" {
		system, err := encode(part{System: &r.System})
		if err != nil {
			return nil, err
		}
		parts = append(parts, system)
	}
	history, err := split(r.History)
	return append(parts, history...), err
}

// split returns the parts of a history.
func split(history []byte) (parts []json.RawMessage, err error) {
	err = json.Unmarshal(slices.Concat([]byte{'['}, history, []byte{']'}), &parts)
	return parts, err
}

// render encodes a request for another wire.
func render(r *model.Request, wire model.Encoder) (*model.Request, error) {
	rendered := *r
	groups, err := split(r.History)
	if err != nil {
		return nil, err
	}
	encoded := make([][]byte, len(groups))
	for i, group := range groups {
		var p part
		if err := json.Unmarshal(group, &p); err != nil {
			return nil, err
		}
		if encoded[i], err = wire.Encode(p.group()); err != nil {
			return nil, err
		}
	}
	rendered.History = bytes.Join(encoded, []byte{','})
	if r.Tools == nil {
		return &rendered, nil
	}
	var p part
	if err := json.Unmarshal(r.Tools, &p); err != nil {
		return nil, err
	}
	rendered.Tools, err = wire.EncodeTools(p.tools())
	return &rendered, err
}

func (p *part) group() []annotator.Message {
	group := make([]annotator.Message, len(p.Messages))
	for i := range p.Messages {
		m := &p.Messages[i]
		group[i] = annotator.Message{
			Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, ToolCallID: m.ToolCallID, Tool: m.Tool,
		}
		for _, call := range m.ToolCalls {
			group[i].ToolCalls = append(group[i].ToolCalls, annotator.ToolCall(call))
		}
	}
	return group
}

func (p *part) tools() []annotator.ToolDefinition {
	list := make([]annotator.ToolDefinition, len(p.Tools))
	for i, t := range p.Tools {
		list[i] = annotator.ToolDefinition{Name: t.Name, Description: t.Description, Schema: t.Schema}
	}
	return list
}
