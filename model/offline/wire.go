package offline

import (
	"bytes"
	"encoding/json"
	"strings"
)

// request is what the model reads of a chat completion's or a tokenize request's body.
type request struct {
	Model         string          `json:"model"`
	Messages      []message       `json:"messages"`
	Prompt        string          `json:"prompt"`
	Tools         json.RawMessage `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
}

type message struct {
	Role      string     `json:"role"`
	Content   content    `json:"content"`
	ToolCalls []toolCall `json:"tool_calls"`
}

type toolCall struct {
	Index    *int     `json:"index,omitempty"` // in a stream only
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// content is the text of a message: on the wire a string, null, or a list of parts, whose text is joined.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(data, &parts)
	for _, p := range parts {
		*c += content(p.Text)
	}
	return err
}

// outputLimit returns the most tokens the reply may have.
func (r *request) outputLimit() int {
	if r.MaxCompletionTokens > 0 {
		return r.MaxCompletionTokens
	}
	return r.MaxTokens
}

// offers returns the names of the tools the model may call: none where the caller forbids calls.
func (r *request) offers() set {
	names := set{}
	if string(r.ToolChoice) == `"none"` {
		return names
	}
	var tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(r.Tools, &tools) != nil {
		return names
	}
	for _, t := range tools {
		names[t.Function.Name] = struct{}{}
	}
	return names
}

// answer is what the model says: text, or calls of tools.
type answer struct {
	text  string
	calls []toolCall
	cut   bool // the text was cut at the caller's limit
}

func (a *answer) finishReason() string {
	switch {
	case a.cut:
		return "length"
	case len(a.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int    `json:"index"`
	Message      *delta `json:"message,omitempty"`
	Delta        *delta `json:"delta,omitempty"`
	FinishReason any    `json:"finish_reason"` // a string, or null while a stream goes on
}

// delta is a whole message in a plain reply, a piece of one in a stream.
type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

// whole renders an answer as one JSON object.
func (c completion) whole(a answer, u usage) []byte {
	c.Object = "chat.completion"
	c.Choices = []choice{{Message: &delta{Role: "assistant", Content: &a.text, ToolCalls: a.calls}, FinishReason: a.finishReason()}}
	c.Usage = &u
	return encode(c)
}

// stream renders an answer as server-sent events: text in pieces, each tool call as its head and then its arguments in
// pieces, the finish reason, and the usage where it was asked for.
func (c completion) stream(a answer, u usage, withUsage bool) []byte {
	c.Object = "chat.completion.chunk"
	var out bytes.Buffer
	send := func(d delta, finish any) {
		c.Choices = []choice{{Delta: &d, FinishReason: finish}}
		writeEvent(&out, encode(c))
	}
	send(delta{Role: "assistant", Content: new(string)}, nil)
	for _, piece := range pieces(a.text) {
		send(delta{Content: &piece}, nil)
	}
	for i := range a.calls {
		call := a.calls[i]
		arguments := call.Function.Arguments
		call.Index, call.Function.Arguments = &i, ""
		send(delta{ToolCalls: []toolCall{call}}, nil)
		for _, piece := range pieces(arguments) {
			send(delta{ToolCalls: []toolCall{{Index: &i, Function: function{Arguments: piece}}}}, nil)
		}
	}
	send(delta{}, a.finishReason())
	if withUsage {
		c.Choices, c.Usage = []choice{}, &u
		writeEvent(&out, encode(c))
	}
	writeEvent(&out, []byte("[DONE]"))
	return out.Bytes()
}

func writeEvent(out *bytes.Buffer, data []byte) {
	out.WriteString("data: ")
	out.Write(data)
	out.WriteString("\n\n")
}

// pieceSize is the size in bytes of a streamed piece of text, about eight words.
const pieceSize = 48

// pieces cuts a text after blanks into pieces of about pieceSize bytes.
func pieces(s string) []string {
	var all []string
	for len(s) > pieceSize {
		cut := strings.IndexByte(s[pieceSize:], ' ')
		if cut < 0 {
			break
		}
		all = append(all, s[:pieceSize+cut+1])
		s = s[pieceSize+cut+1:]
	}
	if s != "" {
		all = append(all, s)
	}
	return all
}

// encode renders a value that always can be rendered, without escaping < and > as encoding/json does for HTML.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimSpace(out.Bytes())
}
