package responses

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"annotator/model"
	"annotator/model/endpoint"
)

// event is an event of a stream, without the fields that are not read.
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
	Content   []part `json:"content"` // of a message, or of unencrypted reasoning
	Summary   []part `json:"summary"` // of reasoning
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type part struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// assembler builds a reply from its items. The API sends a whole item when it is done, and all items again in the last
// event. Some servers omit one of the two, so the most complete form counts.
type assembler struct {
	endpoint.Builder
	refused    bool
	incomplete string // why the reply is not complete
}

var _ endpoint.Assembler = (*assembler)(nil)

var (
	errNoResponse = errors.New("it is no response")
	errNoEvent    = errors.New("it is no event")
)

// Event adds an event by the type in its data. The API adds types over time.
func (a *assembler) Event(_ string, data []byte) (end bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, err
	}
	if e.Index < 0 || e.Index >= endpoint.MaxParts || e.Type == "" || e.Type == "error" {
		return false, errNoEvent
	}
	a.Begun = true
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		return false, a.setItem(e.Index, e.Item)
	case "response.output_text.delta", "response.refusal.delta", "response.function_call_arguments.delta",
		"response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		return false, a.appendDelta(&e)
	case "response.completed", "response.incomplete", "response.failed":
		return true, a.Whole(e.Response)
	}
	return false, nil
}

// setItem sets an item at its index. It keeps the deltas received so far, in case the item has no text.
func (a *assembler) setItem(index int, it *item) error {
	if it == nil {
		return nil
	}
	p := a.Part(index)
	if p == nil {
		p = a.Open(index, endpoint.OtherPart)
	}
	p.Kind, p.ID, p.Name = it.kind(), it.CallID, it.Name
	p.Whole = it.content()
	for _, part := range it.Content {
		a.refused = a.refused || part.Refusal != ""
	}
	return endpoint.CheckParts(len(it.Content) + len(it.Summary))
}

// appendDelta adds a delta to its item.
func (a *assembler) appendDelta(e *event) error {
	var delta string
	err := json.Unmarshal(e.Delta, &delta)
	if p := a.Part(e.Index); p != nil {
		a.Append(p, delta)
	}
	return err
}

// Whole adds the whole reply, or returns why there is none.
func (a *assembler) Whole(body []byte) error {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	switch {
	case r.Status == "failed", model.CarriesError(body):
		return endpoint.ErrorBody(body)
	case r.Status == "":
		return errNoResponse
	case r.Status == "completed", r.Status == "incomplete":
		a.Finish = r.Status
	}
	a.Begun, a.Model, a.incomplete = true, r.Model, r.Incomplete.Reason
	a.setUsage(r.Usage)
	if len(r.Output) > 0 {
		a.Clear()
	}
	for i, it := range r.Output {
		if err := a.setItem(i, it); err != nil {
			return err
		}
	}
	return nil
}

// setUsage reads the usage of a reply.
func (a *assembler) setUsage(raw json.RawMessage) {
	var u struct {
		Input   int `json:"input_tokens"`
		Details struct {
			Cached *int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Output int `json:"output_tokens"`
	}
	if raw != nil && json.Unmarshal(raw, &u) == nil {
		a.SetUsage(u.Input, u.Details.Cached, u.Output)
	}
}

func (it *item) kind() endpoint.Kind {
	switch it.Type {
	case itemMessage:
		return endpoint.TextPart
	case itemReasoning:
		return endpoint.ReasoningPart
	case itemCall:
		return endpoint.CallPart
	}
	return endpoint.OtherPart
}

// content returns the text of an item. The summary of reasoning counts only where the reasoning itself is missing.
func (it *item) content() string {
	if it.Type == itemCall {
		return it.Arguments
	}
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
	return strings.Join(words, separator)
}

// Reply returns the whole reply, with the finish reasons of chat completions. An unknown one stays as it is. See
// endpoint.Assembler.
func (a *assembler) Reply() (*model.Reply, error) {
	r, err := a.Builder.Reply()
	if err != nil {
		return nil, err
	}
	switch {
	case r.Finish == "incomplete" && a.incomplete == "max_output_tokens":
		r.Finish = "length"
	case r.Finish == "incomplete":
		r.Finish = cmp.Or(a.incomplete, r.Finish)
	case a.refused: // the API keeps a refusal apart from the text
		r.Finish = "content_filter"
	case len(r.Calls) > 0:
		r.Finish = "tool_calls"
	default:
		r.Finish = "stop"
	}
	return r, nil
}
