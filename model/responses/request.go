package responses

import (
	"annotator/model"
	"annotator/model/endpoint"
)

// head contains the fields before the conversation.
type head struct {
	Model        string `json:"model"`
	Instructions string `json:"instructions,omitempty"`
}

// settings contains the fields after the tools, in this order.
type settings struct {
	ToolChoice      any      `json:"tool_choice,omitempty"` // a string, named or subset
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"`
	Temperature     *float64 `json:"temperature,omitempty"`
	Stream          bool     `json:"stream"`
	Store           bool     `json:"store"`
}

// named is a tool by its name, as a choice or in a subset.
type named struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type subset struct {
	Type  string  `json:"type"`
	Mode  string  `json:"mode"`
	Tools []named `json:"tools"`
}

// encodeRequest renders the body of a request.
func encodeRequest(r *model.Request) (endpoint.Segments, error) {
	instructions, items, err := endpoint.Conversation(r, userText, model.PairCalls|model.NoTextBesideCalls, arrange)
	if err != nil {
		return nil, err
	}
	fields := []endpoint.Field{
		{Name: "input", Value: endpoint.List(items)},
		{Name: "tools", Value: endpoint.Segments{endpoint.StrictTools(r, plainTool, strictTool)}},
	}
	return endpoint.EncodeBody(head{r.Model, instructions}, fields, chooseSettings(r))
}

// Of each tool, plainTool is replaced with strictTool where tools are strict.
var (
	plainTool  = []byte(`,"strict":false}`)
	strictTool = []byte(`,"strict":true}`)
)

// minOutput is the smallest limit on a reply that the API accepts, in tokens.
const minOutput = 16

func chooseSettings(r *model.Request) settings {
	s := settings{Temperature: &r.Temperature, Stream: r.Stream}
	if r.MaxTokens > 0 {
		s.MaxOutputTokens = max(r.MaxTokens, minOutput)
	}
	if r.Workarounds.Has(model.NoTemperature) {
		s.Temperature = nil
	}
	if len(r.Tools) > 0 && !r.Workarounds.Has(model.NoToolChoice) {
		s.ToolChoice = toolChoice(&r.Choice, r.Workarounds.Has(model.NoToolSubset))
	}
	return s
}

// toolChoice renders any choice. For servers without subsets, all tools are allowed.
func toolChoice(c *model.Choice, whole bool) any {
	mode := "auto"
	switch c.Mode {
	case model.ChoiceNone:
		return "none"
	case model.ChoiceRequired:
		if mode = "required"; len(c.Allowed) == 1 {
			return named{"function", c.Allowed[0]}
		}
	}
	if c.Allowed == nil || whole {
		return mode
	}
	s := subset{Type: "allowed_tools", Mode: mode, Tools: []named{}}
	for _, name := range c.Allowed {
		s.Tools = append(s.Tools, named{"function", name})
	}
	return s
}
