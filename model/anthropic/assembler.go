package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"

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

// usage is the usage so far. A field is nil if it was not sent, which is not the same as 0.
type usage struct {
	Input        *int `json:"input_tokens"` // after the last breakpoint that was found in the cache
	CacheWritten *int `json:"cache_creation_input_tokens"`
	CacheRead    *int `json:"cache_read_input_tokens"`
	Output       *int `json:"output_tokens"`
}

// prompt returns the number of tokens in the prompt; 0 if a count is negative. The API counts cached tokens apart.
func (u *usage) prompt() (n int) {
	for _, part := range []int{orZero(u.Input), orZero(u.CacheWritten), orZero(u.CacheRead)} {
		if part < 0 {
			return 0
		}
		n += part
	}
	return n
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
	endpoint.Builder
	usage usage
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
	return nil
}

// Event adds an event by the fields that it has. The API adds events over time.
func (a *assembler) Event(_ string, data []byte) (end bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, err
	}
	switch {
	case e.Type == "", e.Type == "error":
		return false, errNoEvent
	case e.Message != nil:
		a.message(e.Message)
	case e.Block != nil:
		a.open(e.Index, e.Block)
	case e.Delta != nil && e.Delta.Type != "":
		a.appendDelta(e.Index, e.Delta)
	case e.Delta != nil:
		a.Finish = cmp.Or(a.Finish, finish(e.Delta.StopReason))
	}
	a.addUsage(e.Usage)
	return e.Type == "message_stop", nil
}

func (a *assembler) message(m *answer) {
	a.Begun, a.Model, a.Finish = true, m.Model, finish(m.StopReason)
	for i := range m.Content {
		a.open(i, &m.Content[i])
	}
	a.addUsage(m.Usage)
}

func (a *assembler) open(index int, b *blockPart) {
	p := a.Open(index, endpoint.OtherPart)
	switch b.Type {
	case blockText:
		p.Kind = endpoint.TextPart
	case blockThinking:
		p.Kind = endpoint.ReasoningPart
	case blockToolUse:
		p.Kind, p.ID, p.Name = endpoint.CallPart, b.ID, b.Name
		p.Whole = string(b.Input)
	}
	a.Append(p, b.Text+b.Thinking)
}

// appendDelta adds a piece to the newest block with its index. Pieces of other kinds, such as signatures, are dropped.
// The input that a call began with is an empty object in a stream; the pieces replace it.
func (a *assembler) appendDelta(index int, d *blockDelta) {
	p := a.Part(index)
	if p == nil {
		return
	}
	if d.PartialJSON != "" {
		p.Whole = ""
	}
	a.Append(p, d.Text+d.Thinking+d.PartialJSON)
}

// addUsage adds a usage. A later one may omit fields, or divide the prompt differently. vLLM begins with the whole
// prompt as input, and ends with its cached and its uncached part. A usage without a prompt does not change the earlier
// counts.
func (a *assembler) addUsage(u *usage) {
	if u == nil {
		return
	}
	t := &a.usage
	if u.prompt() > 0 {
		t.Input = cmp.Or(u.Input, t.Input)
		t.CacheWritten = cmp.Or(u.CacheWritten, t.CacheWritten)
		t.CacheRead = cmp.Or(u.CacheRead, t.CacheRead)
	}
	t.Output = cmp.Or(u.Output, t.Output)
	a.SetUsage(t.prompt(), t.CacheRead, orZero(t.Output))
}

// orZero returns a number, or 0 if it is missing.
func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
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
