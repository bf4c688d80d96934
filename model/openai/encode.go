package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"annotator"

	sdk "github.com/sashabaranov/go-openai"
)

// message is sdk.ChatCompletionMessage as it is sent: that type leaves out content where it is empty.
type message struct {
	Role       annotator.Role `json:"role"`
	Content    string         `json:"content"`
	ToolCalls  []sdk.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
}

// tool is sdk.Tool in the order that models are trained on, for templates show it as it comes: that type is sent through a
// map.
type tool struct {
	Type     sdk.ToolType           `json:"type"`
	Function sdk.FunctionDefinition `json:"function"`
}

func encodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	wire := make([]tool, len(tools))
	for i, t := range tools {
		f := sdk.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.Schema)}
		wire[i] = tool{Type: sdk.ToolTypeFunction, Function: f}
	}
	return marshal(wire)
}

func encodeMessages(group []annotator.Message) ([]byte, error) {
	parts := make([][]byte, len(group))
	for i := range group {
		part, err := encodeMessage(&group[i])
		if err != nil {
			return nil, err
		}
		parts[i] = part
	}
	return bytes.Join(parts, []byte(",")), nil
}

func encodeMessage(m *annotator.Message) ([]byte, error) {
	wire := message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID}
	for _, call := range m.ToolCalls {
		wire.ToolCalls = append(wire.ToolCalls, sdk.ToolCall{
			ID:       call.ID,
			Type:     sdk.ToolTypeFunction,
			Function: sdk.FunctionCall{Name: toolName(call.Name), Arguments: toolArguments(call.Arguments)},
		})
	}
	return marshal(wire)
}

// toolArguments returns arguments that can be sent back: servers parse them, and fail on anything but an object. An object
// is sent as the model wrote it, so that the server finds it in its cache.
func toolArguments(written string) string {
	if strings.HasPrefix(strings.TrimLeft(written, " \t\r\n"), "{") && json.Valid([]byte(written)) {
		return written
	}
	return "{}"
}

// toolNameLimit is how long a name may be for OpenAI, in bytes.
const toolNameLimit = 64

// toolName returns a name that can be sent back, for a model may call a tool that nobody has and no server takes.
func toolName(written string) string {
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

// marshal renders JSON without escaping <, > and &, which would make a token of story text into several.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, annotator.Errorf(annotator.Misused, "encode for the endpoint: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
