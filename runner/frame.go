package runner

import (
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/model"
	"annotator/storage"
	"annotator/tools"
)

// frame is what a request has beside its messages: the system prompt, and the tools in the form of the wire.
type frame struct {
	system string
	tools  []byte
	size   tokens.Size // of both as they are on record, so that it is the same on every wire
}

// least is how many tokens a prompt of a size has at the least, if its tools must not be called: some servers leave them out of it
// then.
func (f *frame) least(size tokens.Size) int {
	return size.Minus(tokens.Measure(string(f.tools))).Least()
}

// frameOf renders a context for a wire.
func frameOf(wire model.Encoder, c *storage.Prompt) (frame, error) {
	definitions, err := tools.DecodeDefinitions(c.Tools)
	if err != nil {
		return frame{}, err
	}
	encoded, err := wire.EncodeTools(definitions)
	return frame{system: c.SystemPrompt, tools: encoded, size: prompt.Size(c.SystemPrompt, c.Tools)}, err
}
