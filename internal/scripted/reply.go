package scripted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/model/chatwire"
)

// Script decides what the model answers. It is called for several requests at once where clients ask at once.
type Script func(Request) Reply

// Reply is what the model answers. It is cut where it passes the request's max_tokens.
type Reply struct {
	Text         string
	Reasoning    string               // sent as "reasoning", as vLLM names it
	ToolCalls    []annotator.ToolCall // a call without an id gets one
	FinishReason string               // where empty: "tool_calls" with calls, else "stop", and "length" where it was cut
	Usage        *annotator.Usage     // reported in place of the true figures; Exact is not read
}

// finish completes a reply to a prompt: ids, length and finish reason. It returns what the call cost and the keys of the
// blocks that were generated; limit is in tokens.
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

// cut keeps what a model writes with a number of tokens: calls come last, and their arguments break off anywhere.
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

// cutText returns what fits into a number of tokens, in whole runes, and the number that is left.
func cutText(text string, tokens int) (string, int) {
	if n := Tokens(text); n <= tokens {
		return text, tokens - n
	}
	return strings.ToValidUTF8(text[:max(tokens, 0)*chatwire.BytesPerToken], ""), 0
}
