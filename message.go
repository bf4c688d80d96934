package annotator

// Role says who speaks a message.
type Role string

// The roles of a chat, as every wire knows them.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one canonical message: what the journal folds to, before a wire gives it its own form.
type Message struct {
	Role       Role
	Content    string
	Reasoning  string     // kept for the record; a renderer decides whether it is replayed
	ToolCalls  []ToolCall // of an assistant
	ToolCallID string     // of a tool's answer
	Tool       string     // of a tool's answer: the name of the tool
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // a JSON object, as the model wrote it
}

// ToolDefinition is what a model is told of a tool.
type ToolDefinition struct {
	Name        string
	Description string
	Schema      []byte // JSON Schema of the arguments, in canonical form
}
