package gemini

import (
	"cmp"
	"encoding/json"

	"annotator"
	"annotator/model/endpoint"
)

// content is what one side says at a time.
type content struct {
	Role  string `json:"role"`
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

// response has a result under the name that means one. It stays the text that it is: the API would take an object for one,
// too, but makes floating-point numbers of all its numbers, and ids of posts do not fit them.
type response struct {
	Output string `json:"output"`
}

// noSignature is what the documentation of the API gives for calls that come without the signature of the thoughts that led
// to them. Models from Gemini 3 on refuse the first call of a reply without one, and the journal does not keep them: they
// are valid for one model of one vendor, and a run may change both.
const noSignature = "skip_thought_signature_validator"

// blank stands where a message says nothing, for a part of no content is refused.
const blank = " "

func encodeContents(group []annotator.Message) ([]byte, error) {
	var contents []content
	for len(group) > 0 {
		n := max(results(group), 1)
		contents, group = append(contents, newContent(group[:n])), group[n:]
	}
	return endpoint.MarshalElements(contents)
}

// results counts the results of tools at the beginning of a group: they are said together.
func results(group []annotator.Message) int {
	n := 0
	for n < len(group) && group[n].Role == annotator.RoleTool {
		n++
	}
	return n
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
		return content{Role: "model", Parts: said(m)}
	}
	return content{Role: "user", Parts: []part{{Text: cmp.Or(m.Content, blank)}}}
}

func said(m *annotator.Message) []part {
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
	return part{Result: &functionResponse{ID: m.ToolCallID, Name: endpoint.ToolName(m.Tool), Response: response{Output: m.Content}}}
}

// arguments reads what a model wrote as the API does: no key stands twice, and numbers are floating-point. What does not fit
// would have every later request refused.
func arguments(written string) map[string]any {
	args := map[string]any{}
	if err := json.Unmarshal([]byte(endpoint.ToolArguments(written)), &args); err != nil {
		return map[string]any{}
	}
	return args
}

// declaration describes a tool. The schema stands under the name that takes JSON Schema as it is; "parameters" would take
// a part of OpenAPI's, and refuse additionalProperties.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

func encodeTools(tools []annotator.ToolDefinition) ([]byte, error) {
	var list struct {
		Declarations []declaration `json:"functionDeclarations"`
	}
	for _, t := range tools {
		list.Declarations = append(list.Declarations, declaration{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return endpoint.Marshal([]any{list})
}
