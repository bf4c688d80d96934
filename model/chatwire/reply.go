package chatwire

import (
	"annotator"
)

// Reply is what a server answers.
type Reply struct {
	ID, Model       string
	Created         int // Unix time in seconds
	Text, Reasoning string
	ToolCalls       []annotator.ToolCall
	FinishReason    string
	Usage           annotator.Usage
}

// completion is a whole reply, or one chunk of a stream.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int      `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int       `json:"index"`
	Message      *message  `json:"message,omitempty"`
	Delta        *delta    `json:"delta,omitempty"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type message struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Reasoning *string    `json:"reasoning"`
	ToolCalls []ToolCall `json:"tool_calls"`
}

type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Total      int `json:"total_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (r *Reply) usage() *usage {
	u := &usage{Prompt: r.Usage.Prompt, Total: r.Usage.Prompt + r.Usage.Completion, Completion: r.Usage.Completion}
	u.Details.Cached = r.Usage.Cached
	return u
}

func (r *Reply) completion(object string) completion {
	return completion{ID: r.ID, Object: object, Created: r.Created, Model: r.Model, Choices: []choice{}}
}

// Whole returns the reply in one piece, to be encoded as JSON. Its content is null if it has tool calls and no text, as
// in vLLM.
func (r *Reply) Whole() any {
	m := message{Role: "assistant", ToolCalls: NewToolCalls(r.ToolCalls)}
	if r.Text != "" || len(r.ToolCalls) == 0 {
		m.Content = &r.Text
	}
	if r.Reasoning != "" {
		m.Reasoning = &r.Reasoning
	}
	whole := r.completion("chat.completion")
	whole.Choices = []choice{{Message: &m, FinishReason: &r.FinishReason}}
	whole.Usage = r.usage()
	return whole
}

// Stream adds the reply to events. Texts and the arguments of calls are cut into pieces. The last chunk has the usage,
// if the client asked for it.
func (r *Reply) Stream(e *Events, withUsage bool) {
	chunk := r.completion("chat.completion.chunk")
	send := func(d delta, finish *string) {
		chunk.Choices = []choice{{Delta: &d, FinishReason: finish}}
		e.Add("", chunk)
	}
	send(delta{Role: "assistant", Content: new(string)}, nil)
	for _, text := range Pieces(r.Reasoning) {
		send(delta{Reasoning: text}, nil)
	}
	for _, text := range Pieces(r.Text) {
		send(delta{Content: &text}, nil)
	}
	for i, call := range NewToolCalls(r.ToolCalls) {
		call.Index, call.Function.Arguments = &i, nil
		send(delta{ToolCalls: []ToolCall{call}}, nil)
		for _, text := range Pieces(r.ToolCalls[i].Arguments) {
			piece := Function{Arguments: (*arguments)(&text)}
			send(delta{ToolCalls: []ToolCall{{Index: &i, Function: piece}}}, nil)
		}
	}
	send(delta{Content: new(string)}, &r.FinishReason)
	if withUsage {
		chunk.Choices, chunk.Usage = []choice{}, r.usage()
		e.Add("", chunk)
	}
	e.WriteString("data: [DONE]\n\n")
}
