package openai

import (
	"bytes"
	"encoding/json"
	"strings"

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
	Content          content    `json:"content"`
	Refusal          content    `json:"refusal"` // in place of the content
	Reasoning        content    `json:"reasoning"`
	ReasoningContent content    `json:"reasoning_content"`
	ToolCalls        []callPart `json:"tool_calls"`
	FunctionCall     *function  `json:"function_call"` // the predecessor of tool_calls, a single one
}

// calls returns the calls, or pieces of them.
func (d *delta) calls() []callPart {
	if len(d.ToolCalls) == 0 && d.FunctionCall != nil {
		return []callPart{{Index: new(int), Function: *d.FunctionCall}}
	}
	return d.ToolCalls
}

// reasoning returns the reasoning, which servers send under one of two names, or under both.
func (d *delta) reasoning() string {
	if d.Reasoning != "" {
		return string(d.Reasoning)
	}
	return string(d.ReasoningContent)
}

type callPart struct {
	Index    *int     `json:"index"`
	ID       string   `json:"id"`
	Function function `json:"function"`
}

type function struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// content is a text: a string, null, or an array of parts, of which those with text count.
type content string

// UnmarshalJSON reads any of the forms.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(part.Text)
	}
	*c = content(text.String())
	return nil
}

// arguments are JSON in a string; some servers leave out the string around it.
type arguments string

// UnmarshalJSON reads either form.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' || bytes.Equal(raw, []byte("null")) {
		return json.Unmarshal(raw, (*string)(a))
	}
	*a = arguments(raw)
	return nil
}

// usage is the usage of a reply. Some servers have a name of their own for the cached part of the prompt.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached endpoint.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Hit    endpoint.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached endpoint.Count `json:"cached_tokens"`           // Moonshot
}

// timings is llama.cpp's own usage, beside that.
type timings struct {
	Cached endpoint.Count `json:"cache_n"`
}
