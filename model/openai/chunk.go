package openai

import (
	"cmp"
	"encoding/json"

	"annotator/model/chatwire"
	"annotator/model/endpoint"
)

// chunk is a frame of a stream, or a whole reply. Its types are wider than go-openai's where servers differ.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Timings json.RawMessage `json:"timings"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index   int             `json:"index"`
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"` // of a whole reply
	Finish  string          `json:"finish_reason"`
	Usage   json.RawMessage `json:"usage"` // of Moonshot's streams
}

type delta struct {
	Content          chatwire.Content    `json:"content"`
	Refusal          chatwire.Content    `json:"refusal"` // in place of the content
	Reasoning        chatwire.Content    `json:"reasoning"`
	ReasoningContent chatwire.Content    `json:"reasoning_content"`
	ToolCalls        []chatwire.ToolCall `json:"tool_calls"`
	FunctionCall     *chatwire.Function  `json:"function_call"` // the predecessor of tool_calls, a single one
}

// calls returns the calls, or pieces of them.
func (d *delta) calls() []chatwire.ToolCall {
	if len(d.ToolCalls) == 0 && d.FunctionCall != nil {
		return []chatwire.ToolCall{{Index: new(int), Function: *d.FunctionCall}}
	}
	return d.ToolCalls
}

// reasoning returns the reasoning, which servers send under one of two names, or under both.
func (d *delta) reasoning() string {
	return string(cmp.Or(d.Reasoning, d.ReasoningContent))
}

// usage is the usage of a reply. Some servers have a name of their own for the cached part of the prompt.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached *endpoint.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Hit    *endpoint.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached *endpoint.Count `json:"cached_tokens"`           // Moonshot
}

// timings is llama.cpp's own usage, which it sends in addition.
type timings struct {
	Cached *endpoint.Count `json:"cache_n"`
}

// mostOf returns the greatest of the counts that were sent; nil where none was. Servers send 0 in one field and the
// count in another.
func mostOf(counts ...*endpoint.Count) *int {
	var most *int
	for _, c := range counts {
		if c != nil && (most == nil || int(*c) > *most) {
			most = new(int(*c))
		}
	}
	return most
}
