package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/openai"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"http://localhost:8000/v1":                     "http://localhost:8000/v1/models",
		" https://model.test/v1/ ":                     "https://model.test/v1/models",
		"http://model.test/v1/chat/completions":        "http://model.test/v1/models",
		"http://model.test/a%2Fb/v1/chat/completions/": "http://model.test/a%2Fb/v1/models",
		"http://model.test":                            "http://model.test/models",
		"http://[::1]:8000/v1":                         "http://[::1]:8000/v1/models",
	} {
		var asked string
		c := newClient(t,
			endpoint.Options{BaseURL: give, HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.String()
				return wiretest.Response(200, "", strings.NewReader(`{"data":[]}`)), nil
			})})
		if _, err := c.Models(t.Context()); err != nil || asked != want {
			t.Errorf("%s: asked %q, %v, want %q", give, asked, err, want)
		}
	}
}

func TestAddressRefused(t *testing.T) {
	t.Parallel()
	const secret = "canary"
	for _, o := range []endpoint.Options{
		{BaseURL: ""},
		{BaseURL: "localhost:8000/v1"},
		{BaseURL: "http://localhost:80000/v1"},
		{BaseURL: "http://localhost:0/v1"},
		{BaseURL: "ftp://model.test/v1"},
		{BaseURL: "http:///v1"},
		{BaseURL: "http://model.test:" + secret + "/v1"},
		{BaseURL: "http://user:" + secret + "@model.test/v1"},
		{BaseURL: "http://model.test/v1?api_key=" + secret},
		{BaseURL: "http://model.test/v1#" + secret},
		{BaseURL: "http://model.test/v1", Key: secret + "\r\nX-Evil: 1"},
	} {
		c, err := openai.New(o)
		var e *annotator.Error
		if c != nil || !errors.As(err, &e) || e.Kind != annotator.Misused || e.Advice == "" && e.Reason == "" ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", o.BaseURL, err)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	const list = `{"object":"list","data":[
		{"id":"vllm","created":"not a number","max_model_len":4096,"permission":[]},
		{"id":"llama.cpp","meta":{"n_ctx":2048,"n_ctx_train":8192}},
		{"id":"older llama.cpp","meta":{"n_ctx_train":8192}},
		{"id":"router","context_length":1000},
		{"id":"in words","max_model_len":"4096"},
		{"id":"a fraction","max_model_len":4096.0},
		{"id":"absurd","max_model_len":99999999999999999999},
		{"id":"below nothing","max_model_len":-1},
		{"id":""}, {"id":null}, {"id":7}, {"id":"\u001b[2J"},
		{"id":"silent","meta":null}]}`
	c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "application/json", list)})
	got, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Model{
		{ID: "vllm", MaxContext: 4096},
		{ID: "llama.cpp", MaxContext: 2048},
		{ID: "older llama.cpp", MaxContext: 8192},
		{ID: "router", MaxContext: 1000},
		{ID: "in words", MaxContext: 4096},
		{ID: "a fraction", MaxContext: 4096},
		{ID: "absurd"},
		{ID: "below nothing"},
		{ID: "silent"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBareListOfModelsIsRead: a router answers with the list itself, not with an object around it.
func TestBareListOfModelsIsRead(t *testing.T) {
	t.Parallel()
	c := newClient(t,
		endpoint.Options{HTTP: wiretest.Always(200, "application/json",
			`[{"id":"a","context_length":1000},{"id":"b"}]`)})
	got, err := c.Models(t.Context())
	if diff := cmp.Diff([]model.Model{{ID: "a", MaxContext: 1000}, {ID: "b"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestModelsFails(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]annotator.Kind{
		`{"error":{"message":"x","code":401}}`: annotator.Misconfigured,
		`[]`:                                   annotator.Malformed,
		`<html>`:                               annotator.Malformed,
	} {
		_, err := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "", body)}).Models(t.Context())
		if f := wiretest.Fault(t, nil, err); f.Kind != want {
			t.Errorf("%s: %v is %q, want %q", body, f, f.Kind, want)
		}
	}
}

// BenchmarkComplete sends a history of 400 KB to a server that answers at once.
func BenchmarkComplete(b *testing.B) {
	c := serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, wiretest.Events(textChunk, finishChunk, usageChunk, "[DONE]"))
	})
	encoded, err := c.Encode([]annotator.Message{{
		Role:    annotator.RoleUser,
		Content: strings.Repeat("scene ", 400<<10/6),
	}})
	if err != nil {
		b.Fatal(err)
	}
	r := &model.Request{Model: "m", System: "s", History: encoded, Stream: true}
	b.SetBytes(int64(len(encoded)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Complete(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
