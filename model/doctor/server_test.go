package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"annotator/internal/scripted"
	"annotator/model/doctor"
)

// TestServersAreRecognised: servers are recognised by their descriptions. The context of a loaded model is found if it
// is not in the list of models.
func TestServersAreRecognised(t *testing.T) {
	t.Parallel()
	models := func(owner string) string {
		return `{"data":[{"id":"scripted","object":"model","owned_by":"` + owner + `"}]}`
	}
	tests := []struct {
		name   string // with a star: the context of the model is configured
		routes map[string]string
		server string // with its version
		check  string
		state  doctor.State
		seen   string
		starts int // how many servers a remedy for more context is found for
	}{
		{
			"vLLM",
			map[string]string{"/v1/models": models("vllm"), "/version": `{"version":"0.11.2"}`},
			"vLLM 0.11.2",
			"context length", doctor.Missing, "does not tell", 0,
		},
		{
			"llama.cpp",
			map[string]string{
				"/v1/models": models("llamacpp"),
				"/props":     `{"build_info":"b8681","default_generation_settings":{"n_ctx":8192}}`,
			},
			"llama.cpp b8681", "context length", doctor.Missing, "8192 tokens; a run lowers its budget", 1,
		},
		{
			"Ollama",
			map[string]string{
				"/v1/models": models("library"), "/api/version": `{"version":"0.34.3"}`,
				"/api/ps": `{"models":[{"model":"other","context_length":1},{"model":"scripted:latest","context_length":4096}]}`,
			},
			"Ollama 0.34.3", "context length", doctor.Missing, "4096 tokens; a run lowers its budget", 1,
		},
		{
			"Ollama, configured*",
			map[string]string{
				"/v1/models": models("library"),
				"/api/ps":    `{"models":[{"model":"scripted","context_length":8192}]}`,
			},
			"Ollama", "context length", doctor.Missing, "8192 tokens; a run lowers its budget", 1,
		},
		{
			"LM Studio",
			map[string]string{
				"/v1/models":     models("organization_owner"),
				"/api/v0/models": `{"data":[{"id":"scripted","state":"loaded","loaded_context_length":131072}]}`,
			},
			"LM Studio", "context length", doctor.OK, "131072 tokens", 0,
		},
		{
			"SGLang",
			map[string]string{"/v1/models": models("sglang"), "/get_server_info": `{"version":"0.5.2"}`},
			"SGLang 0.5.2", "context length", doctor.Missing, "does not tell", 0,
		},
		{
			"by its own address",
			map[string]string{"/v1/models": models("me"), "/api/version": `{"version":"0.34.3"}`},
			"Ollama 0.34.3", "reaches", doctor.OK, "Ollama", 0,
		},
		{
			"a router",
			map[string]string{"/v1/models": models("llama-swap"), "/api/version": `{"version":"v250"}`},
			"",
			"reaches", doctor.OK, "not recognised", 0,
		},
		{
			"unknown, with little context",
			map[string]string{"/v1/models": `{"data":[{"id":"scripted","max_model_len":8192}]}`},
			"", "context length",
			doctor.Missing, "8192", 5,
		},
		{
			"an error for everything",
			map[string]string{
				"/v1/models":     models("me"),
				"/api/v0/models": `{"error":"Unexpected endpoint or method."}`, "/props": `{"error":"x"}`,
			},
			"", "reaches",
			doctor.OK, "not recognised", 0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			behind := scripted.New(scripted.Options{Script: healthy})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, ok := test.routes[r.URL.Path]; ok {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(body))
					return
				}
				behind.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			p := newEndpoint(t, server.URL)
			if strings.HasSuffix(test.name, "*") {
				p.Contexts = map[string]int{"scripted": 8192}
			}
			report, found := examine(t, p)
			if got := strings.TrimSpace(report.Server.Name + " " + report.Server.Version); got != test.server {
				t.Errorf("recognised %q, want %q", got, test.server)
			}
			if f := found[test.check]; f.State != test.state || !strings.Contains(f.Seen, test.seen) {
				t.Errorf("%s is %s: %s", test.check, f.State, f.Seen)
			}
			starts := 0
			for _, remedy := range report.Remedies {
				starts += len(remedy.Starts)
				if slices.ContainsFunc(remedy.Starts, func(s doctor.Start) bool { return s.With == "" }) {
					t.Errorf("no option is known for %+v", remedy)
				}
			}
			if starts != test.starts {
				t.Errorf("found for %d servers, want %d: %+v", starts, test.starts, report.Remedies)
			}
		})
	}
}
