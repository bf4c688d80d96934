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

// Count is a number of tokens that a server tells beside what matters, in whatever form: 4096, 4096.0, "4096". What is no such
// number is 0, for it is no reason to lose the rest.
type Count int

// UnmarshalJSON reads any value.
func (c *Count) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if *c = 0; err == nil && n >= 1 && n <= mostContext {
		*c = Count(n)
	}
	return nil
}

// mostContext is more tokens than any model takes.
const mostContext = 1 << 30

// name is that of a model. What cannot be one is empty.
type name string

// UnmarshalJSON reads any value.
func (n *name) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil && !strings.ContainsFunc(s, isControl) {
		*n = name(s)
	}
	return nil
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
	if bytes.HasPrefix(body, []byte("[{")) { // a router gives the list alone
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
