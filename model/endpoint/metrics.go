package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"annotator/model"
)

// cacheMetrics are the names of counters in Prometheus's text format. One counts the tokens of all prompts, the other
// those that were in the prefix cache. llama.cpp is not listed: it reports cached tokens in each reply, and rounds its
// counters to six digits.
var cacheMetrics = [...]struct{ prompt, cached string }{
	{"vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"},
	{"sglang:prompt_tokens_total", "sglang:cached_tokens_total"},
}

// errNoMetrics is the error of a server that does not count what it has in its cache.
var errNoMetrics = errors.New("it counts no tokens of a prefix cache")

// CacheCounts reads the server's counters at /metrics, next to the /v1 of its base URL. See model.CacheCounter.
func (c *Client) CacheCounts(ctx context.Context) (model.CacheCounts, error) {
	call := Call{URL: c.ServerURL("/metrics")}
	return Read(ctx, c, &call, readCacheCounts)
}

// readCacheCounts sums the counters over their labels: engines and models.
func readCacheCounts(body []byte) (counts model.CacheCounts, err error) {
	sums := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(body))
	for lines.Scan() {
		name, value, ok := sample(lines.Text())
		if ok {
			sums[name] += value
		}
	}
	for _, m := range cacheMetrics {
		prompt, counted := sums[m.prompt]
		if counted && max(prompt, sums[m.cached]) < math.MaxInt32*1024 {
			return model.CacheCounts{Prompt: int(prompt), Cached: int(sums[m.cached])}, nil
		}
	}
	return counts, errNoMetrics
}

// sample reads a line of Prometheus's text format: a name, labels in braces, a value, perhaps a time.
func sample(line string) (name string, value float64, ok bool) {
	name, rest, _ := strings.Cut(line, " ")
	if before, labels, labelled := strings.Cut(line, "{"); labelled && len(before) < len(name) {
		at := strings.LastIndex(labels, "}")
		if at < 0 {
			return "", 0, false
		}
		name, rest = before, labels[at+1:]
	}
	fields := strings.Fields(rest)
	if strings.HasPrefix(name, "#") || len(fields) == 0 {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	return name, value, err == nil && value >= 0
}
