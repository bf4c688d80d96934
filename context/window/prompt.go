package window

import (
	"slices"

	"annotator"
	"annotator/context/tokens"
)

// Prefix is what a request has before its messages: the system prompt, and the tools.
type Prefix struct {
	System string
	Tools  []byte // in the form of the wire
	size   tokens.Size
}

// NewPrefix returns a prefix. Record is the tools as they are stored: their size is taken from that, so that it is the
// same on every wire.
func NewPrefix(system, record string, tools []byte) Prefix {
	size := tokens.Measure(system).Plus(tokens.Measure(record)).Framed(tokens.PerMessage)
	return Prefix{System: system, Tools: tools, size: size}
}

// Measure returns the size of a prompt that has these messages behind the prefix, as annotator.Call has it.
func (p Prefix) Measure(messages []annotator.Message) [4]int { return p.size.Plus(sizeOf(messages)) }

// Tokens estimates the tokens of the prefix. A nil counter has learned nothing.
func (p Prefix) Tokens(counter *tokens.Counter) int { return counter.Count(p.size) }

// CountedBy estimates the tokens of the prefix by what the server has counted of one prompt; nil: by nothing.
func (p Prefix) CountedBy(call *annotator.Call) int {
	var counter tokens.Counter
	if call != nil {
		counter.Observe(call.Characters, call.Usage.Prompt)
	}
	return p.Tokens(&counter)
}

// Prompt is a request without its settings: a prefix and encoded messages, with the count of their tokens.
type Prompt struct {
	Prefix
	History []byte          // encoded messages, joined by commas
	Size    tokens.Size     // of all
	Counter *tokens.Counter // estimates the tokens; nil: by rule
	encode  Encoder
	window  *measured // that the prompt was made from; nil for none
	counted int       // the fewest tokens that the server can count, by what it has counted before; 0 if not known
}

// measured is a part of a prompt whose tokens are known better than by the counter's estimate of its size.
type measured struct {
	size   tokens.Size
	tokens int
}

// NewPrompt returns a prompt without messages.
func NewPrompt(prefix Prefix, encode Encoder) *Prompt {
	return &Prompt{Prefix: prefix, Size: prefix.size, encode: encode}
}

// Ask appends a message of the user.
func (p *Prompt) Ask(text string) error {
	return p.Add(annotator.Message{Role: annotator.RoleUser, Content: text})
}

// Add appends a group of messages: one, or the tool results that answer one reply. The bytes of other prompts from the
// same window stay as they are.
func (p *Prompt) Add(group ...annotator.Message) error {
	encoded, err := p.encode(group)
	if err != nil {
		return err
	}
	p.Size = p.Size.Plus(sizeOf(group))
	if len(p.History) > 0 {
		encoded = slices.Concat(p.History, []byte{','}, encoded)
	}
	p.History = encoded
	return nil
}

// sizeOf returns the size of messages with their calls.
func sizeOf(messages []annotator.Message) (size tokens.Size) {
	for i := range messages {
		m := &messages[i]
		size = size.Plus(tokens.Measure(m.Content)).Framed(tokens.PerMessage)
		for _, call := range m.ToolCalls {
			size = size.Plus(tokens.Measure(call.Name)).Plus(tokens.Measure(call.Arguments)).Framed(tokens.PerCall)
		}
	}
	return size
}

// ReplacePrefix puts another prefix before the messages.
func (p *Prompt) ReplacePrefix(prefix Prefix) {
	p.Size = p.Size.Minus(p.size).Plus(prefix.size)
	p.Prefix = prefix
}

// Tokens estimates the tokens of the prompt.
func (p *Prompt) Tokens() int {
	if p.window == nil {
		return p.Counter.Count(p.Size)
	}
	return p.window.tokens - p.Counter.Count(p.window.size.Minus(p.Size))
}

// MinTokens is the fewest tokens that a server can count. A server that counts fewer has dropped the beginning. Some
// servers leave the tools out of the prompt if none may be called.
func (p *Prompt) MinTokens(mayCall bool) int {
	if !mayCall {
		return p.Size.Minus(tokens.Measure(string(p.Prefix.Tools))).MinTokens()
	}
	return max(p.Size.MinTokens(), p.counted)
}
