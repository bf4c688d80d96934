package offline_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"annotator/model/offline"
)

func FuzzRequest(f *testing.F) {
	whole, err := json.Marshal(withTools(says("system", "s"), scene(harbour)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"<scene number=\"1\"><post id=\"2\">Ysolde Marrow's"}]}],"stream":true}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"CONFIRM REJECT MERGE <entry term=\"of\" id=\"1\"/>"}],"max_tokens":1}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"summary of scenes 9999999999999999999 <a>`))
	f.Add([]byte(`{"messages":[{"role":"tool","content":"{\"ok\":true,\"entry\":{\"id\":1,\"term\":\" \"}}"},{"role":"user","content":"?"}],"tools":[{}]}`))
	m := offline.New(offline.Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		request, err := http.NewRequest(http.MethodPost, "http://offline/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := m.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case response.StatusCode != http.StatusOK && response.StatusCode != http.StatusBadRequest:
			t.Errorf("status %d", response.StatusCode)
		case strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream"):
			if !bytes.HasSuffix(answer, []byte("data: [DONE]\n\n")) {
				t.Errorf("a stream without end: %q", answer)
			}
		case !json.Valid(answer):
			t.Errorf("no JSON: %q", answer)
		}
	})
}

// BenchmarkWindow measures one small scene at the end of a window of 400 KB.
func BenchmarkWindow(b *testing.B) {
	var messages []object
	for range 400 {
		messages = append(messages, scene(strings.Repeat("it rained. ", 80)), says("assistant", "Noted."))
	}
	body, err := json.Marshal(withTools(append(messages, scene(harbour))...))
	if err != nil {
		b.Fatal(err)
	}
	m := offline.New(offline.Options{ContextTokens: 1 << 30})
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		request, err := http.NewRequest(http.MethodPost, "http://offline/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.RoundTrip(request); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScene measures a scene of 100 KB.
func BenchmarkScene(b *testing.B) {
	body, err := json.Marshal(withTools(scene(strings.Repeat(harbour+"\n\n", 330))))
	if err != nil {
		b.Fatal(err)
	}
	m := offline.New(offline.Options{ContextTokens: 1 << 30})
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		request, err := http.NewRequest(http.MethodPost, "http://offline/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.RoundTrip(request); err != nil {
			b.Fatal(err)
		}
	}
}
