package openai

import (
	"encoding/json"

	"annotator"
	"annotator/model/endpoint"
)

// usage is the usage of a reply. Some servers have a name of their own for the cached part of the prompt.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached endpoint.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Hit    endpoint.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached endpoint.Count `json:"cached_tokens"`           // Moonshot
}

// timings is llama.cpp's own usage, beside that.
type timings struct {
	Cached endpoint.Count `json:"cache_n"`
}

// usage returns the usage in a chunk.
func (c *chunk) usage() (annotator.Usage, bool) {
	u, ok := readUsage(c.Usage, c.Timings)
	for i := 0; i < len(c.Choices) && !ok; i++ {
		u, ok = readUsage(c.Choices[i].Usage, c.Timings)
	}
	return u, ok
}

// readUsage reads a usage, which most chunks lack. An unreadable one does not spoil the reply.
func readUsage(account, beside json.RawMessage) (annotator.Usage, bool) {
	var (
		u usage
		t timings
	)
	if account == nil || json.Unmarshal(account, &u) != nil || u.Prompt <= 0 || u.Completion < 0 {
		return annotator.Usage{}, false
	}
	_ = json.Unmarshal(beside, &t) // other servers send none, or something else
	cached := max(u.Details.Cached, u.Hit, u.Cached, t.Cached)
	return annotator.Usage{Prompt: u.Prompt, Cached: min(int(cached), u.Prompt), Completion: u.Completion, Exact: true}, true
}
