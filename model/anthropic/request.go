package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"annotator/model"
	"annotator/model/endpoint"
)

// Limits of the API.
const (
	maxTemperature   = 1.0
	defaultMaxTokens = 4096 // the API requires a limit
)

// settings contains the fields after the messages, in this order.
type settings struct {
	ToolChoice  *toolChoice `json:"tool_choice,omitempty"`
	MaxTokens   int         `json:"max_tokens"`
	Temperature *float64    `json:"temperature,omitempty"`
	Stream      bool        `json:"stream"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

// encodeRequest renders the body of a request. The tools are first in the prompt wherever they are in the body.
func encodeRequest(r *model.Request) (endpoint.Segments, error) {
	system, history, err := endpoint.Conversation(r, userText, model.PairCalls|model.NoTextBesideCalls, arrange)
	if err != nil {
		return nil, err
	}
	head := struct {
		Model  string  `json:"model"`
		System []block `json:"system,omitempty"`
	}{Model: r.Model}
	if !blank(system) {
		head.System = []block{{Type: blockText, Text: system, CacheControl: breakpoint()}}
	}
	fields := []endpoint.Field{
		{Name: "tools", Value: endpoint.Segments{endpoint.StrictTools(r, plainTool, strictTool)}},
		{Name: "messages", Value: endpoint.List(insertBreakpoints(history)...)},
	}
	return endpoint.EncodeBody(head, fields, newSettings(r))
}

// Of each tool, plainTool is replaced with strictTool where tools are strict.
var (
	plainTool  = []byte(`,"input_schema":`)
	strictTool = []byte(`,"strict":true,"input_schema":`)
)

// Breakpoints are inserted into encoded messages at these strings, without parsing.
const (
	endOfMessage = `}]}` // its last block, the list of blocks, and the message
	nextReply    = endOfMessage + `,{"role":"assistant","content":[`
	cacheMark    = `,"cache_control":{"type":"ephemeral"}`
)

// insertBreakpoints inserts two breakpoints into a history: into its last block, and into the last block of the
// previous request. The newest reply begins after that one. Two are needed: the server looks back only 20 blocks from a
// breakpoint, and a reply with many calls and their results has more.
func insertBreakpoints(history []byte) endpoint.Segments {
	if !bytes.HasSuffix(history, []byte(endOfMessage)) {
		return endpoint.Segments{history}
	}
	marked := []byte(cacheMark + endOfMessage)
	end := len(history) - len(endOfMessage)
	at := bytes.LastIndex(history, []byte(nextReply))
	if at < 0 || !isList(history[at+len(endOfMessage)+1:]) {
		return endpoint.Segments{history[:end], marked}
	}
	return endpoint.Segments{history[:at], marked, history[at+len(endOfMessage) : end], marked}
}

// isList distinguishes messages from the arguments of a call that look like them.
func isList(elements []byte) bool {
	return json.Valid(slices.Concat([]byte(`[`), elements, []byte(`]`)))
}

func newSettings(r *model.Request) settings {
	s := settings{MaxTokens: r.MaxTokens, Stream: r.Stream}
	if s.MaxTokens <= 0 {
		s.MaxTokens = defaultMaxTokens
	}
	if !r.Workarounds.Has(model.NoTemperature) {
		temperature := min(r.Temperature, maxTemperature)
		s.Temperature = &temperature
	}
	if len(r.Tools) > 0 {
		s.ToolChoice = newToolChoice(&r.Choice, r.Workarounds)
	}
	return s
}

// newToolChoice renders a choice as well as the API can: all tools, none, any, or one by name.
func newToolChoice(c *model.Choice, w model.Workarounds) *toolChoice {
	switch forced := c.Mode == model.ChoiceRequired && !w.Has(model.NoForcedCall); {
	case c.Mode == model.ChoiceNone && w.Has(model.ForbidCalls):
		return &toolChoice{Type: "none"}
	case forced && len(c.Allowed) == 1:
		return &toolChoice{Type: "tool", Name: c.Allowed[0]}
	case forced:
		return &toolChoice{Type: "any"}
	}
	return &toolChoice{Type: "auto"}
}
