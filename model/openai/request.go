package openai

import (
	"io"
	"net"
	"slices"

	"annotator"
	"annotator/model"

	sdk "github.com/sashabaranov/go-openai"
)

// segments are the bytes of a body in several pieces, so that a long history need not be copied to stand between others.
type segments [][]byte

func (s segments) size() (n int64) {
	for _, piece := range s {
		n += int64(len(piece))
	}
	return n
}

func (s segments) open() (io.ReadCloser, error) {
	pieces := net.Buffers(slices.Clone(s)) // to read them uses them up
	return io.NopCloser(&pieces), nil
}

// settings are what stands behind messages and tools, in this order.
type settings struct {
	ToolChoice    any                `json:"tool_choice,omitempty"` // sdk.ToolChoice for one tool, else a word
	MaxTokens     int                `json:"max_tokens,omitempty"`
	Temperature   float64            `json:"temperature"` // 0 is no default, and go-openai leaves it out
	Seed          int                `json:"seed,omitempty"`
	Stream        bool               `json:"stream"`
	StreamOptions *sdk.StreamOptions `json:"stream_options,omitempty"`
}

// encodeRequest renders a request's body. What changes least stands first, for the caches of proxies as of servers.
func encodeRequest(r *model.Request) (segments, error) {
	head, err := encodeHead(r)
	if err != nil {
		return nil, requestFault(err)
	}
	s := settings{MaxTokens: r.MaxTokens, Temperature: r.Temperature, Seed: r.Seed, Stream: r.Stream}
	if r.Stream {
		s.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	}
	if len(r.Tools) > 0 {
		s.ToolChoice = toolChoice(&r.Choice)
	}
	tail, err := marshal(s)
	if err != nil {
		return nil, requestFault(err)
	}
	tail[0] = ',' // it goes on in the object that the head opened
	if len(r.Tools) == 0 {
		return segments{head, r.History, []byte(`]`), tail}, nil
	}
	return segments{head, r.History, []byte(`],"tools":`), r.Tools, tail}, nil
}

// toolChoice says what chat completions can say of a choice: all tools, none, any, or one by name.
func toolChoice(c *model.Choice) any {
	switch {
	case c.Mode == model.ChoiceNone:
		return "none"
	case c.Mode == model.ChoiceRequired && len(c.Allowed) == 1:
		return sdk.ToolChoice{Type: sdk.ToolTypeFunction, Function: sdk.ToolFunction{Name: c.Allowed[0]}}
	case c.Mode == model.ChoiceRequired:
		return "required"
	}
	return "auto"
}

// encodeHead renders what stands before the history.
func encodeHead(r *model.Request) ([]byte, error) {
	name, err := marshal(r.Model)
	if err != nil {
		return nil, err
	}
	head := append(append([]byte(`{"model":`), name...), `,"messages":[`...)
	if r.System == "" {
		return head, nil
	}
	system, err := encodeMessage(&annotator.Message{Role: annotator.RoleSystem, Content: r.System})
	if err != nil {
		return nil, err
	}
	head = append(head, system...)
	if len(r.History) > 0 {
		head = append(head, ',')
	}
	return head, nil
}

func requestFault(err error) *model.Fault {
	return &model.Fault{Kind: annotator.Misused, Message: err.Error(), Err: err}
}
