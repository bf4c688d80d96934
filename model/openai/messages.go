package openai

import (
	"annotator"
	"annotator/model"
	"annotator/model/endpoint"

	sdk "github.com/sashabaranov/go-openai"
)

// userText is how a message of the user is encoded.
var userText = endpoint.UserText{Before: `{"role":"user","content":"`, Behind: `"}`}

// messageList returns the messages of a request, with the system prompt.
func messageList(r *model.Request) (endpoint.Segments, error) {
	const arranged = model.MergeRoles | model.PairCalls | model.NoTextBesideCalls
	system, history, err := endpoint.Conversation(r, userText, arranged, arrange)
	if err != nil || system == "" {
		return endpoint.Segments{history}, err
	}
	return precede(message{Role: annotator.RoleSystem, Content: system}, history)
}

func precede(first message, history []byte) (endpoint.Segments, error) {
	encoded, err := endpoint.Marshal(first)
	if len(history) > 0 {
		encoded = append(encoded, ',')
	}
	return endpoint.Segments{encoded, history}, err
}

// arrange renders messages as a template needs them.
func arrange(all []message, w model.Workarounds) []message {
	if w.Has(model.NoTextBesideCalls) {
		for i := range all {
			if len(all[i].ToolCalls) > 0 {
				all[i].Content = ""
			}
		}
	}
	if w.Has(model.PairCalls) {
		all = pairCalls(all)
	}
	if w.Has(model.MergeRoles) {
		all = alternate(all)
	}
	return all
}

// pairCalls gives each of several calls in a message one of its own, with the result behind it. Results are in the
// order of the calls.
func pairCalls(all []message) (paired []message) {
	for len(all) > 0 {
		m, n := all[0], len(all[0].ToolCalls)
		if n < 2 || len(all) <= n {
			paired, all = append(paired, m), all[1:]
			continue
		}
		for i, call := range m.ToolCalls {
			one := message{Role: m.Role, ToolCalls: []sdk.ToolCall{call}}
			if i == 0 {
				one.Content = m.Content
			}
			paired = append(paired, one, all[1+i])
		}
		all = all[1+n:]
	}
	return paired
}

// alternate merges neighbouring messages of one role. Templates that insist on alternation do not see the results of
// tools, so a user message after them is added to the last result.
func alternate(all []message) []message {
	merged := all[:0]
	for _, m := range all {
		if n := len(merged); n > 0 && joins(&merged[n-1], &m) {
			merged[n-1].Content = join(merged[n-1].Content, m.Content)
			merged[n-1].ToolCalls = m.ToolCalls
			continue
		}
		merged = append(merged, m)
	}
	return merged
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
