package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"

	"annotator/model"
	"annotator/model/endpoint"
)

// chunk is an event of a stream, or a whole reply.
type chunk struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage json.RawMessage `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []piece `json:"parts"`
	} `json:"content"`
	Finish  string `json:"finishReason"`
	Message string `json:"finishMessage"`
}

// piece is a part of a reply. One that is neither text nor a call is ignored. A call always comes whole.
type piece struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// assembler builds a reply from its chunks.
type assembler struct {
	endpoint.Builder
	message string // why the reply ended, in words
}

// Whole adds a reply that came as one object, or as the array of a stream without events.
func (a *assembler) Whole(body []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil {
		list = []json.RawMessage{body}
	}
	for _, data := range list {
		if err := a.addChunk(data); err != nil {
			return err
		}
	}
	return nil
}

// Event adds an event of a stream. The end of the stream completes the reply: no event is marked as the last, and some
// servers send a finish reason with every chunk.
func (a *assembler) Event(_ string, data []byte) (end bool, err error) {
	return false, a.addChunk(data)
}

func (a *assembler) addChunk(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if len(c.Candidates) == 0 && model.CarriesError(data) {
		return endpoint.ErrorBody(data)
	}
	a.Model = cmp.Or(a.Model, c.Model)
	a.setUsage(c.Usage)
	a.Begun = a.Begun || len(c.Candidates) > 0 || c.Feedback.BlockReason != ""
	if c.Feedback.BlockReason != "" {
		a.Finish = finishFilter
	}
	for i := range c.Candidates {
		if c.Candidates[i].Index == 0 {
			a.addCandidate(&c.Candidates[i])
		}
	}
	return nil
}

func (a *assembler) addCandidate(c *candidate) {
	for i := range c.Content.Parts {
		a.add(&c.Content.Parts[i])
	}
	a.Finish = cmp.Or(c.Finish, a.Finish)
	a.message = cmp.Or(c.Message, a.message)
}

func (a *assembler) add(p *piece) {
	switch {
	case p.Thought: // reasoning, which nothing reads
		a.Write(endpoint.ReasoningPart, p.Text)
	case p.Call != nil:
		call := a.Open(a.Parts(), endpoint.CallPart)
		call.ID, call.Name, call.Whole = p.Call.ID, p.Call.Name, compactJSON(p.Call.Args)
	default:
		a.Write(endpoint.TextPart, p.Text)
	}
}

// compactJSON returns arguments as text, in one form whether the server indents them or not.
func compactJSON(args json.RawMessage) string {
	var compact bytes.Buffer
	if len(args) == 0 || bytes.Equal(args, []byte("null")) || json.Compact(&compact, args) != nil {
		return "{}" // a tool without parameters has no arguments
	}
	return compact.String()
}

// Reply returns the whole reply, or a fault where the server could not read a call in it. See endpoint.Assembler.
func (a *assembler) Reply() (*model.Reply, error) {
	r, err := a.Builder.Reply()
	if err != nil {
		return nil, err
	}
	switch r.Finish {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		f := endpoint.Unusable("the server could not read the model's reply: %.200q", cmp.Or(a.message, r.Finish))
		f.Code, f.Usage = r.Finish, r.Usage
		return nil, f
	}
	r.Finish = finish(r)
	return r, nil
}

// finishFilter is the finish reason of chat completions for a reply that was withheld.
const finishFilter = "content_filter"

// finish translates a finish reason into the names of chat completions. Others stay as they are.
func finish(r *model.Reply) string {
	switch r.Finish {
	case "STOP":
		if len(r.Calls) > 0 {
			return "tool_calls"
		}
		return "stop"
	case "MAX_TOKENS":
		return "length"
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR":
		return finishFilter
	}
	return r.Finish
}

// setUsage reads the usage in a chunk; later chunks have more. Reasoning is counted apart from the text.
func (a *assembler) setUsage(raw json.RawMessage) {
	var u struct {
		Prompt     int `json:"promptTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
	}
	if raw != nil && json.Unmarshal(raw, &u) == nil && min(u.Candidates, u.Thoughts) >= 0 {
		a.SetUsage(u.Prompt, &u.Cached, u.Candidates+u.Thoughts) // the API leaves out what is 0
	}
}
