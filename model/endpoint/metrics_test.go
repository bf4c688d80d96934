package endpoint_test

import (
	"net/http"
	"strings"
	"testing"

	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// vllmMetrics is a part of what vLLM 0.32 sends.
const vllmMetrics = `# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="tiny"} 2.011977e+06
# TYPE vllm:prefix_cache_queries_created gauge
vllm:prefix_cache_queries_created{engine="0",model_name="tiny"} 1.7953615224489748e+09
vllm:prefix_cache_hits_total{engine="0",model_name="tiny"} 1.918912e+06
vllm:prefix_cache_hits_created{engine="0",model_name="tiny"} 1.7953615224489882e+09
vllm:external_prefix_cache_queries_total{engine="0",model_name="tiny"} 0.0
`

// TestCacheCounts: the counters of servers are summed over engines.
func TestCacheCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       model.CacheCounts
	}{
		{"vLLM", vllmMetrics, model.CacheCounts{Prompt: 2_011_977, Cached: 1_918_912}},
		{
			"two engines", vllmMetrics + strings.ReplaceAll(vllmMetrics, `engine="0"`, `engine="1"`),
			model.CacheCounts{Prompt: 2 * 2_011_977, Cached: 2 * 1_918_912},
		},
		{
			"SGLang", "sglang:prompt_tokens_total{model_name=\"a b\"} " +
				"7\nsglang:cached_tokens_total{model_name=\"a}b\"} 5 1395066363000\n",
			model.CacheCounts{Prompt: 7, Cached: 5},
		},
		{"others", "llamacpp:prompt_tokens_total 7\n", model.CacheCounts{}},
		{"a page", "<html>", model.CacheCounts{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			asked := ""
			c := newClient(t, endpoint.Options{HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.Path
				return wiretest.Always(200, "text/plain", test.body).RoundTrip(r)
			})})
			got, err := c.CacheCounts(t.Context())
			if got != test.want || (err == nil) != (test.want.Prompt > 0) || asked != "/metrics" {
				t.Errorf("%+v, %v, from %s", got, err, asked)
			}
		})
	}
}

// FuzzCacheCounts: any body gives possible counts or an error.
func FuzzCacheCounts(f *testing.F) {
	f.Add([]byte(vllmMetrics))
	f.Add([]byte("sglang:prompt_tokens_total{a=\"}\"} NaN\nsglang:prompt_tokens_total +Inf"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if got, err := endpoint.ReadCacheCounts(body); got.Prompt < 0 || got.Cached < 0 ||
			err != nil && got != (model.CacheCounts{}) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestLoad: requests, the size of the cache and slots of servers.
func TestLoad(t *testing.T) {
	t.Parallel()
	vllm := `vllm:num_requests_running{engine="0",model_name="tiny"} 3.0
vllm:num_requests_waiting{engine="0",model_name="tiny"} 2.0
vllm:num_preemptions_total{engine="0",model_name="tiny"} 1.0
vllm:cache_config_info{block_size="16",mamba_block_size="32",engine="0",num_gpu_blocks="573"} 1.0
`
	for name, c := range map[string]struct {
		metrics, props string
		want           model.Load
	}{
		"vLLM": {metrics: vllm, want: model.Load{Running: 3, Waiting: 2, Preempted: 1, PoolTokens: 16 * 573}},
		"two engines": {
			metrics: vllm + strings.ReplaceAll(vllm, `engine="0"`, `engine="1"`),
			want:    model.Load{Running: 6, Waiting: 4, Preempted: 2, PoolTokens: 2 * 16 * 573},
		},
		"SGLang": {
			metrics: "sglang:num_running_reqs{a=\"b\"} 1.0\nsglang:num_queue_reqs{a=\"b\"} 4.0\n" +
				"sglang:cache_config_info{num_pages=\"100\",page_size=\"64\"} 1.0\n",
			want: model.Load{Running: 1, Waiting: 4, PoolTokens: 6400},
		},
		"SGLang without pages": {
			metrics: "sglang:num_running_reqs 0.0\nsglang:max_total_num_tokens 9000\n",
			want:    model.Load{PoolTokens: 9000},
		},
		"llama.cpp": {
			metrics: "llamacpp:requests_processing 2\nllamacpp:requests_deferred 1\n", props: `{"total_slots":4}`,
			want: model.Load{Running: 2, Waiting: 1, Slots: 4},
		},
		"llama.cpp without metrics": {props: `{"total_slots":4}`, want: model.Load{Slots: 4}},
		"no pool": {
			metrics: strings.ReplaceAll(vllm, "573", "None"), want: model.Load{Running: 3, Waiting: 2, Preempted: 1},
		},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := wiretest.Network(func(r *http.Request) (*http.Response, error) {
				body := map[string]string{"/metrics": c.metrics, "/props": c.props}[r.URL.Path]
				status := 200
				if body == "" {
					status = 404
				}
				return wiretest.Always(status, "text/plain", body).RoundTrip(r)
			})
			got, err := newClient(t, endpoint.Options{HTTP: network}).Load(t.Context())
			if got != c.want || (err == nil) != (c.want != model.Load{}) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// FuzzLoad: any body gives a possible load or an error.
func FuzzLoad(f *testing.F) {
	f.Add(vllmMetrics)
	f.Add("vllm:num_requests_running 1\nvllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"9\"} 1\n")
	f.Fuzz(func(t *testing.T, body string) {
		c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "text/plain", body)})
		load, err := c.Load(t.Context())
		if min(load.Running, load.Waiting, load.PoolTokens, load.Slots, load.Preempted) < 0 {
			t.Errorf("%+v, %v", load, err)
		}
	})
}
