package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"annotator"
)

// Violation is a breach of the strict template. Its text is the message of the servers that enforce the rule.
type Violation struct {
	Call    int // ordinal of the request
	Message int // index of the message at which it shows
	Text    string
}

const notAlternating = "Conversation roles must alternate user/assistant/user/assistant/..."

// flaws are the faults of a message that do not depend on its position.
type flaws struct {
	unknownKeys []string // keys that the wire does not have
	arguments   []string // the text for arguments that are not a JSON object
}

func findFlaws(m *Message) flaws {
	var f flaws
	f.unknownKeys = unknownKeys(m.Raw, "role", "content", "name", "reasoning", "reasoning_content", "tool_calls",
		"tool_call_id")
	if len(m.ToolCalls) == 0 {
		return f
	}
	var wire struct {
		ToolCalls []json.RawMessage `json:"tool_calls"`
	}
	_ = json.Unmarshal(m.Raw, &wire) // decoded once already
	for _, raw := range wire.ToolCalls {
		f.unknownKeys = append(f.unknownKeys, unknownKeys(raw, "id", "type", "function")...)
	}
	for i := range m.ToolCalls {
		if text := argumentsFault(m.ToolCalls[i].Arguments); text != "" {
			f.arguments = append(f.arguments, text)
		}
	}
	return f
}

// unknownKeys compares exactly. encoding/json would accept "Role" for "role".
func unknownKeys(object json.RawMessage, known ...string) []string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields) // decoded once already
	for _, key := range known {
		delete(fields, key)
	}
	return slices.Sorted(maps.Keys(fields))
}

func argumentsFault(arguments string) string {
	var value any
	err := json.Unmarshal([]byte(arguments), &value)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Sprintf("Unterminated string starting at: line 1 column %d (char %d)", syntax.Offset+1,
			syntax.Offset)
	}
	if _, ok := value.(map[string]any); !ok {
		return "Can only get item pairs from a mapping."
	}
	return ""
}

// strictTemplate walks the messages of one request.
type strictTemplate struct {
	found   []Violation
	at      int             // index of the message
	after   annotator.Role  // role of the previous message; empty at the beginning
	pending []string        // ids of calls that have no answer yet
	seen    map[string]bool // ids of calls
}

// checkTemplate returns every breach in the messages of a request.
func checkTemplate(messages []Message) []Violation {
	t := strictTemplate{seen: map[string]bool{}}
	for i := range messages {
		t.at = i
		t.message(&messages[i])
	}
	t.unanswered()
	if t.after != annotator.RoleUser && t.after != annotator.RoleTool {
		t.violate("Expected last role User or Tool (or Assistant with prefix True) for serving but got %s", t.after)
	}
	return t.found
}

func (t *strictTemplate) violate(format string, args ...any) {
	t.found = append(t.found, Violation{Message: t.at, Text: fmt.Sprintf(format, args...)})
}

func (t *strictTemplate) message(m *Message) {
	for _, key := range m.flaws.unknownKeys {
		t.violate("[{'type': 'extra_forbidden', 'loc': ('body', 'messages', %d, '%s'), 'msg': 'Extra inputs are not "+
			"permitted'}]", t.at, key)
	}
	for _, text := range m.flaws.arguments {
		t.violate("%s", text)
	}
	if m.Role != annotator.RoleTool {
		t.unanswered()
	}
	t.role(m)
	t.after = m.Role
}

func (t *strictTemplate) role(m *Message) {
	switch m.Role {
	case annotator.RoleSystem:
		if t.at != 0 {
			t.violate("System message must be at the beginning.")
		}
	case annotator.RoleUser:
		if t.after == annotator.RoleUser || t.after == annotator.RoleTool {
			t.violate(notAlternating)
		}
	case annotator.RoleAssistant:
		if t.after != annotator.RoleUser && t.after != annotator.RoleTool {
			t.violate(notAlternating)
		}
		t.calls(m.ToolCalls)
	case annotator.RoleTool:
		t.answer(m.ToolCallID)
	default:
		t.violate("Unexpected role '%s' after role '%s'", m.Role, t.after)
	}
}

func (t *strictTemplate) calls(calls []annotator.ToolCall) {
	for i := range calls {
		id := calls[i].ID
		if t.seen[id] {
			t.violate("Duplicate value for 'tool_call_id' of %s in message[%d]", id, t.at)
		}
		t.seen[id] = true
		t.pending = append(t.pending, id)
	}
}

func (t *strictTemplate) answer(id string) {
	switch i := slices.Index(t.pending, id); {
	case len(t.pending) == 0:
		t.violate("Unexpected role 'tool' after role '%s'", t.after)
	case i != 0:
		t.violate("Unexpected tool call id %s in tool results", id)
	}
	t.pending = slices.DeleteFunc(t.pending, func(p string) bool { return p == id })
}

func (t *strictTemplate) unanswered() {
	if len(t.pending) > 0 {
		t.violate("An assistant message with 'tool_calls' must be followed by tool messages responding to each "+
			"'tool_call_id'. The following tool_call_ids did not have response messages: %s",
			strings.Join(t.pending, ", "))
	}
	t.pending = nil
}
