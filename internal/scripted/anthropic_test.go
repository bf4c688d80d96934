package scripted_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestAnthropicRefuses checks the refusals of Anthropic's API, and the text for a prompt that is too long.
func TestAnthropicRefuses(t *testing.T) {
	t.Parallel()
	const (
		text   = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
		marked = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	)
	server := scripted.Start(t, scripted.Options{MaxModelLen: 64})
	for _, test := range []struct{ name, body, want string }{
		{"fine", `{"model":"scripted","max_tokens":9,"messages":[` + text + `]}`, `"type":"message"`},
		{"no max_tokens", `{"messages":[` + text + `]}`, "max_tokens: Field required"},
		{"hot", `{"max_tokens":9,"temperature":1.5,"messages":[` + text + `]}`, "temperature: range: 0..1"},
		{
			"empty text", `{"max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`,
			"must contain non-whitespace text",
		},
		{"no content", `{"max_tokens":9,"messages":[{"role":"user","content":[]}]}`, "must have non-empty content"},
		{
			"input a string",
			`{"max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f",` +
				`"input":"{}"}]}]}`, "valid dictionary",
		},
		{"five breakpoints", `{"max_tokens":9,"system":[` + marked + "," + marked + "," + marked +
			`],"messages":[{"role":"user","content":[` + marked + "," + marked + `]}]}`, "a maximum of 4 blocks"},
		{"unknown field", `{"max_tokens":9,"seed":1,"messages":[` + text + `]}`, `unknown field`},
		{"unknown model", `{"model":"x","max_tokens":9,"messages":[` + text + `]}`, `"type":"not_found_error"`},
		{
			"too long", `{"max_tokens":9,"messages":[` + strings.ReplaceAll(text, "hi", strings.Repeat("long", 60)) +
				`]}`,
			"prompt is too long: ",
		},
	} {
		if got := post(t, server.URL+"/v1/messages", test.body, "2023-06-01"); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	if got := post(t, server.URL+"/v1/messages", `{"max_tokens":9,"messages":[`+text+`]}`, ""); !strings.Contains(got,
		"anthropic-version") {
		t.Errorf("no version: %s", got)
	}
}

func post(t *testing.T, url, body, version string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", version)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
