package gemini

import (
	"bytes"
	"math"
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

// settings contains the fields after the contents, in this order.
type settings struct {
	ToolConfig *toolConfig      `json:"toolConfig,omitempty"`
	Generation generationConfig `json:"generationConfig"`
}

type toolConfig struct {
	Calling callingConfig `json:"functionCallingConfig"`
}

type callingConfig struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

type generationConfig struct {
	MaxTokens   int     `json:"maxOutputTokens,omitempty"`
	Temperature float64 `json:"temperature"`
	Seed        int     `json:"seed,omitempty"`
}

// encodeRequest renders the body of a request.
func encodeRequest(r *model.Request) (endpoint.Segments, error) {
	var head struct {
		System *content `json:"systemInstruction,omitempty"`
	}
	if r.System != "" {
		head.System = &content{Parts: []part{{Text: r.System}}}
	}
	s := settings{Generation: generationConfig{
		MaxTokens: r.MaxTokens, Temperature: r.Temperature,
		Seed: r.Seed & math.MaxInt32,
	}}
	if r.Workarounds.Has(model.NoSeed) {
		s.Generation.Seed = 0
	}
	if len(r.Tools) > 0 {
		s.ToolConfig = &toolConfig{calling(&r.Choice, r.Workarounds)}
	}
	fields := []endpoint.Field{
		{Name: "tools", Value: endpoint.Segments{r.Tools}},
		{Name: "contents", Value: endpoint.List(withoutRefused(r.History, r.Workarounds))},
	}
	return endpoint.EncodeBody(head, fields, s)
}

var (
	encodedID        = regexp.MustCompile(`("function(?:Call|Response)":\{)"id":"[^"\\]*",`)
	encodedSignature = []byte(`,"thoughtSignature":"` + noSignature + `"`)
)

// withoutRefused removes from a history the fields that the server refuses. The patterns cannot match inside a text,
// where quotes are escaped.
func withoutRefused(history []byte, w model.Workarounds) []byte {
	if w.Has(model.NoCallIDs) {
		history = encodedID.ReplaceAll(history, []byte("$1"))
	}
	if w.Has(model.NoSignatures) {
		history = bytes.ReplaceAll(history, encodedSignature, nil)
	}
	return history
}

// calling renders which tools may be called. Every request declares all tools. Only modes that enforce the schemas take
// a list of names.
func calling(c *model.Choice, w model.Workarounds) callingConfig {
	switch {
	case c.Mode == model.ChoiceNone, c.Allowed != nil && len(c.Allowed) == 0:
		return callingConfig{Mode: "NONE"}
	case c.Mode == model.ChoiceRequired:
		return callingConfig{Mode: "ANY", Allowed: c.Allowed}
	case c.Allowed != nil && !w.Has(model.NoToolSubset):
		return callingConfig{Mode: "VALIDATED", Allowed: c.Allowed}
	}
	return callingConfig{Mode: "AUTO"}
}
