// Package textcalls finds the tool calls that a model wrote into the text of its reply. This occurs if the server has
// no parser for the model's form of calls. The package also finds the blocks of codex updates.
//
// A call in a text is valid only if it is unambiguous. It is complete, and its arguments are one JSON object without
// duplicate keys. The tool exists, and the arguments fit its schema. If the form allows several readings, exactly one
// of them fits the schemas of the tools. One invalid call makes all calls of the reply invalid, because what the model
// meant is then unknown. A quotation of the story is no call: see Found.RemoveQuotations. Nothing in a block of codex
// updates is a call: see Updates.
//
// The table forms lists the forms that are read. Slip finds other texts that look like a call.
package textcalls

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
)

// Limits of what is read.
const (
	maxText  = 1 << 20 // bytes; a longer text is not searched
	maxCalls = 250
)

// Limits of the text around calls without a mark of their own, in characters. Some models write their reasoning before
// a call. A call followed by much text is an example in an explanation.
const (
	maxBefore = 4000
	maxBehind = 1000 // between calls, too
)

// Tools are the tools that a text may call.
type Tools struct {
	Names []string
	Check func(annotator.ToolCall) error // returns why a call cannot be run, for the model; nil if it can
}

// Known reports whether there is a tool with the name.
func (t *Tools) Known(name string) bool { return slices.Contains(t.Names, name) }

// fit reports whether all calls can be run.
func (t *Tools) fit(calls []writtenCall) bool {
	return !slices.ContainsFunc(calls, func(c writtenCall) bool { return t.Check(c.ToolCall) != nil })
}

// Found has the parts of a text that have the shape of calls.
type Found struct {
	text   string
	tools  *Tools
	pieces []piece
	full   bool // there may be more
}

// Find searches a text for calls of tools, in linear time. It finds none in a text that is not valid UTF-8.
func Find(text string, tools *Tools) *Found {
	if len(text) > maxText || !utf8.ValidString(text) {
		return &Found{text: text, tools: tools}
	}
	s := scanner{text: text, tools: tools}
	s.scan()
	return &Found{text: text, tools: tools, pieces: s.pieces, full: len(s.pieces) > maxCalls}
}

// Around returns the start and end of the valid calls that include a position; ok is false if there are none. The calls
// are complete, and they are incomplete in the text before the position.
func Around(text string, at int, tools *Tools) (start, end int, ok bool) {
	for _, p := range Find(text, tools).pieces {
		if p.start >= at || at >= p.end || p.wrong != "" || !tools.fit(p.calls) {
			continue
		}
		closing := ""
		if name := tagName.FindStringSubmatch(p.mark); name != nil {
			closing = "</" + name[1]
		}
		before := text[p.start:at]
		inside := closing != "" && !strings.Contains(before, closing) && strings.Contains(text[at:p.end], closing)
		if whole, _, wrong := Find(before, tools).Calls(); inside || wrong != "" || len(whole) < len(p.calls) {
			return p.start, p.end, true
		}
	}
	return 0, 0, false
}

// tagName matches the name in a mark that is a tag.
var tagName = regexp.MustCompile(`^<([\w:]+)`)

// Empty reports whether nothing has the shape of a call.
func (f *Found) Empty() bool { return len(f.pieces) == 0 }

// calls reports whether any piece has a call.
func (f *Found) calls() bool {
	return slices.ContainsFunc(f.pieces, func(p piece) bool { return len(p.calls) > 0 })
}

// Calls returns the calls, without ids, and the rest of the text. If anything has the shape of a call and is invalid,
// there are no calls. wrong then describes the problem for the model.
func (f *Found) Calls() (calls []annotator.ToolCall, rest, wrong string) {
	var left strings.Builder
	at, before, marked := 0, 0, true
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.empty && f.calls() {
			continue
		}
		if p.wrong != "" {
			return nil, f.text, p.wrong
		}
		for j := range p.calls {
			if err := f.tools.Check(p.calls[j].ToolCall); err != nil {
				return nil, f.text, err.Error()
			}
			calls = append(calls, p.calls[j].ToolCall)
		}
		left.WriteString(f.text[at:p.start])
		if marked && !p.sure {
			marked, before = false, utf8.RuneCountInString(strings.TrimSpace(left.String()))
		}
		at = p.end
	}
	left.WriteString(f.text[at:])
	rest = strings.TrimSpace(left.String())
	if len(calls) > 0 {
		rest = strings.TrimSpace(leftover.ReplaceAllString(rest, ""))
	}
	if len(calls) > maxCalls || len(calls) > 0 && f.full {
		return nil, f.text, fmt.Sprintf("it makes more than %d calls", maxCalls)
	}
	if behind := utf8.RuneCountInString(rest) - before; !marked && (before > maxBefore || behind > maxBehind) {
		return nil, f.text, fmt.Sprintf("a call without a mark of its own stands among %d characters of other text",
			before+behind)
	}
	return calls, rest, ""
}

// leftover matches marks of chat templates between calls.
var leftover = regexp.MustCompile(`<\|(?:im_start|im_end|start|end|channel|message|call|eom_id|eot_id|` +
	`end_header_id)\|>|<\?xml\?>`)
