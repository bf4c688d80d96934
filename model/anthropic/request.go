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
	mostTemperature  = 1.0
	defaultMaxTokens = 4096 // it wants to be told one
)

// settings are what stands behind the messages, in this order.
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

// encodeRequest renders a request's body. What changes least stands first, for the caches of proxies as of servers.
func encodeRequest(r *model.Request) (endpoint.Segments, error) {
	head, err := encodeHead(r)
	if err != nil {
		return nil, err
	}
	tail, err := endpoint.MarshalRest(newSettings(r))
	if err != nil {
		return nil, err
	}
	body := endpoint.Segments{head}
	if len(r.Tools) > 0 {
		body = append(body, []byte(`,"tools":`), r.Tools)
	}
	body = append(body, []byte(`,"messages":[`))
	return append(append(body, mark(r.History)...), []byte(`]`), tail), nil
}

// encodeHead renders what stands before the tools: they come first in the prompt wherever they stand.
func encodeHead(r *model.Request) ([]byte, error) {
	head := struct {
		Model  string  `json:"model"`
		System []block `json:"system,omitempty"`
	}{Model: r.Model}
	if !blank(r.System) {
		head.System = []block{{Type: blockText, Text: r.System, CacheControl: breakpoint()}}
	}
	encoded, err := endpoint.Marshal(head)
	if err != nil {
		return nil, err
	}
	return encoded[:len(encoded)-1], nil // the object goes on
}

// What is known of encoded messages, which are spliced here without being read.
const (
	endOfMessage = `}]}` // its last block, the list of blocks, and the message
	nextReply    = endOfMessage + `,{"role":"assistant","content":[`
	cacheMark    = `,"cache_control":{"type":"ephemeral"}`
)

// mark puts two breakpoints between the bytes of a history: into its last block, and into the last one of the request before,
// which ended with what the newest reply answers. The server looks only 20 blocks back from a breakpoint, and a reply with
// many calls and their results is longer.
func mark(history []byte) endpoint.Segments {
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

// isList tells messages from the arguments of a call that look like them.
func isList(elements []byte) bool {
	return json.Valid(slices.Concat([]byte(`[`), elements, []byte(`]`)))
}

func newSettings(r *model.Request) settings {
	s := settings{MaxTokens: r.MaxTokens, Stream: r.Stream}
	if s.MaxTokens <= 0 {
		s.MaxTokens = defaultMaxTokens
	}
	if !r.Workarounds.Has(model.NoTemperature) {
		temperature := min(r.Temperature, mostTemperature)
		s.Temperature = &temperature
	}
	if len(r.Tools) > 0 {
		s.ToolChoice = newToolChoice(&r.Choice, r.Workarounds)
	}
	return s
}

// newToolChoice says what the API can say of a choice, and is to be told: all tools, none, any, or one by name.
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
