package openai

import (
	"bytes"
	"encoding/json"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// userPrefix is the encoding of a user message up to its text.
var userPrefix = []byte(`{"role":"user","content":"`)

// messageList returns the messages of a request, with the system prompt.
func messageList(r *model.Request) (list endpoint.Segments, err error) {
	history := r.History
	if r.Workarounds.Has(model.MergeRoles) {
		if history, err = alternate(history); err != nil {
			return nil, err
		}
	}
	if r.System == "" {
		return endpoint.Segments{history}, nil
	}
	if r.Workarounds.Has(model.SystemInUser) {
		return systemInUser(r.System, history)
	}
	return precede(message{Role: annotator.RoleSystem, Content: r.System}, history)
}

func precede(first message, history []byte) (endpoint.Segments, error) {
	encoded, err := endpoint.Marshal(first)
	if len(history) > 0 {
		encoded = append(encoded, ',')
	}
	return endpoint.Segments{encoded, history}, err
}

// systemInUser puts the system prompt at the beginning of the first user message. It works on bytes, so the history
// stays unchanged.
func systemInUser(system string, history []byte) (endpoint.Segments, error) {
	first := message{Role: annotator.RoleUser, Content: system}
	rest, begun := bytes.CutPrefix(history, userPrefix)
	if !begun {
		return precede(first, history)
	}
	first.Content += "\n\n"
	encoded, err := endpoint.Marshal(first)
	return endpoint.Segments{bytes.TrimSuffix(encoded, []byte(`"}`)), rest}, err
}

// alternate merges neighbouring messages of one role. Templates that insist on alternation do not see the results of
// tools, so a user message after them is added to the last result.
func alternate(history []byte) ([]byte, error) {
	var all []message
	if err := json.Unmarshal(append(append([]byte{'['}, history...), ']'), &all); err != nil {
		return nil, endpoint.Unsendable(err)
	}
	merged := all[:0]
	for _, m := range all {
		if n := len(merged); n > 0 && joins(&merged[n-1], &m) {
			merged[n-1].Content = join(merged[n-1].Content, m.Content)
			merged[n-1].ToolCalls = m.ToolCalls
			continue
		}
		merged = append(merged, m)
	}
	return endpoint.MarshalElements(merged)
}

// joins reports whether a message is merged into the one before it.
func joins(before, m *message) bool {
	switch m.Role {
	case annotator.RoleUser:
		return before.Role == annotator.RoleUser || before.Role == annotator.RoleTool
	case annotator.RoleAssistant:
		return before.Role == annotator.RoleAssistant && len(before.ToolCalls) == 0
	}
	return false
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
