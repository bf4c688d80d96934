package openai

import (
	"cmp"
	"encoding/json"
	"errors"

	"annotator/model"
)

var errNoList = errors.New("it is no list of models")

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

func readModels(body []byte) ([]model.Model, error) {
	var list struct {
		Data []listed `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil {
		return nil, errNoList
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
