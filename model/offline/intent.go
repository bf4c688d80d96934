package offline

import "annotator"

// toolIntent is the tool by which a model declares the intent of the calls after it.
const toolIntent = "select_active_intent"

type intentArguments struct {
	Intent        string `json:"intent"`
	Justification string `json:"justification"`
}

// declarations has the intent that is declared before the calls of each tool.
var declarations = map[string]intentArguments{
	toolCreate: {"PROPOSE", "The scene names what has no entry yet."},
	toolUpdate: {"REVISE", "The scene has further names for known things."},
}

// declarationTokens is the number of tokens reserved for each declaration.
const declarationTokens = 40

// declaration declares the intent of the calls of a tool.
func declaration(tool string) annotator.ToolCall {
	return annotator.ToolCall{Name: toolIntent, Arguments: annotator.EncodeJSON(declarations[tool])}
}
