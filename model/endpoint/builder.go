package endpoint

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"annotator"
	"annotator/model"
)

// Builder collects the parts of a reply. The Assembler of each wire embeds it.
type Builder struct {
	Begun  bool   // a part of a reply has arrived
	Finish string // why the reply ended; "" until it has
	Model  string
	Usage  annotator.Usage

	parts   []*Part       // in the order in which they began
	newest  map[int]*Part // by index
	growing *Part         // to which text was appended last
}

// Part is a piece of text or of reasoning, or a call, of a reply.
type Part struct {
	Kind     Kind
	ID, Name string // of a call
	Whole    string // the content if it came whole; it replaces what was appended

	index    int
	appended strings.Builder
}

// Kind says what a part is. OtherPart is not included in the reply.
type Kind int

// The kinds. The content of a call is its arguments.
const (
	OtherPart Kind = iota
	TextPart
	ReasoningPart
	CallPart
)

func (p *Part) content() string { return cmp.Or(p.Whole, p.appended.String()) }

// Open begins a part. Part returns it until another begins at the same index.
func (b *Builder) Open(index int, kind Kind) *Part {
	p := &Part{Kind: kind, index: index}
	b.parts = append(b.parts, p)
	if b.newest == nil {
		b.newest = map[int]*Part{}
	}
	b.newest[index] = p
	return p
}

// Part returns the newest part at an index, nil where there is none.
func (b *Builder) Part(index int) *Part { return b.newest[index] }

// Append adds text to the content of a part.
func (b *Builder) Append(p *Part, text string) {
	if text != "" {
		p.appended.WriteString(text)
		b.growing = p
	}
}

// Write adds text to the one part of its kind, on wires that do not number such parts.
func (b *Builder) Write(kind Kind, text string) {
	index := math.MinInt + int(kind) // no server sends it
	p := b.Part(index)
	if p == nil {
		p = b.Open(index, kind)
	}
	b.Append(p, text)
}

// Clear removes all parts.
func (b *Builder) Clear() { b.parts, b.newest, b.growing = nil, nil, nil }

// SetUsage replaces the usage. cached is nil if the server does not report the cached tokens of the prompt. A negative
// count, or a prompt of 0, is ignored and does not invalidate the reply.
func (b *Builder) SetUsage(prompt int, cached *int, completion int) {
	if prompt <= 0 || completion < 0 {
		return
	}
	b.Usage = annotator.Usage{Prompt: prompt, Completion: completion, Exact: true}
	if cached != nil {
		b.Usage.Told, b.Usage.Cached = prompt, min(max(*cached, 0), prompt)
	}
}

// Parts returns how many parts have begun. See Assembler.
func (b *Builder) Parts() int { return len(b.parts) }

// Calls returns how many of the parts are calls.
func (b *Builder) Calls() (n int) {
	for _, p := range b.parts {
		if p.Kind == CallPart {
			n++
		}
	}
	return n
}

// Size returns how many bytes of the reply have arrived. See Assembler.
func (b *Builder) Size() (n int) {
	for _, p := range b.parts {
		n += len(p.Name) + max(len(p.Whole), p.appended.Len())
	}
	return n
}

// Growing returns the text so far of the part to which text was appended last. See Assembler.
func (b *Builder) Growing() string {
	if b.growing == nil {
		return ""
	}
	return b.growing.appended.String()
}

// Reply returns the whole reply, its parts ordered by index. See Assembler.
func (b *Builder) Reply() (*model.Reply, error) {
	switch {
	case !b.Begun:
		return nil, ErrNoReply
	case b.Finish == "":
		return nil, errCut()
	}
	slices.SortStableFunc(b.parts, func(x, y *Part) int { return cmp.Compare(x.index, y.index) })
	r := &model.Reply{Finish: b.Finish, Model: b.Model, Usage: b.Usage}
	var text, reasoning strings.Builder
	for _, p := range b.parts {
		switch p.Kind {
		case TextPart:
			text.WriteString(p.content())
		case ReasoningPart:
			reasoning.WriteString(p.content())
		case CallPart:
			r.Calls = append(r.Calls, annotator.ToolCall{ID: p.ID, Name: p.Name, Arguments: p.content()})
		}
	}
	r.Text, r.Reasoning = text.String(), reasoning.String()
	return r, nil
}
