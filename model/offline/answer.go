package offline

import (
	"strings"

	"annotator"
	"annotator/internal/chatwire"
)

// answer returns the reply to a request, without ids and usage. prompt is a hash of the whole request. A text is cut at the
// request's limit, as by a server, even inside a word.
func (m *Model) answer(r *request, prompt uint64) chatwire.Reply {
	text, calls := m.task(r, prompt)
	reply := chatwire.Reply{Model: r.Model, Text: text, ToolCalls: calls, FinishReason: "stop"}
	switch limit := r.OutputLimit(); {
	case len(calls) > 0:
		reply.FinishReason = "tool_calls"
	case limit > 0 && chatwire.Tokens(len(text)) > limit:
		reply.Text, reply.FinishReason = text[:chatwire.RuneStart(text, limit*chatwire.BytesPerToken)], "length"
	}
	return reply
}

func (m *Model) task(r *request, prompt uint64) (text string, calls []annotator.ToolCall) {
	w := readWindow(r.messages)
	tools := len(r.offers()) > 0
	switch {
	case asksDecision(w.instruction) || !w.reading && asksDecision(w.system):
		return m.decide(w), nil
	case strings.Contains(strings.ToLower(w.instruction), "summar"):
		return m.summarise(w, r.OutputLimit()), nil
	case w.reading && !tools:
		return m.annotateInText(w), nil
	case tools && len(w.scenes) > 0 && !w.answered:
		return m.annotate(w, r, prompt)
	case tools && !strings.Contains(w.instruction, "?"):
		return closeTurn(w), nil
	}
	return m.reply(w), nil
}
