package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"annotator/model"
)

// listed is a model of the list, with what servers add to OpenAI's form.
type listed struct {
	ID            string `json:"id"`
	MaxModelLen   int    `json:"max_model_len"`    // vLLM
	ContextLength int    `json:"context_length"`   // routers
	MaxInput      int    `json:"max_input_tokens"` // Anthropic
	Meta          struct {
		Context        int `json:"n_ctx"`
		TrainedContext int `json:"n_ctx_train"`
	} `json:"meta"` // llama.cpp
}

// Models has the list of models read that stands behind a path, in OpenAI's form, which Anthropic's is, too. A failure is a
// *model.Fault.
func (c *Client) Models(ctx context.Context, path string) (models []model.Model, err error) {
	err = c.Fetch(ctx, &Call{URL: c.base + path}, func(body []byte) error {
		models, err = readModels(body)
		return err
	})
	return models, err
}

func readModels(body []byte) ([]model.Model, error) {
	var list struct {
		Data []listed `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil {
		return nil, errors.New("it is no list of models")
	}
	models := make([]model.Model, len(list.Data))
	for i, m := range list.Data {
		models[i] = model.Model{
			ID:         m.ID,
			MaxContext: max(0, cmp.Or(m.MaxModelLen, m.Meta.Context, m.ContextLength, m.MaxInput, m.Meta.TrainedContext)),
		}
	}
	return models, nil
}
