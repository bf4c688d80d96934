package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"

	"annotator/model/chatwire"
)

type messagesAnswer struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         string         `json:"role"`
	Model        string         `json:"model"`
	Content      []contentBlock `json:"content"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	Usage        messagesUsage  `json:"usage"`
}

type messagesUsage struct {
	Input        int `json:"input_tokens"`
	CacheWritten int `json:"cache_creation_input_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	Output       int `json:"output_tokens"`
}

func newMessagesAnswer(a *answer) messagesAnswer {
	u := messagesUsage{Input: a.Usage.Prompt - a.Usage.Cached, CacheRead: a.Usage.Cached, Output: a.Usage.Completion}
	return messagesAnswer{
		ID: "msg_" + a.id, Type: "message", Role: "assistant", Model: a.model,
		Content: []contentBlock{}, Usage: u,
	}
}

func (anthropic) plain(a *answer) any {
	whole := newMessagesAnswer(a)
	if a.Reasoning != "" {
		whole.Content = append(whole.Content, contentBlock{
			Type: "thinking", Thinking: &a.Reasoning,
			Signature: new(string),
		})
	}
	if a.Text != "" {
		whole.Content = append(whole.Content, contentBlock{Type: "text", Text: &a.Text})
	}
	for _, c := range a.ToolCalls {
		input := compacted(c.Arguments)
		if !json.Valid([]byte(input)) {
			input = "{}"
		}
		whole.Content = append(whole.Content, contentBlock{
			Type: "tool_use", ID: c.ID, Name: c.Name,
			Input: json.RawMessage(input),
		})
	}
	whole.StopReason = stopReason(a)
	return whole
}

// compacted removes white space from arguments, so that they are equal in a stream and in a whole answer.
func compacted(arguments string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(arguments)) != nil {
		return arguments
	}
	return b.String()
}

func stopReason(a *answer) *string {
	reason := a.FinishReason
	switch reason {
	case "stop":
		reason = "end_turn"
	case "length":
		reason = "max_tokens"
	case "tool_calls":
		reason = "tool_use"
	case "content_filter":
		reason = "refusal"
	}
	return &reason
}

func (anthropic) stream(e *chatwire.Events, a *answer) {
	s := messagesStream{Events: e}
	begun := newMessagesAnswer(a)
	begun.Usage.Output = 1
	s.send("message_start", map[string]any{"message": begun})
	s.send("ping", map[string]any{})
	if a.Reasoning != "" {
		s.block(contentBlock{Type: "thinking", Thinking: new(string)}, "thinking_delta", "thinking", a.Reasoning)
	}
	if a.Text != "" {
		s.block(contentBlock{Type: "text", Text: new(string)}, "text_delta", "text", a.Text)
	}
	for _, c := range a.ToolCalls {
		head := contentBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage("{}")}
		s.block(head, "input_json_delta", "partial_json", compacted(c.Arguments))
	}
	end := map[string]any{"stop_reason": stopReason(a), "stop_sequence": nil}
	s.send("message_delta", map[string]any{"delta": end, "usage": map[string]int{"output_tokens": a.Usage.Completion}})
	s.send("message_stop", map[string]any{})
}

// messagesStream is the event stream of one answer.
type messagesStream struct {
	*chatwire.Events
	blocks int
}

// send adds an event. Its name is also one of its fields.
func (s *messagesStream) send(name string, fields map[string]any) {
	fields["type"] = name
	s.Add(name, fields)
}

func (s *messagesStream) block(head contentBlock, delta, field, text string) {
	s.send("content_block_start", map[string]any{"index": s.blocks, "content_block": head})
	for _, piece := range chatwire.Pieces(text) {
		s.send("content_block_delta", map[string]any{"index": s.blocks, "delta": map[string]string{
			"type": delta,
			field:  piece,
		}})
	}
	s.send("content_block_stop", map[string]any{"index": s.blocks})
	s.blocks++
}

func (anthropic) refusal(no *refusal) any {
	kind, message := "invalid_request_error", no.Message
	switch {
	case no.prompt > 0:
		message = fmt.Sprintf("prompt is too long: %d tokens > %d maximum", no.prompt, no.limit)
	case no.Type == "NotFoundError":
		kind = "not_found_error"
	}
	return map[string]any{
		"type": "error", "error": map[string]string{"type": kind, "message": message},
		"request_id": "req_0",
	}
}

func (anthropic) models(model string, window int) any {
	one := map[string]any{
		"type": "model", "id": model, "display_name": model, "max_input_tokens": window,
		"created_at": "2023-11-14T22:13:20Z",
	}
	return map[string]any{"data": []any{one}, "has_more": false, "first_id": model, "last_id": model}
}
