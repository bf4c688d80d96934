package scripted

import (
	"fmt"

	"annotator/model/chatwire"
)

// fields are those of an object whose form depends on its type.
type fields = map[string]any

// plain is the response whole.
func (responses) plain(a *answer) any {
	output := []any{}
	for i, item := range responseItems(a) {
		output = append(output, item.whole(a, i))
	}
	r := newResponse(a, "completed")
	r["output"] = output
	r["usage"] = fields{
		"input_tokens": a.Usage.Prompt, "input_tokens_details": fields{"cached_tokens": a.Usage.Cached},
		"output_tokens": a.Usage.Completion, "output_tokens_details": fields{"reasoning_tokens": 0},
		"total_tokens": a.Usage.Prompt + a.Usage.Completion,
	}
	switch a.FinishReason {
	case "stop", "tool_calls":
	case "length":
		r["status"], r["incomplete_details"] = "incomplete", fields{"reason": "max_output_tokens"}
	default:
		r["status"], r["incomplete_details"] = "incomplete", fields{"reason": a.FinishReason}
	}
	return r
}

func newResponse(a *answer, status string) fields {
	return fields{
		"id": "resp_" + a.id, "object": "response", "created_at": created, "status": status, "model": a.model,
		"error": nil, "incomplete_details": nil, "output": []any{}, "usage": nil, "store": false,
	}
}

// responseItem is an item of an answer. Its text comes in deltas, whose name depends on the type of the item.
type responseItem struct {
	kind  string // message, reasoning or function_call
	delta string // name of the event
	text  string
	call  int // index of the call
}

func responseItems(a *answer) (items []responseItem) {
	if a.Reasoning != "" {
		items = append(items, responseItem{kind: "reasoning", delta: "response.reasoning_text", text: a.Reasoning})
	}
	if a.Text != "" {
		items = append(items, responseItem{kind: "message", delta: "response.output_text", text: a.Text})
	}
	for i := range a.ToolCalls {
		items = append(items, responseItem{
			kind: "function_call", delta: "response.function_call_arguments",
			text: a.ToolCalls[i].Arguments, call: i,
		})
	}
	return items
}

// whole is the item when it is done.
func (it *responseItem) whole(a *answer, index int) fields {
	return it.as(a, index, it.text, "completed")
}

func (it *responseItem) as(a *answer, index int, text, status string) fields {
	f := fields{"type": it.kind, "id": fmt.Sprintf("item_%s_%d", a.id, index), "status": status}
	part := func(kind string) []any {
		if status != "completed" {
			return []any{}
		}
		return []any{fields{"type": kind, "text": text}}
	}
	switch it.kind {
	case "message":
		f["role"], f["content"] = "assistant", part("output_text")
	case "reasoning":
		f["summary"], f["content"] = []any{}, part("reasoning_text")
	default:
		c := &a.ToolCalls[it.call]
		f["call_id"], f["name"], f["arguments"] = c.ID, c.Name, text
	}
	return f
}

// stream repeats the whole response in the last event.
func (w responses) stream(e *chatwire.Events, a *answer) {
	s := responseStream{Events: e}
	s.send("response.created", fields{"response": newResponse(a, "in_progress")})
	s.send("response.in_progress", fields{"response": newResponse(a, "in_progress")})
	for i, item := range responseItems(a) {
		s.item(a, i, &item)
	}
	whole := w.plain(a).(fields)
	s.send("response."+whole["status"].(string), fields{"response": whole})
}

// responseStream is the event stream of one answer.
type responseStream struct {
	*chatwire.Events
	number int
}

// send adds an event. Its name is also one of its fields.
func (s *responseStream) send(name string, f fields) {
	f["type"], f["sequence_number"] = name, s.number
	s.number++
	s.Add(name, f)
}

func (s *responseStream) item(a *answer, index int, it *responseItem) {
	s.send("response.output_item.added", fields{"output_index": index, "item": it.as(a, index, "", "in_progress")})
	id := fmt.Sprintf("item_%s_%d", a.id, index)
	for _, piece := range chatwire.Pieces(it.text) {
		s.send(it.delta+".delta", fields{"item_id": id, "output_index": index, "content_index": 0, "delta": piece})
	}
	s.send(it.delta+".done", fields{"item_id": id, "output_index": index, "content_index": 0, "text": it.text})
	s.send("response.output_item.done", fields{"output_index": index, "item": it.whole(a, index)})
}
