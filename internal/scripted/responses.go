package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"

	"annotator"
)

// responses is the wire of OpenAI's Responses API. It refuses the same requests as that API: a limit below 16 tokens,
// and items of unknown types.
type responses struct{}

type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        []responsesItem `json:"input"`
	Tools        []responsesTool `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	MaxTokens    int             `json:"max_output_tokens"`
	Temperature  json.RawMessage `json:"temperature"`
	Stream       bool            `json:"stream"`
	Store        bool            `json:"store"`
}

// responsesItem is an item of a request.
type responsesItem struct {
	Type      string         `json:"type"`
	Role      annotator.Role `json:"role"`
	Content   string         `json:"content"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments string         `json:"arguments"`
	Output    string         `json:"output"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type responsesChoice struct {
	Type  string          `json:"type"`
	Name  string          `json:"name"`
	Mode  string          `json:"mode"`
	Tools []responsesTool `json:"tools"`
}

const leastOutputTokens = 16

func (responses) chat(_ *http.Request, body []byte) ([]byte, error) {
	var wire responsesRequest
	if err := readStrictly(body, &wire); err != nil {
		return nil, err
	}
	if wire.MaxTokens != 0 && wire.MaxTokens < leastOutputTokens {
		return nil, fmt.Errorf("invalid 'max_output_tokens': integer below minimum value; expected a value >= %d, but "+
			"got %d instead",
			leastOutputTokens, wire.MaxTokens)
	}
	c := conversation{model: wire.Model, maxTokens: wire.MaxTokens, temperature: wire.Temperature, stream: wire.Stream}
	if wire.Instructions != "" {
		c.messages = append(c.messages, annotator.Message{Role: annotator.RoleSystem, Content: wire.Instructions})
	}
	for i := range wire.Input {
		if err := wire.Input[i].join(&c); err != nil {
			return nil, err
		}
	}
	for _, t := range wire.Tools {
		c.tools = append(c.tools, annotator.ToolDefinition{
			Name: t.Name, Description: t.Description,
			Schema: t.Parameters,
		})
	}
	if err := wire.choose(&c); err != nil {
		return nil, err
	}
	return c.body(), nil
}

// join adds an item to a conversation. Calls belong to the assistant's message before them.
func (i *responsesItem) join(c *conversation) error {
	m := annotator.Message{Role: i.Role, Content: i.Content}
	switch i.Type {
	case "message":
	case "function_call_output":
		m = annotator.Message{Role: annotator.RoleTool, Content: i.Output, ToolCallID: i.CallID}
	case "function_call":
		call := annotator.ToolCall{ID: i.CallID, Name: i.Name, Arguments: i.Arguments}
		if n := len(c.messages); n > 0 && c.messages[n-1].Role == annotator.RoleAssistant {
			c.messages[n-1].ToolCalls = append(c.messages[n-1].ToolCalls, call)
			return nil
		}
		m = annotator.Message{Role: annotator.RoleAssistant, ToolCalls: []annotator.ToolCall{call}}
	default:
		return fmt.Errorf("invalid value: '%s'; supported values are: 'message', 'function_call', "+
			"'function_call_output'", i.Type)
	}
	c.messages = append(c.messages, m)
	return nil
}

func (r *responsesRequest) choose(c *conversation) error {
	if r.ToolChoice == nil || json.Unmarshal(r.ToolChoice, &c.choice) == nil {
		return nil
	}
	var choice responsesChoice
	if err := json.Unmarshal(r.ToolChoice, &choice); err != nil {
		return err
	}
	if choice.Type == "function" {
		c.choice, c.allowed = "required", []string{choice.Name}
		return nil
	}
	c.choice = choice.Mode
	for _, t := range choice.Tools {
		c.allowed = append(c.allowed, t.Name)
	}
	return nil
}

func (responses) refusal(no *refusal) any {
	failure := map[string]any{"message": no.Message, "type": "invalid_request_error", "param": no.Param, "code": nil}
	switch {
	case no.prompt > 0:
		failure["code"], failure["param"] = "context_length_exceeded", "input"
		failure["message"] = "Your input exceeds the context window of this model. Please adjust your input " +
			"and try again."
	case no.Type == "NotFoundError":
		failure["code"] = "model_not_found"
	}
	return map[string]any{"error": failure}
}

// models are those of chat completions: both APIs have one list.
func (responses) models(model string, window int) any { return chat{}.models(model, window) }
