package gemini

import (
	"cmp"
	"encoding/json"

	"annotator"
	"annotator/model/endpoint"
)

// content is one message.
type content struct {
	Role  string `json:"role,omitempty"` // none for the system prompt
	Parts []part `json:"parts"`
}

// part is one of a text, a call and a result.
type part struct {
	Text      string            `json:"text,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Signature string            `json:"thoughtSignature,omitempty"`
	Result    *functionResponse `json:"functionResponse,omitempty"`
}

type functionCall struct {
	ID   string         `json:"id,omitempty"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

type functionResponse struct {
	ID       string   `json:"id,omitempty"`
	Name     string   `json:"name"`
	Response response `json:"response"`
}

// response is the result of a tool, as a text. The API also takes an object, but reads its numbers as floating-point,
// which is not exact for ids of posts.
type response struct {
	Output string `json:"output"`
}

// noSignature is the API's documented substitute for the signature of the reasoning before a call. Models from Gemini 3
// on refuse the first call of a reply without one. The journal keeps no signatures: they are valid for one model of one
// vendor, and a run may change both.
const noSignature = "skip_thought_signature_validator"

// blank replaces an empty text: a part without content is refused.
const blank = " "

// Encode renders messages for a request. See model.Wire.
//
// A list alternates between the model and the user, who also sends the results of tools. Reasoning is not sent back:
// the API takes it only with its signatures.
func (*Client) Encode(group []annotator.Message) ([]byte, error) {
	return endpoint.MarshalJoined(group, newContent)
}

// newContent renders one message, or the results of tools that answer one reply.
func newContent(messages []annotator.Message) content {
	m := &messages[0]
	switch m.Role {
	case annotator.RoleTool:
		c := content{Role: "user"}
		for i := range messages {
			c.Parts = append(c.Parts, newResult(&messages[i]))
		}
		return c
	case annotator.RoleAssistant:
		return content{Role: "model", Parts: assistantParts(m)}
	}
	return content{Role: "user", Parts: []part{{Text: cmp.Or(m.Content, blank)}}}
}

func assistantParts(m *annotator.Message) []part {
	var parts []part
	if m.Content != "" || len(m.ToolCalls) == 0 {
		parts = append(parts, part{Text: cmp.Or(m.Content, blank)})
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		p := part{Call: &functionCall{ID: c.ID, Name: endpoint.ToolName(c.Name), Args: arguments(c.Arguments)}}
		if i == 0 {
			p.Signature = noSignature
		}
		parts = append(parts, p)
	}
	return parts
}

func newResult(m *annotator.Message) part {
	return part{Result: &functionResponse{
		ID: m.ToolCallID, Name: endpoint.ToolName(m.Tool),
		Response: response{Output: m.Content},
	}}
}

// arguments reads arguments as the API does: no key twice, and numbers as floating-point. Arguments that the API cannot
// read would make it refuse every later request.
func arguments(written string) map[string]any {
	args := map[string]any{}
	if err := json.Unmarshal([]byte(endpoint.ToolArguments(written)), &args); err != nil {
		return map[string]any{}
	}
	return args
}

// declaration describes a tool. Only parametersJsonSchema takes JSON Schema. The field "parameters" takes a part of
// OpenAPI's schema, and refuses additionalProperties.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// EncodeTools renders tools for a request. See model.Wire.
func (*Client) EncodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var list struct {
		Declarations []declaration `json:"functionDeclarations"`
	}
	for _, t := range tools {
		list.Declarations = append(list.Declarations,
			declaration{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return endpoint.Marshal([]any{list})
}
