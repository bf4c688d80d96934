package offline

import (
	"encoding/json"

	"annotator"
	"annotator/internal/chatwire"
)

// request is what the model reads of a chat completion's or a tokenize request's body.
type request struct {
	chatwire.Options
	messages []annotator.Message
	prompt   string          // to be tokenized
	tools    json.RawMessage // as they came
}

func readRequest(body []byte) (*request, error) {
	var wire struct {
		chatwire.Options
		Messages []chatwire.Message `json:"messages"`
		Prompt   string             `json:"prompt"`
		Tools    json.RawMessage    `json:"tools"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	r := &request{Options: wire.Options, prompt: wire.Prompt, tools: wire.Tools}
	for i := range wire.Messages {
		r.messages = append(r.messages, wire.Messages[i].Canonical())
	}
	return r, nil
}

// offers returns the names of the tools the model may call: none where the caller forbids calls.
func (r *request) offers() set {
	names := set{}
	if r.Forbids() {
		return names
	}
	tools, _ := chatwire.DecodeTools(r.tools) // tools that cannot be read are none
	for _, t := range tools {
		names[t.Name] = struct{}{}
	}
	return names
}

// answer is what the model says: text, or calls of tools.
type answer struct {
	text  string
	calls []annotator.ToolCall
	cut   bool // the text was cut at the caller's limit
}

func (a *answer) finishReason() string {
	switch {
	case a.cut:
		return "length"
	case len(a.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}
