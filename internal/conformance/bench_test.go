package conformance_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
)

// longStory is a conversation of about 100,000 tokens: scenes of 1,500, each with a call and its result.
func longStory() (groups [][]annotator.Message) {
	scene := strings.Repeat("\"The Heron is late,\" she said; the lamp on the quay was lit.\n", 98)
	for n := range 66 {
		call := annotator.ToolCall{
			ID: fmt.Sprintf("call%05d", n), Name: "search",
			Arguments: `{"q":"the <Heron> & her master"}`,
		}
		groups = append(groups,
			[]annotator.Message{{Role: annotator.RoleUser, Content: scene}},
			[]annotator.Message{{
				Role: annotator.RoleAssistant, Content: "I look.",
				ToolCalls: []annotator.ToolCall{call},
			}},
			[]annotator.Message{{
				Role: annotator.RoleTool, ToolCallID: call.ID, Tool: call.Name,
				Content: `{"ok":true,"entries":[]}`,
			}},
			[]annotator.Message{{Role: annotator.RoleAssistant, Content: "Done."}})
	}
	return append(groups, []annotator.Message{{Role: annotator.RoleUser, Content: scene}})
}

// BenchmarkEncode encodes a long story from its beginning, as a resumed run does.
func BenchmarkEncode(b *testing.B) {
	groups := longStory()
	for _, w := range wires() {
		b.Run(w.name, func(b *testing.B) {
			c := w.answered(b, nil)
			b.SetBytes(int64(len(wiretest.History(b, c, groups...))))
			b.ReportAllocs()
			for b.Loop() {
				for _, group := range groups {
					if _, err := c.Encode(group); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkRequest sends an encoded long story to a network that reads it and gives a minimal answer.
func BenchmarkRequest(b *testing.B) {
	groups := longStory()
	for _, w := range wires() {
		b.Run(w.name, func(b *testing.B) {
			answer := streamed(b, w, scripted.Reply{Text: "Done."})
			c := w.answered(b, func(r *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, r.Body)
				return stream(bytes.NewReader(answer)), nil
			})
			r := &model.Request{
				Model: "scripted", System: "You keep a codex.", History: wiretest.History(b, c, groups...),
				Tools: wiretest.Tools(b, c, []annotator.ToolDefinition{searchTool, readTool}), MaxTokens: 500,
				Stream: true,
			}
			b.SetBytes(int64(len(r.History)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Complete(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStream reads a reply in 500 pieces.
func BenchmarkStream(b *testing.B) {
	said := scripted.Reply{Text: strings.Repeat("the lamp on the quay was lit at. ", 500)[:32*500]}
	for _, w := range wires() {
		b.Run(w.name, func(b *testing.B) {
			body := streamed(b, w, said)
			c := w.answered(b, func(*http.Request) (*http.Response, error) {
				return stream(bytes.NewReader(body)),
					nil
			})
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if reply, err := ask(b.Context(), c, true); err != nil || reply.Text != said.Text {
					b.Fatal(err)
				}
			}
		})
	}
}

// streamed is a reply in the form of the scripted server's stream over a wire.
func streamed(tb testing.TB, w wire, said scripted.Reply) (body []byte) {
	tb.Helper()
	server := scripted.New(scripted.Options{Script: func(scripted.Request) scripted.Reply { return said }})
	c := w.answered(tb, func(r *http.Request) (*http.Response, error) {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, r)
		body = recorder.Body.Bytes()
		return stream(bytes.NewReader(body)), nil
	})
	if _, err := c.Complete(tb.Context(), &model.Request{
		Model: "scripted", History: wiretest.History(tb, c, hi),
		MaxTokens: 10_000, Stream: true,
	}); err != nil {
		tb.Fatal(err)
	}
	return body
}
