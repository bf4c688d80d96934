package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// event is one event of a stream.
type event struct {
	Type    string      `json:"type"`
	Index   int         `json:"index"`
	Message *answer     `json:"message"`       // of message_start
	Block   *blockPart  `json:"content_block"` // of content_block_start
	Delta   *blockDelta `json:"delta"`         // of content_block_delta and message_delta
	Usage   *usage      `json:"usage"`         // of message_delta
}

// answer is a whole reply, or the beginning of one that is streamed.
type answer struct {
	Model      string      `json:"model"`
	Content    []blockPart `json:"content"`
	StopReason string      `json:"stop_reason"`
	Usage      *usage      `json:"usage"`
}

type blockPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
}

type blockDelta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

// usage is the usage so far.
type usage struct {
	Input        int `json:"input_tokens"` // after the last breakpoint that was found in the cache
	CacheWritten int `json:"cache_creation_input_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	Output       int `json:"output_tokens"`
}

// UnmarshalJSON reads a usage. An unreadable one does not spoil the reply.
func (u *usage) UnmarshalJSON(raw []byte) error {
	type account usage
	var read account
	if json.Unmarshal(raw, &read) == nil {
		*u = usage(read)
	}
	return nil
}

// assembler builds a reply from its blocks.
type assembler struct {
	begun   bool // a message has arrived
	blocks  []*blockBuilder
	byIndex map[int]*blockBuilder // the newest block at an index
	growing *blockBuilder         // that the last event has added to
	model   string
	stop    string
	usage   usage
}

// blockBuilder is a block that grows.
type blockBuilder struct {
	blockPart
	text strings.Builder // of a text, of reasoning, or of the arguments of a call
}

var _ endpoint.Assembler = (*assembler)(nil)

var (
	errNoMessage = errors.New("it is no message")
	errNoEvent   = errors.New("it is no event")
)

// Whole adds a reply that came as one object.
func (a *assembler) Whole(body []byte) error {
	var m answer
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	if m.Content == nil {
		return errNoMessage
	}
	a.message(&m)
	return endpoint.CheckParts(len(a.blocks))
}

// Event adds an event by the fields that it has. The API adds events over time.
func (a *assembler) Event(_ string, data []byte) (end bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, err
	}
	if e.Type == "" || e.Type == "error" {
		return false, errNoEvent
	}
	a.take(&e)
	return e.Type == "message_stop", endpoint.CheckParts(len(a.blocks))
}

func (a *assembler) take(e *event) {
	switch {
	case e.Message != nil:
		a.message(e.Message)
	case e.Block != nil:
		a.open(e.Index, e.Block)
	case e.Delta != nil && e.Delta.Type != "":
		a.goOn(e.Index, e.Delta)
	case e.Delta != nil:
		a.stop = cmp.Or(a.stop, e.Delta.StopReason)
	}
	a.account(e.Usage)
}

func (a *assembler) message(m *answer) {
	a.begun = true
	a.model, a.stop = m.Model, m.StopReason
	for i := range m.Content {
		a.open(i, &m.Content[i])
	}
	a.account(m.Usage)
}

func (a *assembler) open(index int, part *blockPart) {
	b := &blockBuilder{blockPart: *part}
	b.text.WriteString(part.Text + part.Thinking)
	a.blocks = append(a.blocks, b)
	if a.byIndex == nil {
		a.byIndex = map[int]*blockBuilder{}
	}
	a.byIndex[index] = b
}

// goOn adds a piece to the newest block with its index. Pieces of other kinds, such as signatures, are dropped.
func (a *assembler) goOn(index int, d *blockDelta) {
	if b := a.byIndex[index]; b != nil {
		b.text.WriteString(d.Text + d.Thinking + d.PartialJSON)
		a.growing = b
	}
}

// Growing returns what the last event has added to.
func (a *assembler) Growing() string {
	if a.growing == nil {
		return ""
	}
	return a.growing.text.String()
}

// account adds a usage: a later one may leave out what an earlier one had, and some servers count the prompt only in
// the last one.
func (a *assembler) account(u *usage) {
	if u == nil {
		return
	}
	a.usage.Input = cmp.Or(u.Input, a.usage.Input)
	a.usage.CacheWritten = cmp.Or(u.CacheWritten, a.usage.CacheWritten)
	a.usage.CacheRead = cmp.Or(u.CacheRead, a.usage.CacheRead)
	a.usage.Output = cmp.Or(u.Output, a.usage.Output)
}

// total returns the usage in the form of all wires: the API counts the cached part of the prompt apart.
func (u usage) total() annotator.Usage {
	prompt := u.Input + u.CacheWritten + u.CacheRead
	if prompt < max(u.CacheRead, 1) || min(u.Input, u.CacheWritten, u.CacheRead, u.Output) < 0 {
		return annotator.Usage{}
	}
	return annotator.Usage{Prompt: prompt, Cached: u.CacheRead, Completion: u.Output, Exact: true}
}

// Reply returns the whole reply, or a fault where its end is missing.
func (a *assembler) Reply() (*model.Reply, error) {
	switch {
	case !a.begun:
		return nil, endpoint.ErrNoReply
	case a.stop == "":
		return nil, endpoint.Unusable("the endpoint's answer ended before the reply did")
	}
	var text, reasoning strings.Builder
	r := &model.Reply{Finish: finish(a.stop), Model: a.model, Usage: a.usage.total()}
	for _, b := range a.blocks {
		switch b.Type {
		case blockText:
			text.WriteString(b.text.String())
		case blockThinking:
			reasoning.WriteString(b.text.String())
		case blockToolUse:
			r.Calls = append(r.Calls, annotator.ToolCall{ID: b.ID, Name: b.Name, Arguments: b.arguments()})
		}
	}
	r.Text, r.Reasoning = text.String(), reasoning.String()
	return r, nil
}

// arguments returns the pieces of the arguments. Where there are none it returns the input that the block began with,
// which is an empty object in a stream.
func (b *blockBuilder) arguments() string {
	if b.text.Len() > 0 {
		return b.text.String()
	}
	return string(b.Input)
}

// finish translates a stop reason into the names of chat completions. An unknown one stays as it is.
func finish(reason string) string {
	switch reason {
	case "end_turn", "stop_sequence":
		return "stop"
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "tool_use":
		return "tool_calls"
	case "refusal":
		return "content_filter"
	}
	return reason
}
