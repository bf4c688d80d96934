package scripted

import (
	"bytes"
	"encoding/json"

	"annotator"
	"annotator/model/chatwire"
)

// conversation is the content of a request of another wire, before its conversion to chat completions. The conversion
// is a pure function, and preserves prefixes. So the prefix cache sees the same prompt over every wire.
type conversation struct {
	model    string
	messages []annotator.Message // the system prompt is the first, if there is one
	tools    []annotator.ToolDefinition

	choice  string   // auto, none or required; empty if the request has none
	allowed []string // the tools that may be called; none: all

	maxTokens   int
	temperature json.RawMessage // as it came, as the seed
	seed        json.RawMessage
	stream      bool

	salt string // keeps prompts apart in the cache
}

type chatRequest struct {
	Model         string          `json:"model,omitempty"`
	Messages      []chatMessage   `json:"messages"`
	Tools         []chatwire.Tool `json:"tools,omitempty"`
	ToolChoice    any             `json:"tool_choice,omitempty"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	Temperature   json.RawMessage `json:"temperature,omitempty"`
	Seed          json.RawMessage `json:"seed,omitempty"`
	Stream        bool            `json:"stream,omitempty"`
	StreamOptions any             `json:"stream_options,omitempty"`
	CacheSalt     string          `json:"cache_salt,omitempty"`
}

type chatMessage struct {
	Role       annotator.Role      `json:"role"`
	Content    string              `json:"content"`
	Reasoning  string              `json:"reasoning,omitempty"`
	ToolCalls  []chatwire.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string              `json:"tool_call_id,omitempty"`
}

// body returns the conversation in the form of chat completions.
func (c *conversation) body() []byte {
	r := chatRequest{
		Model: c.model, Messages: []chatMessage{}, ToolChoice: c.toolChoice(), MaxTokens: c.maxTokens,
		Temperature: c.temperature, Seed: c.seed, Stream: c.stream, CacheSalt: c.salt,
	}
	if c.stream {
		r.StreamOptions = map[string]bool{"include_usage": true} // no other wire lets the client choose
	}
	for i := range c.messages {
		m := &c.messages[i]
		r.Messages = append(r.Messages, chatMessage{
			m.Role, m.Content, m.Reasoning, chatwire.NewToolCalls(m.ToolCalls),
			m.ToolCallID,
		})
	}
	for _, t := range c.tools {
		r.Tools = append(r.Tools, chatwire.NewTool(t))
	}
	return chatwire.JSON(r)
}

// toolChoice encodes one tool by its name, and several as a list.
func (c *conversation) toolChoice() any {
	var named []any
	for _, name := range c.allowed {
		named = append(named, map[string]any{"type": "function", "function": map[string]string{"name": name}})
	}
	switch {
	case len(named) == 1 && c.choice == "required":
		return named[0]
	case len(named) > 0:
		return map[string]any{"type": "allowed_tools", "allowed_tools": map[string]any{
			"mode":  c.choice,
			"tools": named,
		}}
	case c.choice != "":
		return c.choice
	}
	return nil
}

// readStrictly decodes a body, and refuses unknown fields.
func readStrictly(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	return onlyValue(d)
}
