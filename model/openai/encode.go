package openai

import (
	"encoding/json"

	"annotator"
	"annotator/model/endpoint"

	sdk "github.com/sashabaranov/go-openai"
)

// message is an sdk.ChatCompletionMessage that does not omit empty content.
type message struct {
	Role       annotator.Role `json:"role"`
	Content    string         `json:"content"`
	ToolCalls  []sdk.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
}

// tool is an sdk.Tool whose fields keep the order that models are trained on. Templates render a tool as it was sent,
// and sdk.Tool is encoded by way of a map.
type tool struct {
	Type     sdk.ToolType           `json:"type"`
	Function sdk.FunctionDefinition `json:"function"`
}

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	return endpoint.MarshalTools(tools, func(t annotator.ToolDefinition) tool {
		f := sdk.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.Schema)}
		return tool{Type: sdk.ToolTypeFunction, Function: f}
	})
}

// Encode renders messages for a request. See model.Wire.
//
// Content is never left out: without it, or with null, some templates fail, and some drop the message. Reasoning is not
// sent back: servers refuse it or remove it.
func (*Client) Encode(group []annotator.Message) ([]byte, error) {
	wire := make([]message, len(group))
	for i := range group {
		wire[i] = newMessage(&group[i])
	}
	return endpoint.MarshalElements(wire)
}

func newMessage(m *annotator.Message) message {
	wire := message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID}
	for _, call := range m.ToolCalls {
		wire.ToolCalls = append(wire.ToolCalls, sdk.ToolCall{
			ID:   call.ID,
			Type: sdk.ToolTypeFunction,
			Function: sdk.FunctionCall{
				Name:      endpoint.ToolName(call.Name),
				Arguments: endpoint.ToolArguments(call.Arguments),
			},
		})
	}
	return wire
}
