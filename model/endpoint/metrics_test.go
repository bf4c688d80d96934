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
