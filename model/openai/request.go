package openai

import (
	"annotator/model"
	"annotator/model/endpoint"

	sdk "github.com/sashabaranov/go-openai"
)

// settings contains the fields after messages and tools, in this order.
type settings struct {
	ToolChoice    any                `json:"tool_choice,omitempty"` // sdk.ToolChoice for one tool, otherwise a string
	MaxTokens     int                `json:"max_tokens,omitempty"`
	NewLimit      int                `json:"max_completion_tokens,omitempty"`
	Temperature   *float64           `json:"temperature,omitempty"` // a pointer, so that 0 is sent
	Seed          int                `json:"seed,omitempty"`
	Stream        bool               `json:"stream"`
	StreamOptions *sdk.StreamOptions `json:"stream_options,omitempty"`
}

// encodeRequest renders the body of a request.
func encodeRequest(r *model.Request) (endpoint.Segments, error) {
	list, err := messageList(r)
	if err != nil {
		return nil, err
	}
	head := struct {
		Model string `json:"model"`
	}{r.Model}
	fields := []endpoint.Field{
		{Name: "messages", Value: endpoint.List(list...)},
		{Name: "tools", Value: endpoint.Segments{endpoint.StrictTools(r, plainTool, strictTool)}},
	}
	return endpoint.EncodeBody(head, fields, chooseSettings(r))
}

// Of each tool, plainTool is replaced with strictTool where tools are strict.
var (
	plainTool  = []byte(`"function":{"name":"`)
	strictTool = []byte(`"function":{"strict":true,"name":"`)
)

func chooseSettings(r *model.Request) settings {
	s := settings{MaxTokens: r.MaxTokens, Temperature: &r.Temperature, Seed: r.Seed, Stream: r.Stream}
	if r.Workarounds.Has(model.MaxCompletionTokens) {
		s.MaxTokens, s.NewLimit = 0, r.MaxTokens
	}
	if r.Workarounds.Has(model.NoTemperature) {
		s.Temperature = nil
	}
	if r.Workarounds.Has(model.NoSeed) {
		s.Seed = 0
	}
	if r.Stream && !r.Workarounds.Has(model.NoStreamUsage) {
		s.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	}
	if len(r.Tools) > 0 && !r.Workarounds.Has(model.NoToolChoice) {
		s.ToolChoice = toolChoice(&r.Choice, r.Workarounds.Has(model.NoNamedTool))
	}
	return s
}

// toolChoice renders a choice as well as chat completions can: all tools, none, any, or one by name.
func toolChoice(c *model.Choice, unnamed bool) any {
	switch {
	case c.Mode == model.ChoiceNone:
		return "none"
	case c.Mode == model.ChoiceRequired && len(c.Allowed) == 1 && !unnamed:
		return sdk.ToolChoice{Type: sdk.ToolTypeFunction, Function: sdk.ToolFunction{Name: c.Allowed[0]}}
	case c.Mode == model.ChoiceRequired:
		return "required"
	}
	return "auto"
}
