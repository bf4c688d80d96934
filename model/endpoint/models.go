package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"annotator/model"
)

// listed is a model of the list, with what servers add to OpenAI's form.
type listed struct {
	ID            name  `json:"id"`
	MaxModelLen   Count `json:"max_model_len"`    // vLLM
	ContextLength Count `json:"context_length"`   // routers
	MaxInput      Count `json:"max_input_tokens"` // Anthropic
	Meta          struct {
		Context        Count `json:"n_ctx"`
		TrainedContext Count `json:"n_ctx_train"`
	} `json:"meta"` // llama.cpp
}

// Count is an optional number of tokens: 4096, 4096.0, "4096". Anything else is 0, and does not spoil the rest.
type Count int

// UnmarshalJSON reads any value.
func (c *Count) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if *c = 0; err == nil && n >= 1 && n <= maxContext {
		*c = Count(n)
	}
	return nil
}

// maxContext is more tokens than any model takes.
const maxContext = 1 << 30

// name is the name of a model; empty where it cannot be one.
type name string

// UnmarshalJSON reads any value.
func (n *name) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil && !strings.ContainsFunc(s, isControl) {
		*n = name(s)
	}
	return nil
}

// Models lists what the endpoint serves, in OpenAI's form, which is also Anthropic's. A failure is a *model.Fault.
func (c *Client) Models(ctx context.Context) ([]model.Model, error) {
	return Read(ctx, c, &Call{URL: c.base + cmp.Or(c.api.Models, "/models")}, readModels)
}

func readModels(body []byte) ([]model.Model, error) {
	var list struct {
		Data []listed `json:"data"`
	}
	if bytes.HasPrefix(body, []byte("[{")) { // a router sends the array alone
		body = slices.Concat([]byte(`{"data":`), body, []byte(`}`))
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil {
		return nil, errors.New("it is no list of models")
	}
	models := make([]model.Model, 0, len(list.Data))
	for _, m := range list.Data {
		if m.ID == "" {
			continue
		}
		most := cmp.Or(m.MaxModelLen, m.Meta.Context, m.ContextLength, m.MaxInput, m.Meta.TrainedContext)
		models = append(models, model.Model{ID: string(m.ID), MaxContext: int(most)})
	}
	return models, nil
}
