package offline

import "annotator"

// toolIntent is the tool by which a model declares the intent of the calls after it.
const toolIntent = "select_active_intent"

type intentArguments struct {
	Intent        string `json:"intent"`
	Justification string `json:"justification"`
}

// declarations are the intents that are declared before the calls of a tool.
var declarations = [...]struct {
	tool string
	intentArguments
}{
	{toolCreate, intentArguments{"PROPOSE", "The scene names what has no entry yet."}},
	{toolUpdate, intentArguments{"REVISE", "The scene has further names for known things."}},
}

// declarationTokens is kept free for each declaration.
const declarationTokens = 40

// declared sorts calls by tool, and puts the declaration of its intent before each group.
func declared(calls []annotator.ToolCall) []annotator.ToolCall {
	var all []annotator.ToolCall
	for _, d := range declarations {
		first := len(all)
		for _, call := range calls {
			if call.Name != d.tool {
				continue
			}
			if len(all) == first {
				all = append(all, annotator.ToolCall{Name: toolIntent, Arguments: annotator.EncodeJSON(d.intentArguments)})
			}
			all = append(all, call)
		}
	}
	return all
}
