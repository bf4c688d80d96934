package openai

import (
	"cmp"
	"encoding/json"
	"io"

	"annotator/model"

	sdk "github.com/sashabaranov/go-openai"
)

// listed is a model of the list, with what servers add to go-openai's Model.
type listed struct {
	ID            string `json:"id"`
	MaxModelLen   int    `json:"max_model_len"`  // vLLM
	ContextLength int    `json:"context_length"` // routers
	Meta          struct {
		Context        int `json:"n_ctx"`
		TrainedContext int `json:"n_ctx_train"`
	} `json:"meta"` // llama.cpp
}

func (x *exchange) models() ([]model.Model, error) {
	err := x.send(func(c *sdk.Client) error {
		_, err := c.ListModels(x.ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(x.answer)
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []listed `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil {
		if model.CarriesError(body) {
			return nil, x.classify(body)
		}
		return nil, unusable("the endpoint sent what is no list of models")
	}
	models := make([]model.Model, len(list.Data))
	for i, m := range list.Data {
		models[i] = model.Model{
			ID:         m.ID,
			MaxContext: max(0, cmp.Or(m.MaxModelLen, m.Meta.Context, m.ContextLength, m.Meta.TrainedContext)),
		}
	}
	return models, nil
}
