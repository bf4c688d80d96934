package annotator

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Role is the author of a message.
type Role string

// The roles of a chat.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of the conversation, independent of a wire's format.
type Message struct {
	Role       Role
	Content    string
	Reasoning  string     // recorded; each wire decides whether to send it back
	ToolCalls  []ToolCall // of an assistant
	ToolCallID string     // of a tool's answer
	Tool       string     // of a tool's answer: the name of the tool
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // a JSON object, as the model wrote it
	Origin    Origin // where a reply holds it
}

// ParsedCall is a tool call as it was read once, when its reply came.
type ParsedCall struct {
	Tool string `json:"tool,omitempty"`
	// Term is what the entry is called that an update changes. Its id is known when the update runs. Empty for other
	// calls.
	Term string `json:"term,omitempty"`
	// Arguments are an object in canonical form. Arguments that cannot be read are as they were written. Nil: there is
	// none.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Done      bool            `json:"done,omitempty"`    // it says that its scene is finished
	Failure   json.RawMessage `json:"failure,omitempty"` // why it cannot run, as package tools writes it; nil if it can
}

// ReplyContent is what the text of a reply holds apart from words, as it was read once, when the reply came.
type ReplyContent struct {
	Updates []ParsedCall `json:"updates,omitempty"` // the elements of its codex_updates blocks
	Left    bool         `json:"left,omitempty"`    // it has calls in addition to structured ones, which are not made
	Problem *CallProblem `json:"problem,omitempty"` // nil where all can be read
}

// CallProblem is a text in a reply that looks like a call, or like a block of updates, and cannot be run.
type CallProblem struct {
	Origin Origin `json:"origin"`
	Text   string `json:"text"` // what is wrong, in words for the model
}

// Origin is where a reply holds a tool call.
type Origin string

// The origins.
const (
	OriginStructured Origin = ""        // in the list of calls that the API has for them
	OriginText       Origin = "text"    // in the text, where the server does not read its model's calls
	OriginUpdates    Origin = "updates" // an element of the codex_updates block in the text
)

// ToolDefinition describes a tool to a model.
type ToolDefinition struct {
	Name        string
	Description string
	Schema      []byte // JSON Schema of the arguments, in canonical form
}

// CallID returns the id of a tool call: nine letters and digits, made from its turn and its row. The server's id may be
// missing or used twice, and some templates take no other form.
func CallID(turn int64, seq int) string {
	last := func(n int64, digits int) string {
		s := strconv.FormatInt(n, 36)
		return s[max(0, len(s)-digits):]
	}
	return fmt.Sprintf("%06s%03s", last(turn, 6), last(int64(seq), 3))
}
