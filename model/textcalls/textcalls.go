// Package textcalls finds the tool calls that a model wrote into the text of its reply, as it does where the server lacks a parser
// for that model's form of calls.
//
// A text is no call by its nature, so what is taken for one must leave no doubt: it is whole, its arguments are one JSON object
// without doubled keys, the tool exists, the arguments fit its schema, and all else in the reply that has the shape of a call
// is as sound. One that is not spoils them all, since nobody knows then what the model meant. What the story says is no call,
// whatever its shape: see Found.RemoveQuotations. Nor is anything in a block of codex updates, which Updates finds.
//
// These forms are read, the last two only with hardly any text beside them:
//
//	<tool_call>{"name": …, "arguments": {…}}</tool_call>             Hermes, Qwen
//	<function=NAME><parameter=KEY>VALUE</parameter>…</function>      Qwen Coder, mostly between <tool_call> and </tool_call>
//	<function=NAME>{…}</function>                                    Llama 3.1
//	<|python_tag|>{"name": …, "parameters": {…}}                     Llama 3
//	[TOOL_CALLS][{"name": …, "arguments": {…}}, …]                   Mistral
//	[TOOL_CALLS]NAME[ARGS]{…}                                        Mistral, since 2025
//	{"name": …, "arguments": {…}}, or a list of them                 at the beginning of a line
//	the same in a fence
//
// Others are known by their marks and not read, such as Python code.
package textcalls

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"annotator"
)

// Bounds on what is read.
const (
	maxText  = 1 << 20 // bytes; a longer text is not looked into
	maxCalls = 250
	maxAside = 300 // bytes of text that may stand beside calls without a mark of their own
)

// Found is what of a text has the shape of calls.
type Found struct {
	text   string
	pieces []piece
	full   bool // there may be more
}

// Find looks for calls in a text, in time that grows with its length. A text that is not UTF-8 is damaged, and has none.
func Find(text string) *Found {
	if len(text) > maxText || !utf8.ValidString(text) {
		return &Found{text: text}
	}
	pieces := scan(text)
	return &Found{text: text, pieces: pieces, full: len(pieces) > maxCalls}
}

// Empty reports whether there is nothing that has the shape of a call.
func (f *Found) Empty() bool { return len(f.pieces) == 0 }

// Calls returns the calls, without ids, and what is left of the text without them. Check tells whether a call can be run: that
// its tool exists, and that its arguments fit. There are no calls where something has the shape of one and is not sound; wrong
// then says what, in words for the model that wrote it.
func (f *Found) Calls(check func(annotator.ToolCall) error) (calls []annotator.ToolCall, rest, wrong string) {
	var left strings.Builder
	at, marked := 0, true
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.wrong != "" {
			return nil, f.text, p.wrong
		}
		for j := range p.calls {
			if err := check(p.calls[j].ToolCall); err != nil {
				return nil, f.text, err.Error()
			}
			calls = append(calls, p.calls[j].ToolCall)
		}
		marked = marked && !p.bare()
		left.WriteString(f.text[at:p.start])
		at = p.end
	}
	left.WriteString(f.text[at:])
	rest = strings.TrimSpace(left.String())
	if len(calls) > maxCalls || len(calls) > 0 && f.full {
		return nil, f.text, fmt.Sprintf("it makes more than %d calls", maxCalls)
	}
	if !marked && len(rest) > maxAside {
		return nil, f.text, fmt.Sprintf("a call without a mark of its own stands beside %d bytes of other text", len(rest))
	}
	return calls, rest, ""
}
