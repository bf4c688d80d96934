package openai

import (
	"cmp"
	"encoding/json"

	"annotator/model"
	"annotator/model/chatwire"
	"annotator/model/endpoint"
)

// assembler builds a reply from its chunks.
type assembler struct {
	endpoint.Builder
	late    bool // the first finish reason preceded the calls
	always  bool // the first chunk had a finish reason, so every chunk has one
	refused bool
}

var _ endpoint.Assembler = (*assembler)(nil)

// Event adds a chunk of a stream. The end of the stream completes the reply: usage may follow the last text.
func (a *assembler) Event(_ string, data []byte) (end bool, err error) { return false, a.Whole(data) }

// Whole adds a reply that came as one object, which has the form of a chunk.
func (a *assembler) Whole(body []byte) error {
	var c chunk
	err := json.Unmarshal(body, &c)
	if (err != nil || len(c.Choices) == 0 || c.Error != nil) && model.CarriesError(body) {
		return endpoint.ErrorBody(body)
	}
	if err != nil {
		return err
	}
	a.Model = cmp.Or(a.Model, c.Model)
	for i := range c.Choices {
		a.addUsage(c.Choices[i].Usage, c.Timings)
		if c.Choices[i].Index == 0 {
			a.addChoice(&c.Choices[i])
		}
	}
	a.addUsage(c.Usage, c.Timings)
	return nil
}

// addChoice adds a chunk of a choice. The first finish reason counts: some servers send another one, with the calls
// once more. Others send a finish reason with every chunk, of which only the last one counts, or send the calls after
// it.
func (a *assembler) addChoice(c *choice) {
	message := cmp.Or(c.Delta, c.Message, &delta{})
	calls := message.calls()
	if !a.Begun {
		a.Begun, a.always = true, c.Finish != ""
	}
	if a.Finish != "" && !a.always {
		a.late = a.late || a.Calls() == 0 && len(calls) > 0
		if !a.late {
			return
		}
	}
	a.Finish = cmp.Or(c.Finish, a.Finish)
	a.Write(endpoint.TextPart, string(message.Content+message.Refusal))
	a.Write(endpoint.ReasoningPart, message.reasoning())
	a.refused = a.refused || message.Refusal != ""
	for i := range calls {
		if c.Delta == nil { // a whole reply
			calls[i].Index = new(a.Calls())
		}
		a.addCallPiece(&calls[i])
	}
}

// addCallPiece adds a piece of a call. Where the server sends no index, a piece with a name begins a call. Some servers
// give every call the same index: then a new id together with a name begins one. An id alone does not, since some
// servers make a new one for each piece.
func (a *assembler) addCallPiece(piece *chatwire.ToolCall) {
	c := piece.Canonical()
	index := a.Calls() - 1
	if piece.Index != nil {
		index = *piece.Index
	} else if c.Name != "" {
		index++
	}
	call := a.Part(index)
	if call == nil || c.Name != "" && c.ID != "" && call.ID != "" && c.ID != call.ID {
		call = a.Open(index, endpoint.CallPart)
	}
	call.ID, call.Name = cmp.Or(call.ID, c.ID), cmp.Or(call.Name, c.Name)
	a.Append(call, c.Arguments)
}

// addUsage reads a usage, which most chunks lack.
func (a *assembler) addUsage(tokens, own json.RawMessage) {
	var (
		u usage
		t timings
	)
	if tokens == nil || json.Unmarshal(tokens, &u) != nil {
		return
	}
	_ = json.Unmarshal(own, &t) // other servers send none, or something else
	a.SetUsage(u.Prompt, mostOf(u.Details.Cached, u.Hit, u.Cached, t.Cached), u.Completion)
}

// Reply returns the whole reply. See endpoint.Assembler.
func (a *assembler) Reply() (*model.Reply, error) {
	r, err := a.Builder.Reply()
	if err == nil && a.refused {
		r.Finish = "content_filter"
	}
	return r, err
}
