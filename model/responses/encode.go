package responses

import (
	"encoding/json"

	"annotator"
	"annotator/model/endpoint"
)

// The kinds of items in a conversation.
const (
	itemMessage   = "message"
	itemCall      = "function_call"
	itemResult    = "function_call_output"
	itemReasoning = "reasoning"
)

// message is a message of any role.
type message struct {
	Type    string         `json:"type"`
	Role    annotator.Role `json:"role"`
	Content string         `json:"content"`
}

// call is a call of a tool. It is sent without the id of its item: given an id, the API requires the reasoning that
// preceded the call.
type call struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type result struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// tool declares a tool. Strict is always sent: the API's default refuses schemas with optional parameters.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	return endpoint.MarshalTools(tools, func(t annotator.ToolDefinition) tool {
		return tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema}
	})
}

// Encode renders messages for a request. See model.Wire.
//
// Reasoning is not sent back: the API takes it only in the encrypted form in which it sent it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) {
	var items []any
	for i := range group {
		items = append(items, itemsOf(&group[i])...)
	}
	return endpoint.MarshalElements(items)
}

// itemsOf splits a message into items: each call is one.
func itemsOf(m *annotator.Message) (items []any) {
	if m.Role == annotator.RoleTool {
		return []any{result{itemResult, m.ToolCallID, m.Content}}
	}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		items = append(items, message{itemMessage, m.Role, m.Content})
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		items = append(items, call{itemCall, c.ID, endpoint.ToolName(c.Name), endpoint.ToolArguments(c.Arguments)})
	}
	return items
}
