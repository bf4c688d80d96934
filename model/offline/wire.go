package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"annotator"
	"annotator/model/chatwire"
)

// request has the fields of a chat completion's or a tokenize request's body that the model reads.
type request struct {
	chatwire.Options
	Messages []chatwire.Message
	Prompt   string          // of a tokenize request
	Tools    json.RawMessage // as received
	messages []annotator.Message
}

func readRequest(body []byte) (*request, error) {
	r := &request{}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	for i := range r.Messages {
		r.messages = append(r.messages, r.Messages[i].Canonical())
	}
	return r, nil
}

// offers returns the names of the tools that the model may call: none if the caller forbids calls.
func (r *request) offers() set {
	names := set{}
	if r.Forbids() {
		return names
	}
	tools, _ := chatwire.DecodeTools(r.Tools) // tools that cannot be read are ignored
	for _, t := range tools {
		names[t.Name] = true
	}
	return names
}

// requires reports whether calls of a tool must have an argument.
func (r *request) requires(tool, argument string) bool {
	tools, _ := chatwire.DecodeTools(r.Tools)
	return slices.ContainsFunc(tools, func(t annotator.ToolDefinition) bool {
		var schema struct{ Required []string }
		return t.Name == tool && json.Unmarshal(t.Schema, &schema) == nil && slices.Contains(schema.Required, argument)
	})
}

// answer returns the reply to a request with a hash, cut at its limit as by a server. It has no ids and no usage.
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
	m.mu.Lock()
	defer m.mu.Unlock()
	w := readWindow(r.messages)
	tools := len(r.offers()) > 0
	switch {
	case asksDecision(w.instruction) || !w.reading && asksDecision(w.system):
		return m.recap(w) + m.names(w) + m.decide(w), nil
	case endedThreads.MatchString(w.instruction), asksNames(w.last):
		return m.recap(w) + m.names(w), nil
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
