package gemini_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/gemini"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(tb testing.TB, o endpoint.Options) *gemini.Client {
	tb.Helper()
	if o.BaseURL == "" {
		o.BaseURL = "http://gemini.test/v1beta"
	}
	return wiretest.Open(tb, gemini.New, o)
}

// start starts a scripted server for the time of a test and returns a client for it.
func start(tb testing.TB, o scripted.Options) (*gemini.Client, *scripted.Server) {
	tb.Helper()
	s := scripted.Start(tb, o)
	return newClient(tb, endpoint.Options{BaseURL: s.URL + "/v1beta", Key: "AIza-canary"}), s
}

// complete sends a small request.
func complete(tb testing.TB, c *gemini.Client, stream bool) (*model.Reply, error) {
	tb.Helper()
	return c.Complete(tb.Context(), &model.Request{
		Model:   "scripted",
		History: []byte(`{"role":"user","parts":[{"text":"hi"}]}`), Stream: stream,
	})
}

func TestKeyIsInTheHeaderAlone(t *testing.T) {
	t.Parallel()
	var seen *http.Request
	keep := wiretest.Network(func(r *http.Request) (*http.Response, error) {
		seen = r
		return wiretest.Always(400, "application/json", `{"error":{"code":400,"message":"not valid: AIza-canary"}}`)(r)
	})
	c := newClient(t, endpoint.Options{Key: "AIza-canary", HTTP: keep})
	reply, err := complete(t, c, true)
	if f := wiretest.Fault(t, reply, err); strings.Contains(f.Error()+string(f.Raw), "canary") {
		t.Errorf("the key is in %v, %s", f, f.Raw)
	}
	const want = "http://gemini.test/v1beta/models/scripted:streamGenerateContent?alt=sse"
	if seen.URL.String() != want || seen.Header.Get("X-Goog-Api-Key") != "AIza-canary" ||
		seen.Header.Get("Authorization") != "" {
		t.Errorf("%s with %v", seen.URL, seen.Header)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gemini-3-pro":        "/v1beta/models/gemini-3-pro:generateContent",
		"models/gemini-3-pro": "/v1beta/models/gemini-3-pro:generateContent",
		"tunedModels/mine":    "/v1beta/tunedModels/mine:generateContent",
		"a?key=b#c d":         "/v1beta/models/a%3Fkey=b%23c%20d:generateContent",
	} {
		got := ""
		c := newClient(t, endpoint.Options{
			BaseURL: "http://gemini.test/v1beta/models/",
			HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
				got = r.URL.RequestURI()
				return wiretest.Always(200, "application/json", `{"candidates":[{"finishReason":"STOP"}]}`)(r)
			}),
		})
		if _, err := c.Complete(t.Context(), &model.Request{Model: name}); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestHostAlone(t *testing.T) {
	t.Parallel()
	var seen []string
	c := newClient(t, endpoint.Options{
		BaseURL: "https://generativelanguage.googleapis.com/",
		HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, r.URL.Path)
			return wiretest.Always(503, "application/json", "{}")(r)
		}),
	})
	_, _ = c.Models(t.Context())
	_, _ = c.CountTokens(t.Context(), "m", "x")
	if diff := cmp.Diff([]string{"/v1beta/models", "/v1beta/models/m:countTokens"}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "application/json", `{"models":[
		{"name":"models/gemini-3-pro","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent","countTokens"]},
		{"name":"models/embedding-001","inputTokenLimit":2048,"supportedGenerationMethods":["embedContent"]},
		{"name":"models/local"}]}`)})
	got, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Model{{ID: "gemini-3-pro", MaxContext: 1_048_576}, {ID: "local"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoList(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{}`, `[]`, `{"data":[]}`, `{"models":3}`} {
		c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "application/json", body)})
		if models, err := c.Models(t.Context()); !errors.Is(err, annotator.Malformed) || models != nil {
			t.Errorf("%s: %v, %v", body, models, err)
		}
		if n, err := c.CountTokens(t.Context(), "m", "x"); !errors.Is(err, annotator.Malformed) || n != 0 {
			t.Errorf("%s: %d tokens, %v", body, n, err)
		}
	}
}

func TestServer(t *testing.T) {
	t.Parallel()
	c, s := start(t, scripted.Options{MaxModelLen: 4096})
	if n, err := c.CountTokens(t.Context(), "scripted", "12345"); n != 2 || err != nil {
		t.Errorf("%d tokens, %v", n, err)
	}
	models, err := c.Models(t.Context())
	if diff := cmp.Diff([]model.Model{{ID: "scripted", MaxContext: 4096}}, models); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	reply, err := c.Complete(t.Context(), &model.Request{
		Model:   "other",
		History: []byte(`{"role":"user","parts":[{"text":"x"}]}`),
	})
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Misconfigured || f.Status != http.StatusNotFound ||
		s.Calls() != 1 {
		t.Errorf("%d calls, %v", s.Calls(), f)
	}
}
