package scripted

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"annotator"
)

// anthropic is the wire of Anthropic's messages. It refuses requests as that API does: for a missing version or
// max_tokens, a temperature above 1, an empty text block, a fifth cache breakpoint. As in that API, a tool choice other
// than auto has a separate prefix cache.
type anthropic struct{}

const anthropicVersion = "Anthropic-Version"

type messagesRequest struct {
	Model       string          `json:"model"`
	System      []contentBlock  `json:"system"`
	Tools       []messagesTool  `json:"tools"`
	Messages    []blockMessage  `json:"messages"`
	ToolChoice  messagesChoice  `json:"tool_choice"`
	MaxTokens   int             `json:"max_tokens"`
	Temperature json.RawMessage `json:"temperature"`
	Stream      bool            `json:"stream"`
}

type messagesTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl json.RawMessage `json:"cache_control"`
}

type messagesChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type blockMessage struct {
	Role    annotator.Role `json:"role"`
	Content []contentBlock `json:"content"`
}

// contentBlock is a block of a request, or of an answer.
type contentBlock struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Signature    *string         `json:"signature,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      string          `json:"content,omitempty"`
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (anthropic) chat(r *http.Request, body []byte) ([]byte, error) {
	if r.Header.Get(anthropicVersion) == "" {
		return nil, errors.New("anthropic-version: header is required")
	}
	var wire messagesRequest
	if err := readStrictly(body, &wire); err != nil {
		return nil, err
	}
	if err := wire.check(); err != nil {
		return nil, err
	}
	return wire.conversation().body(), nil
}

func (r *messagesRequest) check() error {
	var temperature float64
	_ = json.Unmarshal(r.Temperature, &temperature)
	switch {
	case r.MaxTokens < 1:
		return errors.New("max_tokens: Field required")
	case temperature > 1:
		return fmt.Errorf("temperature: range: 0..1, not %v", temperature)
	case r.breakpoints() > 4:
		return fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", r.breakpoints())
	}
	for i := range r.Messages {
		if err := r.Messages[i].check(); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return nil
}

// breakpoints counts what is marked with cache_control.
func (r *messagesRequest) breakpoints() int {
	n := marked(r.System)
	for i := range r.Messages {
		n += marked(r.Messages[i].Content)
	}
	for i := range r.Tools {
		n += min(len(r.Tools[i].CacheControl), 1)
	}
	return n
}

func marked(blocks []contentBlock) int {
	n := 0
	for i := range blocks {
		n += min(len(blocks[i].CacheControl), 1)
	}
	return n
}

func (m *blockMessage) check() error {
	if len(m.Content) == 0 {
		return errors.New("all messages must have non-empty content")
	}
	for i := range m.Content {
		b := &m.Content[i]
		switch {
		case b.Type == "text" && (b.Text == nil || strings.TrimSpace(*b.Text) == ""):
			return errors.New("text content blocks must contain non-whitespace text")
		case b.Type == "tool_use" && !bytes.HasPrefix(b.Input, []byte("{")):
			return errors.New("tool_use.input: Input should be a valid dictionary")
		}
	}
	return nil
}

func (r *messagesRequest) conversation() *conversation {
	c := &conversation{model: r.Model, maxTokens: r.MaxTokens, temperature: r.Temperature, stream: r.Stream}
	if len(r.System) > 0 {
		c.messages = append(c.messages, annotator.Message{Role: annotator.RoleSystem, Content: textOf(r.System)})
	}
	for i := range r.Messages {
		c.messages = append(c.messages, r.Messages[i].canonical()...)
	}
	for _, t := range r.Tools {
		c.tools = append(c.tools, annotator.ToolDefinition{
			Name: t.Name, Description: t.Description,
			Schema: t.InputSchema,
		})
	}
	if r.ToolChoice.Type != "auto" {
		c.salt = r.ToolChoice.Type
	}
	switch r.ToolChoice.Type {
	case "any":
		c.choice = "required"
	case "tool":
		c.choice, c.allowed = "required", []string{r.ToolChoice.Name}
	default:
		c.choice = r.ToolChoice.Type
	}
	return c
}

// canonical puts each tool result in a separate message, as in chat completions.
func (m *blockMessage) canonical() []annotator.Message {
	said := annotator.Message{Role: m.Role, Content: textOf(m.Content)}
	var all []annotator.Message
	for i := range m.Content {
		switch b := &m.Content[i]; b.Type {
		case "tool_result":
			all = append(all, annotator.Message{Role: annotator.RoleTool, Content: b.Content, ToolCallID: b.ToolUseID})
		case "tool_use":
			said.ToolCalls = append(said.ToolCalls, annotator.ToolCall{
				ID: b.ID, Name: b.Name,
				Arguments: string(b.Input),
			})
		}
	}
	if len(all) == 0 || said.Content != "" {
		all = append(all, said)
	}
	return all
}

func textOf(blocks []contentBlock) string {
	var text strings.Builder
	for i := range blocks {
		if blocks[i].Text != nil {
			text.WriteString(*blocks[i].Text)
		}
	}
	return text.String()
}

// serveMessageTokens answers POST /v1/messages/count_tokens.
func (s *Server) serveMessageTokens(w http.ResponseWriter, r *http.Request) {
	d := anthropic{}
	body, err := readBody(r)
	if err != nil {
		badBody().write(w, d)
		return
	}
	var wire messagesRequest
	err = readStrictly(body, &wire)
	wire.MaxTokens = 1 // this route has no such field
	p, unread := newPrompt(wire.conversation().body(), &prompt{})
	if err := cmp.Or(err, wire.check(), unread); err != nil {
		badJSON(err).write(w, d)
		return
	}
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": p.end.tokens})
}

// serveEitherModels answers GET /v1/models, which two wires share. Requests of the Anthropic API have a header with its
// version.
func (s *Server) serveEitherModels(w http.ResponseWriter, r *http.Request) {
	var d dialect = chat{}
	if r.Header.Get(anthropicVersion) != "" {
		d = anthropic{}
	}
	s.serveModels(d)(w, r)
}
