package endpoint

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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
	sums := readMetrics(body)
	for _, m := range cacheMetrics {
		prompt, counted := sums[m.prompt]
		if counted && max(prompt, sums[m.cached]) < math.MaxInt32*1024 {
			return model.CacheCounts{Prompt: int(prompt), Cached: int(sums[m.cached])}, nil
		}
	}
	return counts, errNoMetrics
}

// loadMetrics are the names of gauges and counters of a server's work. The size of the KV cache is the product of two
// labels of pool, or the value of tokens.
var loadMetrics = [...]struct{ running, waiting, preempted, pool, size, number, tokens string }{
	{
		"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:num_preemptions_total",
		"vllm:cache_config_info", "block_size", "num_gpu_blocks", "",
	},
	{
		"sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:num_retracted_reqs_total",
		"sglang:cache_config_info", "page_size", "num_pages", "sglang:max_total_num_tokens",
	},
	{"llamacpp:requests_processing", "llamacpp:requests_deferred", "", "", "", "", ""},
}

// errNoLoad is the error of a server that tells nothing of its work.
var errNoLoad = errors.New("it tells neither its requests nor its slots")

// Load reads the server's metrics, and the number of its slots where they do not have the size of its KV cache. See
// model.LoadReporter.
func (c *Client) Load(ctx context.Context) (model.Load, error) {
	load, err := Read(ctx, c, &Call{URL: c.ServerURL("/metrics")}, readLoad)
	if err == nil && load.PoolTokens > 0 {
		return load, nil
	}
	slots, slotsErr := Read(ctx, c, &Call{URL: c.ServerURL("/props")}, readSlots)
	if slotsErr != nil {
		return load, err
	}
	load.Slots = slots
	return load, nil
}

// readLoad sums a server's work over its engines.
func readLoad(body []byte) (load model.Load, err error) {
	sums := readMetrics(body)
	for _, m := range loadMetrics {
		running, found := sums[m.running]
		if !found {
			continue
		}
		load.Running, load.Waiting = bounded(running), bounded(sums[m.waiting])
		load.Preempted = bounded(sums[m.preempted])
		load.PoolTokens = cmp.Or(bounded(readPool(body, m.pool, m.size, m.number)), bounded(sums[m.tokens]))
		return load, nil
	}
	return load, errNoLoad
}

// bounded converts a number of a server. One that cannot be is taken as not told.
func bounded(x float64) int {
	if x > math.MaxInt32 {
		return 0
	}
	return int(x)
}

// readPool sums the products of two labels over the lines of a metric.
func readPool(body []byte, metric, size, number string) (tokens float64) {
	for line := range strings.Lines(string(body)) {
		name, labels, labelled := strings.Cut(line, "{")
		if labelled && name == metric {
			tokens += label(labels, size) * label(labels, number)
		}
	}
	return tokens
}

// label returns the number of a label; 0 if there is none.
func label(labels, name string) float64 {
	for _, before := range []string{"", ","} {
		at := strings.Index(labels, before+name+`="`)
		if at < 0 || before == "" && at > 0 {
			continue
		}
		text, _, _ := strings.Cut(labels[at+len(before)+len(name)+len(`="`):], `"`)
		n, err := strconv.ParseUint(text, 10, 31)
		if err == nil {
			return float64(n)
		}
	}
	return 0
}

// readSlots reads the number of slots in llama.cpp's /props.
func readSlots(body []byte) (int, error) {
	var props struct {
		Slots int `json:"total_slots"`
	}
	if err := json.Unmarshal(body, &props); err != nil {
		return 0, err
	}
	if props.Slots < 1 || props.Slots > math.MaxInt16 {
		return 0, errNoLoad
	}
	return props.Slots, nil
}

// readMetrics sums each metric over its labels.
func readMetrics(body []byte) map[string]float64 {
	sums := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(body))
	for lines.Scan() {
		name, value, ok := sample(lines.Text())
		if ok {
			sums[name] += value
		}
	}
	return sums
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
