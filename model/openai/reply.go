package openai

import (
	"encoding/json"

	"annotator/model"
	"annotator/model/endpoint"
)

var _ endpoint.Assembler = (*assembler)(nil)

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
	a.take(&c)
	return endpoint.CheckParts(len(a.calls))
}

// Event adds a chunk of a stream. The end of the stream completes the reply: usage may follow the last text.
func (a *assembler) Event(_ string, data []byte) (end bool, err error) { return false, a.Whole(data) }
