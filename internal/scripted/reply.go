package scripted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/model/chatwire"
)

// Script returns the model's reply. Concurrent requests call it concurrently.
type Script func(Request) Reply

// Reply is the answer of the model. It is cut at the request's max_tokens.
type Reply struct {
	Text         string
	Reasoning    string               // sent as "reasoning", as vLLM names it
	ToolCalls    []annotator.ToolCall // a call without an id gets one
	FinishReason string               // if empty: "tool_calls" with calls, else "stop", and "length" if it was cut
	Usage        *annotator.Usage     // reported instead of the true figures; Exact is ignored
}

// finish completes a reply to a prompt: ids, length and finish reason. It returns the usage and the keys of the
// generated blocks. The limit is in tokens.
func (r *Reply) finish(p *prompt, limit int) (annotator.Usage, []uint64) {
	r.mintIDs(p.end.hash)
	written := r.write(p)
	written.token(tokenEnd)
	usage := annotator.Usage{Prompt: p.end.tokens, Completion: written.tokens - p.end.tokens, Exact: true}
	reason := "stop"
	if len(r.ToolCalls) > 0 {
		reason = "tool_calls"
	}
	if usage.Completion > limit {
		reason, usage.Completion = "length", limit
		r.cut(limit)
		written = r.write(p)
	}
	r.FinishReason = cmp.Or(r.FinishReason, reason)
	return usage, written.blocks
}

// write renders the reply behind the prompt.
func (r *Reply) write(p *prompt) renderer {
	w := renderer{chain: p.end}
	w.body(&annotator.Message{Content: r.Text, Reasoning: r.Reasoning, ToolCalls: r.ToolCalls})
	return w
}

// mintIDs derives ids from the prompt's hash, which no other prompt has.
func (r *Reply) mintIDs(hash uint64) {
	r.ToolCalls = slices.Clone(r.ToolCalls)
	for i := range r.ToolCalls {
		if r.ToolCalls[i].ID == "" {
			r.ToolCalls[i].ID = fmt.Sprintf("chatcmpl-tool-%016x%016x", hash, i+1)
		}
	}
}

// cut returns what a model writes with a number of tokens. Calls come last, and their arguments may be cut at any
// place.
func (r *Reply) cut(tokens int) {
	r.Reasoning, tokens = cutText(r.Reasoning, tokens)
	r.Text, tokens = cutText(r.Text, tokens)
	for i := range r.ToolCalls {
		call := &r.ToolCalls[i]
		tokens -= 1 + Tokens(call.Name)
		if tokens <= 0 {
			r.ToolCalls = r.ToolCalls[:i]
			return
		}
		call.Arguments, tokens = cutText(call.Arguments, tokens)
		tokens--
	}
}

// cutText returns the prefix of a text that fits into a number of tokens, in whole runes, and the number of tokens that
// remain.
func cutText(text string, tokens int) (string, int) {
	if n := Tokens(text); n <= tokens {
		return text, tokens - n
	}
	return strings.ToValidUTF8(text[:max(tokens, 0)*chatwire.BytesPerToken], ""), 0
}
