package gemini

import (
	"math"

	"annotator/model"
	"annotator/model/endpoint"
)

// settings are the fields after the contents, in this order.
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

// encodeRequest renders the body of a request. What changes least stands first, for the caches of proxies and servers.
func encodeRequest(r *model.Request) (endpoint.Segments, error) {
	body := endpoint.Segments{[]byte(`{`)}
	if r.System != "" {
		system, err := endpoint.Marshal(map[string]any{"parts": []part{{Text: r.System}}})
		if err != nil {
			return nil, err
		}
		body = append(body, []byte(`"systemInstruction":`), system, []byte(`,`))
	}
	s := settings{Generation: generationConfig{MaxTokens: r.MaxTokens, Temperature: r.Temperature, Seed: r.Seed & math.MaxInt32}}
	if r.Workarounds.Has(model.NoSeed) {
		s.Generation.Seed = 0
	}
	if len(r.Tools) > 0 {
		body = append(body, []byte(`"tools":`), r.Tools, []byte(`,`))
		s.ToolConfig = &toolConfig{calling(&r.Choice, r.Workarounds)}
	}
	tail, err := endpoint.MarshalRest(s)
	if err != nil {
		return nil, err
	}
	return append(body, []byte(`"contents":[`), adapted(r.History, r.Workarounds), []byte(`]`), tail), nil
}

// calling renders which tools may be called; all of them are always shown. Only modes that enforce the schemas take a
// list of names.
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
