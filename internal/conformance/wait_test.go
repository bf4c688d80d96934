package conformance_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// outage is the answer of a server until it is available again. A path is one of the server, without the prefix of a
// proxy.
type outage struct {
	prefix string // of all that a proxy passes on
	// prefix of the paths that the proxy forwards; it answers other paths itself
	passes string
	gone   func(path string) (status int, body string) // status 0: nobody listens
	proxy  int                                         // status of the proxy's own paths
}

// outages are the servers for which a run waits.
func outages() map[string]outage {
	const loading = `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`
	answers := func(status int, body string) func(string) (int, string) {
		return func(string) (int, string) { return status, body }
	}
	nobody, badGateway := answers(0, ""), answers(502, "<html><title>502 Bad Gateway</title></html>")
	return map[string]outage{
		"vLLM and SGLang, killed": {gone: nobody},
		"no health check":         {gone: nobody, passes: "/v1", proxy: 404},
		"llama.cpp, loading": {gone: func(path string) (int, string) {
			if strings.HasSuffix(path, "/models") {
				return 200, `{"object":"list","data":[{"id":"scripted"}],"models":[{"name":"models/scripted"}]}`
			}
			return 503, loading
		}},
		"behind a prefix":                         {gone: badGateway, prefix: "/llm"},
		"behind a prefix, the API alone":          {gone: badGateway, prefix: "/llm", passes: "/v1", proxy: 404},
		"behind a prefix, a page at other paths":  {gone: badGateway, prefix: "/llm", passes: "/v1", proxy: 200},
		"behind a prefix, other servers are down": {gone: badGateway, prefix: "/llm", passes: "/v1", proxy: 502},
		"a router that forgets it":                {gone: answers(404, "404 page not found\n"), prefix: "/llm"},
	}
}

// waitEnds: a wait ends within seconds after the server is available, for every kind of outage.
func waitEnds(t *testing.T, w wire) {
	for name, o := range outages() {
		if w.name == "gemini" && name == "llama.cpp, loading" {
			continue // it has no such API
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := scripted.New(scripted.Options{})
			synctest.Test(t, func(t *testing.T) {
				const down = 10 * time.Minute
				began := time.Now()
				wire := w.open(t, endpoint.Options{
					BaseURL: "http://model.test" + o.prefix + w.path,
					HTTP: wiretest.Network(func(r *http.Request) (*http.Response,
						error,
					) {
						return o.answer(r, server, time.Since(began) < down)
					}),
				})
				client := model.Client{
					Wire: wire, Model: "scripted", Capabilities: &model.Capabilities{Answered: true},
					Random: func() float64 { return 0.5 }, Now: time.Now,
					Policy: &model.Policy{Attempts: 3, Base: time.Second, Max: time.Minute, Patience: time.Hour},
				}
				history, err := wire.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: "Say yes."}})
				if err != nil {
					t.Fatal(err)
				}
				_, err = client.Complete(t.Context(), &model.Request{History: history, MaxTokens: 16})
				if late := time.Since(began) - down; err != nil || late < 0 || late > 5*time.Second {
					t.Errorf("%v, %s after the server is back", err, late)
				}
			})
		})
	}
}

// answer is what comes of a request.
func (o *outage) answer(r *http.Request, server http.Handler, down bool) (*http.Response, error) {
	path, isServers := strings.CutPrefix(r.URL.Path, o.prefix)
	status, body := o.proxy, "<html><title>Welcome</title></html>"
	if isServers && strings.HasPrefix(path, o.passes) {
		if !down {
			recorder := httptest.NewRecorder()
			http.StripPrefix(o.prefix, server).ServeHTTP(recorder, r)
			return recorder.Result(), nil
		}
		status, body = o.gone(path)
	}
	if status == 0 {
		return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	}
	recorder := httptest.NewRecorder()
	recorder.WriteHeader(status)
	_, _ = recorder.WriteString(body)
	return recorder.Result(), nil
}
