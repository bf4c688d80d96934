package openai

import (
	"cmp"
	"slices"
	"strings"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// assembler builds a reply from its chunks.
type assembler struct {
	begun     bool // a choice has arrived
	text      strings.Builder
	reasoning strings.Builder
	growing   *strings.Builder // one of these, or the arguments of a call; nil before the first
	calls     []*callBuilder
	byIndex   map[int]*callBuilder // the newest call at an index
	refused   bool
	finish    string
	late      bool // the first finish came before the calls
	always    bool // every chunk has a finish reason: the first had one
	model     string
	usage     annotator.Usage
}

type callBuilder struct {
	index     int
	id, name  string
	arguments strings.Builder
}

func (a *assembler) take(c *chunk) {
	a.model = cmp.Or(a.model, c.Model)
	if u, ok := c.usage(); ok {
		a.usage = u
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			a.choose(&c.Choices[i])
		}
	}
}

// choose adds a chunk of a choice. The first finish reason counts: some servers send another one, with the calls once
// more. Others send a finish reason with every chunk, of which only the last one counts, or send the calls after it.
func (a *assembler) choose(c *choice) {
	said := cmp.Or(c.Delta, c.Message, &delta{})
	calls := said.calls()
	if !a.begun {
		a.begun, a.always = true, c.Finish != ""
	}
	if a.finish != "" && !a.always {
		a.late = a.late || len(a.calls) == 0 && len(calls) > 0
		if !a.late {
			return
		}
	}
	a.finish = cmp.Or(c.Finish, a.finish)
	a.say(said)
	for i := range calls {
		if c.Delta != nil {
			a.goOn(&calls[i])
		} else {
			a.open(len(a.calls), &calls[i])
		}
	}
}

func (a *assembler) say(d *delta) {
	a.grow(&a.text, string(d.Content+d.Refusal))
	a.refused = a.refused || d.Refusal != ""
	a.grow(&a.reasoning, d.reasoning())
}

func (a *assembler) grow(part *strings.Builder, by string) {
	if by != "" {
		part.WriteString(by)
		a.growing = part
	}
}

// Growing returns what the last chunk has added to.
func (a *assembler) Growing() string {
	if a.growing == nil {
		return ""
	}
	return a.growing.String()
}

// goOn adds a piece of a call. Where the server sends no index, a piece with a name begins a call. Some servers give
// every call the same index: then a new id together with a name begins one. An id alone does not, since some servers
// make a new one for each piece.
func (a *assembler) goOn(p *callPart) {
	index := len(a.calls) - 1
	if p.Index != nil {
		index = *p.Index
	} else if p.Function.Name != "" {
		index++
	}
	call := a.byIndex[index]
	if call == nil || p.Function.Name != "" && p.ID != "" && call.id != "" && p.ID != call.id {
		a.open(index, p)
		return
	}
	call.id, call.name = cmp.Or(call.id, p.ID), cmp.Or(call.name, p.Function.Name)
	a.grow(&call.arguments, string(p.Function.Arguments))
}

func (a *assembler) open(index int, p *callPart) {
	call := &callBuilder{index: index, id: p.ID, name: p.Function.Name}
	call.arguments.WriteString(string(p.Function.Arguments))
	a.calls = append(a.calls, call)
	if a.byIndex == nil {
		a.byIndex = map[int]*callBuilder{}
	}
	a.byIndex[index] = call
}

// Reply returns the whole reply, or a fault where its end is missing.
func (a *assembler) Reply() (*model.Reply, error) {
	switch {
	case !a.begun:
		return nil, endpoint.ErrNoReply
	case a.finish == "":
		return nil, endpoint.Unusable("the endpoint's answer ended before the reply did")
	}
	slices.SortStableFunc(a.calls, func(x, y *callBuilder) int { return cmp.Compare(x.index, y.index) })
	r := &model.Reply{Text: a.text.String(), Reasoning: a.reasoning.String(), Finish: a.finish, Model: a.model, Usage: a.usage}
	if a.refused {
		r.Finish = "content_filter"
	}
	for _, c := range a.calls {
		r.Calls = append(r.Calls, annotator.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	return r, nil
}
