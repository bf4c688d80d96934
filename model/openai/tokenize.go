package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"annotator/model"
)

var _ model.Counter = (*Client)(nil)

// CountTokens asks the server's tokenizer, beside the /v1 of its base URL. See model.Counter.
func (c *Client) CountTokens(ctx context.Context, name, text string) (int, error) {
	body, err := marshal(struct {
		Model   string `json:"model"`
		Prompt  string `json:"prompt"`
		Content string `json:"content"` // llama.cpp's word for it
		Special bool   `json:"add_special_tokens"`
	}{name, text, text, false})
	if err != nil {
		return 0, requestFault(err)
	}
	x := c.begin(ctx, segments{body}, acceptJSON)
	defer x.end()
	n, err := x.countTokens()
	if err != nil {
		return 0, x.fault(err)
	}
	return n, nil
}

func (x *exchange) countTokens() (int, error) {
	address := strings.TrimSuffix(x.client.config.BaseURL, "/v1") + "/tokenize"
	req, err := http.NewRequestWithContext(x.ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", acceptJSON)
	if key := string(x.client.key); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	empty, err := x.Do(req) // the exchange keeps the answer
	if err != nil {
		return 0, err
	}
	defer func() { _ = empty.Body.Close() }()
	answer, err := io.ReadAll(x.answer)
	if err != nil {
		return 0, err
	}
	if x.response.StatusCode != http.StatusOK {
		return 0, x.classify(answer)
	}
	return readCount(answer)
}

// readCount reads the answer of a tokenizer: vLLM and SGLang give a count, llama.cpp the tokens alone.
func readCount(answer []byte) (int, error) {
	var counted struct {
		Count  int               `json:"count"`
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&counted); err != nil {
		return 0, unusable("the tokenizer sent what is no count")
	}
	n := cmp.Or(counted.Count, len(counted.Tokens))
	if n <= 0 {
		return 0, unusable("the tokenizer sent no count")
	}
	return n, nil
}
