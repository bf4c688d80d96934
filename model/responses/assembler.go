package responses

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
)

// event is the part of a stream event that is read.
type event struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Item     *item           `json:"item"`     // of response.output_item.added and .done
	Delta    json.RawMessage `json:"delta"`    // of many
	Response json.RawMessage `json:"response"` // of the first and the last
}

// response is a whole reply.
type response struct {
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	Output     []*item         `json:"output"`
	Usage      json.RawMessage `json:"usage"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// item is a part of a reply: a message, a call, reasoning. Other types are ignored.
type item struct {
	Type      string `json:"type"`
	Content   []part `json:"content"` // of a message, or of a thought that is open
	Summary   []part `json:"summary"` // of a thought
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`

	deltas *strings.Builder // nil where none came
}

type part struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// assembler builds a reply from its items. An item comes whole when it is done, and the last event holds all of them
// again. Servers leave out one or the other, so the most complete form counts.
type assembler struct {
	begun bool    // an event of the API has arrived
	items []*item // by their index in the output; nil for one that has not begun
	parts int     // of all items
	grown *item   // that the last delta has added to
	end   response
}

var _ endpoint.Assembler = (*assembler)(nil)

var (
	errNoResponse = errors.New("it is no response")
	errNoEvent    = errors.New("it is no event")
)

// Whole adds a reply that came as one object.
func (a *assembler) Whole(body []byte) error { return a.finish(body) }

// Event adds an event by the type in its data. The API adds types over time.
func (a *assembler) Event(_ string, data []byte) (end bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, err
	}
	if e.Index < 0 || e.Type == "" || e.Type == "error" {
		return false, errNoEvent
	}
	if err := endpoint.CheckParts(e.Index + 1); err != nil { // the slice has room for all items before it
		return false, err
	}
	a.begun = true
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		return false, a.place(e.Index, e.Item)
	case "response.output_text.delta", "response.refusal.delta", "response.function_call_arguments.delta",
		"response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		return false, a.grow(&e)
	case "response.completed", "response.incomplete", "response.failed":
		return true, a.finish(e.Response)
	}
	return false, nil
}

// place sets an item at its index. It keeps the deltas of its predecessor, in case the item comes without text.
func (a *assembler) place(index int, it *item) error {
	for len(a.items) <= index {
		a.items = append(a.items, nil)
	}
	if it == nil {
		return nil
	}
	if known := a.items[index]; known != nil {
		it.deltas = known.deltas
	}
	a.items[index] = it
	a.parts += len(it.Content) + len(it.Summary)
	return endpoint.CheckParts(a.parts)
}

// grow adds a delta to its item.
func (a *assembler) grow(e *event) error {
	var delta string
	if err := json.Unmarshal(e.Delta, &delta); err != nil {
		return err
	}
	if e.Index >= len(a.items) || a.items[e.Index] == nil {
		return nil
	}
	it := a.items[e.Index]
	if it.deltas == nil {
		it.deltas = new(strings.Builder)
	}
	it.deltas.WriteString(delta)
	a.grown = it
	return nil
}

// Growing returns what the last delta has added to.
func (a *assembler) Growing() string {
	if a.grown == nil {
		return ""
	}
	return a.grown.said()
}

// said returns the deltas of an item, joined.
func (it *item) said() string {
	if it.deltas == nil {
		return ""
	}
	return it.deltas.String()
}

// finish adds the whole reply, or returns why there is none.
func (a *assembler) finish(body []byte) error {
	if err := json.Unmarshal(body, &a.end); err != nil {
		return err
	}
	switch {
	case a.end.Status == "failed", model.CarriesError(body):
		return endpoint.ErrorBody(body)
	case a.end.Status == "":
		return errNoResponse
	}
	if len(a.end.Output) > 0 {
		a.items = a.end.Output
	}
	return nil
}

// Reply returns the whole reply, or a fault where its end is missing.
func (a *assembler) Reply() (*model.Reply, error) {
	switch {
	case a.end.Status == "" && !a.begun:
		return nil, endpoint.ErrNoReply
	case a.end.Status != "completed" && a.end.Status != "incomplete":
		return nil, endpoint.Unusable("the endpoint's answer ended before the reply did")
	}
	var text, reasoning strings.Builder
	r := &model.Reply{Finish: "stop", Model: a.end.Model, Usage: readUsage(a.end.Usage)}
	for _, it := range a.items {
		switch {
		case it == nil:
		case it.Type == itemMessage:
			text.WriteString(it.words())
		case it.Type == itemReasoning:
			reasoning.WriteString(it.words())
		case it.Type == itemCall:
			r.Finish = "tool_calls"
			r.Calls = append(r.Calls, annotator.ToolCall{ID: it.CallID, Name: it.Name, Arguments: cmp.Or(it.Arguments, it.said())})
		}
	}
	r.Text, r.Reasoning = text.String(), reasoning.String()
	if a.refused() {
		r.Finish = "content_filter"
	}
	if a.end.Status == "incomplete" {
		r.Finish = cutShort(a.end.Incomplete.Reason)
	}
	return r, nil
}

// words returns the text of a message or of reasoning. The summary of reasoning counts only where the reasoning itself
// is missing.
func (it *item) words() string {
	var words []string
	parts := it.Content
	if len(parts) == 0 {
		parts = it.Summary
	}
	for _, p := range parts {
		words = append(words, p.Text+p.Refusal)
	}
	separator := ""
	if it.Type == itemReasoning {
		separator = "\n\n"
	}
	return cmp.Or(strings.Join(words, separator), it.said())
}

// refused reports whether a part of the reply is a refusal, which the API keeps apart from the text.
func (a *assembler) refused() bool {
	for _, it := range a.items {
		for i := 0; it != nil && i < len(it.Content); i++ {
			if it.Content[i].Refusal != "" {
				return true
			}
		}
	}
	return false
}

// cutShort translates a reason into the names of chat completions. An unknown one stays as it is.
func cutShort(reason string) string {
	if reason == "max_output_tokens" {
		return "length"
	}
	return cmp.Or(reason, "incomplete")
}

// readUsage returns the usage of a reply. An unreadable one does not spoil the reply.
func readUsage(raw json.RawMessage) annotator.Usage {
	var u struct {
		Input   int `json:"input_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Output int `json:"output_tokens"`
	}
	if raw == nil || json.Unmarshal(raw, &u) != nil || u.Input <= 0 || u.Output < 0 {
		return annotator.Usage{}
	}
	return annotator.Usage{Prompt: u.Input, Cached: min(max(u.Details.Cached, 0), u.Input), Completion: u.Output, Exact: true}
}
