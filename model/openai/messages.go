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

// encodeMessageList returns the beginning of a request up to the history, which includes the system prompt, and the
// history.
func encodeMessageList(r *model.Request) (head, history []byte, err error) {
	name, err := endpoint.Marshal(r.Model)
	if err != nil {
		return nil, nil, err
	}
	head = append(append([]byte(`{"model":`), name...), `,"messages":[`...)
	if history = r.History; r.Workarounds.Has(model.MergeRoles) {
		if history, err = alternate(history); err != nil {
			return nil, nil, err
		}
	}
	if r.System == "" {
		return head, history, nil
	}
	if r.Workarounds.Has(model.SystemInUser) {
		return foldSystem(head, history, r.System)
	}
	system, err := endpoint.Marshal(message{Role: annotator.RoleSystem, Content: r.System})
	if err != nil {
		return nil, nil, err
	}
	return precede(append(head, system...), history), history, nil
}

// precede adds a comma if anything follows.
func precede(head, history []byte) []byte {
	if len(history) > 0 {
		head = append(head, ',')
	}
	return head
}

// foldSystem puts the system prompt at the beginning of the first user message. It works on bytes, so the history stays
// unchanged.
func foldSystem(head, history []byte, system string) ([]byte, []byte, error) {
	rest, begun := bytes.CutPrefix(history, userPrefix)
	if begun {
		system += "\n\n"
	}
	folded, err := endpoint.Marshal(message{Role: annotator.RoleUser, Content: system})
	if err != nil {
		return nil, nil, err
	}
	if !begun {
		return precede(append(head, folded...), history), history, nil
	}
	return append(head, bytes.TrimSuffix(folded, []byte(`"}`))...), rest, nil
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
