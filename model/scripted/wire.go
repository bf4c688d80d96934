package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"annotator"
)

// created is every answer's time: there is no clock here.
const created = 1_700_000_000

// deltaBytes is how much of a text or of a call's arguments one chunk of a stream carries.
const deltaBytes = 32

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

// envelope returns an answer without choices.
func (s *Server) envelope(p *prompt, object string) completion {
	return completion{
		ID: fmt.Sprintf("chatcmpl-%016x", p.end.hash), Object: object, Created: created, Model: s.options.Model, Choices: []choice{},
	}
}

// writePlain answers in one piece. Content is null beside tool calls, as vLLM has it.
func writePlain(w http.ResponseWriter, answer completion, r *Reply) {
	text := wireText{Role: "assistant", ToolCalls: []callDelta{}}
	if r.Text != "" || len(r.ToolCalls) == 0 {
		text.Content = &r.Text
	}
	if r.Reasoning != "" {
		text.Reasoning = &r.Reasoning
	}
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		text.ToolCalls = append(text.ToolCalls, callDelta{
			ID: c.ID, Type: "function", Function: functionDelta{Name: c.Name, Arguments: &c.Arguments},
		})
	}
	answer.Choices = []choice{{Message: &text, FinishReason: &r.FinishReason}}
	answer.Usage = newWireUsage(r.Usage)
	writeJSON(w, http.StatusOK, answer)
}

// stream is the event stream of one answer. It is sent in one piece: nothing here takes time.
type stream struct {
	bytes.Buffer
	envelope completion
}

func writeStream(w http.ResponseWriter, envelope completion, r *Reply, includeUsage bool) {
	s := stream{envelope: envelope}
	s.delta(&delta{Role: "assistant", Content: new(string)}, nil)
	for _, text := range split(r.Reasoning) {
		s.delta(&delta{Reasoning: text}, nil)
	}
	for _, text := range split(r.Text) {
		s.delta(&delta{Content: &text}, nil)
	}
	for i := range r.ToolCalls {
		s.call(i, &r.ToolCalls[i])
	}
	s.delta(&delta{Content: new(string)}, &r.FinishReason)
	if includeUsage {
		s.event(nil, newWireUsage(r.Usage))
	}
	s.WriteString("data: [DONE]\n\n")
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = w.Write(s.Bytes())
	// A stream has no Content-Length; without this a short one would be given one.
	_ = http.NewResponseController(w).Flush()
}

func (s *stream) call(i int, c *annotator.ToolCall) {
	head := callDelta{Index: &i, ID: c.ID, Type: "function", Function: functionDelta{Name: c.Name}}
	s.delta(&delta{ToolCalls: []callDelta{head}}, nil)
	for _, text := range split(c.Arguments) {
		s.delta(&delta{ToolCalls: []callDelta{{Index: &i, Function: functionDelta{Arguments: &text}}}}, nil)
	}
}

func (s *stream) delta(d *delta, finish *string) {
	s.event([]choice{{Delta: d, FinishReason: finish}}, nil)
}

func (s *stream) event(choices []choice, usage *wireUsage) {
	chunk := s.envelope
	chunk.Usage = usage
	if choices != nil {
		chunk.Choices = choices
	}
	s.WriteString("data: ")
	encode(&s.Buffer, chunk)
	s.WriteByte('\n')
}

// split cuts a text into deltas of whole runes.
func split(text string) []string {
	var parts []string
	for len(text) > deltaBytes {
		n := runeStart(text, deltaBytes)
		parts = append(parts, text[:n])
		text = text[n:]
	}
	if text != "" {
		parts = append(parts, text)
	}
	return parts
}

// runeStart returns the nearest offset at or before n, but above 0, at which a rune of the text begins.
func runeStart(text string, n int) int {
	for n > 1 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// encode writes JSON and a line feed, with <, > and & as they are.
func encode(b *bytes.Buffer, value any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // the types above can always be encoded
	}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	var b bytes.Buffer
	encode(&b, value)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// refusal is an error as vLLM answers it.
type refusal struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"` // the status
}

func badRequest(format string, args ...any) *refusal {
	return &refusal{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
}

func (r *refusal) write(w http.ResponseWriter) {
	writeJSON(w, r.Code, struct {
		Error *refusal `json:"error"`
	}{r})
}
