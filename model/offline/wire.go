package offline

import (
	"encoding/json"

	"annotator"
	"annotator/internal/chatwire"
)

// request is what the model reads of a chat completion's or a tokenize request's body.
type request struct {
	chatwire.Options
	Messages []chatwire.Message
	Prompt   string          // to be tokenized
	Tools    json.RawMessage // as they came
	messages []annotator.Message
}

func readRequest(body []byte) (*request, error) {
	r := &request{}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	for i := range r.Messages {
		r.messages = append(r.messages, r.Messages[i].Canonical())
	}
	return r, nil
}

// offers returns the names of the tools the model may call: none where the caller forbids calls.
func (r *request) offers() set {
	names := set{}
	if r.Forbids() {
		return names
	}
	tools, _ := chatwire.DecodeTools(r.Tools) // tools that cannot be read are none
	for _, t := range tools {
		names[t.Name] = struct{}{}
	}
	return names
}
