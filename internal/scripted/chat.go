package scripted

import (
	"net/http"

	"annotator"
)

// chat is the wire of chat completions, as vLLM speaks it.
type chat struct{}

// chat takes a body as it is.
func (chat) chat(_ *http.Request, body []byte) ([]byte, error) { return body, nil }

// completion is a whole answer, or one chunk of a stream.
type completion struct {
	ID      string     `json:"id"`
	Object  string     `json:"object"`
	Created int        `json:"created"`
	Model   string     `json:"model"`
	Choices []choice   `json:"choices"`
	Usage   *wireUsage `json:"usage,omitempty"`
}

type choice struct {
	Index        int       `json:"index"`
	Message      *wireText `json:"message,omitempty"`
	Delta        *delta    `json:"delta,omitempty"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type wireText struct {
	Role      string      `json:"role"`
	Content   *string     `json:"content"`
	Reasoning *string     `json:"reasoning"`
	ToolCalls []callDelta `json:"tool_calls"`
}

type delta struct {
	Role      string      `json:"role,omitempty"`
	Content   *string     `json:"content,omitempty"`
	Reasoning string      `json:"reasoning,omitempty"`
	ToolCalls []callDelta `json:"tool_calls,omitempty"`
}

type callDelta struct {
	Index    *int          `json:"index,omitempty"` // in streams only
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
}

type wireUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	TotalTokens      int `json:"total_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func newWireUsage(u *annotator.Usage) *wireUsage {
	w := &wireUsage{PromptTokens: u.Prompt, TotalTokens: u.Prompt + u.Completion, CompletionTokens: u.Completion}
	w.Details.CachedTokens = u.Cached
	return w
}

func newCompletion(a *answer, object string) completion {
	return completion{ID: "chatcmpl-" + a.id, Object: object, Created: created, Model: a.model, Choices: []choice{}}
}

// plain has null content beside tool calls, as vLLM has it.
func (chat) plain(a *answer) any {
	text := wireText{Role: "assistant", ToolCalls: []callDelta{}}
	if a.Text != "" || len(a.ToolCalls) == 0 {
		text.Content = &a.Text
	}
	if a.Reasoning != "" {
		text.Reasoning = &a.Reasoning
	}
	for i := range a.ToolCalls {
		c := &a.ToolCalls[i]
		text.ToolCalls = append(text.ToolCalls, callDelta{
			ID: c.ID, Type: "function", Function: functionDelta{Name: c.Name, Arguments: &c.Arguments},
		})
	}
	whole := newCompletion(a, "chat.completion")
	whole.Choices = []choice{{Message: &text, FinishReason: &a.FinishReason}}
	whole.Usage = newWireUsage(a.Usage)
	return whole
}

func (chat) stream(e *events, a *answer) {
	s := chatStream{events: e, envelope: newCompletion(a, "chat.completion.chunk")}
	s.delta(&delta{Role: "assistant", Content: new(string)}, nil)
	for _, text := range split(a.Reasoning) {
		s.delta(&delta{Reasoning: text}, nil)
	}
	for _, text := range split(a.Text) {
		s.delta(&delta{Content: &text}, nil)
	}
	for i := range a.ToolCalls {
		s.call(i, &a.ToolCalls[i])
	}
	s.delta(&delta{Content: new(string)}, &a.FinishReason)
	if a.includeUsage {
		s.chunk(nil, newWireUsage(a.Usage))
	}
	s.WriteString("data: [DONE]\n\n")
}

// chatStream is the event stream of one answer.
type chatStream struct {
	*events
	envelope completion
}

func (s *chatStream) call(i int, c *annotator.ToolCall) {
	head := callDelta{Index: &i, ID: c.ID, Type: "function", Function: functionDelta{Name: c.Name}}
	s.delta(&delta{ToolCalls: []callDelta{head}}, nil)
	for _, text := range split(c.Arguments) {
		s.delta(&delta{ToolCalls: []callDelta{{Index: &i, Function: functionDelta{Arguments: &text}}}}, nil)
	}
}

func (s *chatStream) delta(d *delta, finish *string) {
	s.chunk([]choice{{Delta: d, FinishReason: finish}}, nil)
}

func (s *chatStream) chunk(choices []choice, usage *wireUsage) {
	chunk := s.envelope
	chunk.Usage = usage
	if choices != nil {
		chunk.Choices = choices
	}
	s.event("", chunk)
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
