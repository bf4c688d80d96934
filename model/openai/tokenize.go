package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"annotator/model/endpoint"
)

// CountTokens asks the server's tokenizer, beside the /v1 of its base URL. See model.Counter.
func (c *Client) CountTokens(ctx context.Context, name, text string) (int, error) {
	body, err := endpoint.Marshal(struct {
		Model   string `json:"model"`
		Prompt  string `json:"prompt"`
		Content string `json:"content"` // llama.cpp's name for the prompt
		Special bool   `json:"add_special_tokens"`
	}{name, text, text, false})
	if err != nil {
		return 0, err
	}
	call := endpoint.Call{
		URL:  strings.TrimSuffix(c.BaseURL(), "/v1") + "/tokenize",
		Body: endpoint.Segments{body},
	}
	return endpoint.Read(ctx, c.Client, &call, readCount)
}

// readCount reads the response of a tokenizer: vLLM and SGLang send a count, llama.cpp the tokens only.
func readCount(answer []byte) (int, error) {
	var counted struct {
		Count  int               `json:"count"`
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&counted); err != nil {
		return 0, endpoint.Unusable("the tokenizer sent what is no count")
	}
	n := cmp.Or(counted.Count, len(counted.Tokens))
	if n <= 0 {
		return 0, endpoint.Unusable("the tokenizer sent no count")
	}
	return n, nil
}
