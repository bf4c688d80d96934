package anthropic

import (
	"encoding/json"
	"strings"

	"annotator"
	"annotator/model/endpoint"
)

// message is one message as it is sent. Content is last and never empty, so every message ends with endOfMessage, where
// breakpoints are inserted.
type message struct {
	Role    annotator.Role `json:"role"`
	Content []block        `json:"content"`
}

// block is a part of a message, or the system prompt. Its type decides which fields it has.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      string          `json:"content,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

const (
	blockText       = "text"
	blockToolUse    = "tool_use"
	blockToolResult = "tool_result"
	blockThinking   = "thinking"
)

// cacheControl marks the end of what the server caches.
type cacheControl struct {
	Type string `json:"type"`
}

func breakpoint() *cacheControl { return &cacheControl{Type: "ephemeral"} }

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// EncodeTools renders tools for a request, with a breakpoint after them: they stay in the cache when the system prompt
// changes. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	wire := make([]tool, len(tools))
	for i, t := range tools {
		wire[i] = tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema}
	}
	wire[len(wire)-1].CacheControl = breakpoint()
	return endpoint.Marshal(wire)
}

// Encode renders messages for a request. See model.Wire.
//
// Reasoning is not sent back: without its signature, the API refuses it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) {
	return endpoint.MarshalJoined(group, newMessage)
}

func newMessage(group []annotator.Message) message {
	m := message{Role: annotator.RoleUser}
	for i := range group {
		m.add(&group[i])
	}
	if len(m.Content) == 0 {
		m.Content = []block{{Type: blockText, Text: noText}}
	}
	return m
}

// noText replaces a text without words, which the API refuses.
const noText = "(no text)"

func (m *message) add(said *annotator.Message) {
	if said.Role == annotator.RoleTool {
		result := block{Type: blockToolResult, ToolUseID: said.ToolCallID}
		if !blank(said.Content) {
			result.Content = said.Content
		}
		m.Content = append(m.Content, result)
		return
	}
	if said.Role == annotator.RoleAssistant {
		m.Role = annotator.RoleAssistant
	}
	if !blank(said.Content) {
		m.Content = append(m.Content, block{Type: blockText, Text: said.Content})
	}
	for _, call := range said.ToolCalls {
		input := json.RawMessage(endpoint.ToolArguments(call.Arguments))
		m.Content = append(m.Content, block{
			Type: blockToolUse, ID: call.ID, Name: endpoint.ToolName(call.Name),
			Input: input,
		})
	}
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
