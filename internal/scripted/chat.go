package scripted

import (
	"net/http"

	"annotator/model/chatwire"
)

// chat is the wire of chat completions, in the form of vLLM.
type chat struct{}

// chat returns the body unchanged.
func (chat) chat(_ *http.Request, body []byte) ([]byte, error) { return body, nil }

func (chat) plain(a *answer) any { return a.inChat().Whole() }

func (chat) stream(e *chatwire.Events, a *answer) { a.inChat().Stream(e, a.includeUsage) }

func (a *answer) inChat() *chatwire.Reply {
	return &chatwire.Reply{
		ID: "chatcmpl-" + a.id, Created: created, Model: a.model,
		Text: a.Text, Reasoning: a.Reasoning, ToolCalls: a.ToolCalls, FinishReason: a.FinishReason, Usage: *a.Usage,
	}
}

func (chat) refusal(no *refusal) any {
	return struct {
		Error *refusal `json:"error"`
	}{no}
}

func (chat) models(model string, window int) any {
	listed := map[string]any{
		"id": model, "object": "model", "created": created, "owned_by": "vllm", "root": model, "parent": nil,
		"max_model_len": window, "permission": []any{},
	}
	return map[string]any{"object": "list", "data": []any{listed}}
}
