package openai_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

func callChunk(parts string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + parts + `]}}]}`
}

// TestReadReply covers deviations of servers, each from a public report.
func TestReadReply(t *testing.T) {
	t.Parallel()
	const (
		stream = "text/event-stream"
		object = "application/json"
	)
	plain := model.Reply{Text: "Dawn", Finish: "stop", Model: "m", Usage: exactUsage}
	uncounted := model.Reply{Text: "Dawn", Finish: "stop", Model: "m"}
	called := func(calls ...annotator.ToolCall) model.Reply {
		return model.Reply{Finish: "stop", Model: "m", Calls: calls}
	}
	tests := []struct {
		name, media, body string
		want              model.Reply
	}{
		{"ordinary", stream, wiretest.Events(textChunk, finishChunk, usageChunk, "[DONE]"), plain},
		{"no [DONE]", stream, wiretest.Events(textChunk, finishChunk, usageChunk), plain},
		{"no last line end", stream, "data: " + textChunk + "\ndata: " + finishChunk, uncounted},
		{"no blanks", stream, "data:" + textChunk + "\ndata:" + finishChunk + "\ndata:[DONE]\n", uncounted},
		{"keep-alives", stream, ": ping\n\n: OPENROUTER PROCESSING\n\ndata:\n\ndata: \n\nevent: ping\nid: 1\nretry: " +
			"5\n\n" + wiretest.Events(textChunk, finishChunk, usageChunk), plain},
		{
			"CRLF and BOM", stream, "\ufeff" + strings.ReplaceAll(wiretest.Events(textChunk, finishChunk), "\n",
				"\r\n"),
			uncounted,
		},
		{"usage null", stream, wiretest.Events(`{"choices":[],"usage":null}`, textChunk, finishChunk,
			`{"choices":[],"usage":null}`), uncounted},
		{"usage unreadable", stream, wiretest.Events(textChunk, finishChunk,
			`{"choices":[],"usage":{"prompt_tokens":"many"}}`), uncounted},
		{
			"usage zero", stream, wiretest.Events(textChunk, finishChunk, `{"choices":[],"usage":{"prompt_tokens":0}}`),
			uncounted,
		},
		{"usage absurd", stream, wiretest.Events(textChunk, finishChunk,
			`{"choices":[],"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":2}}`), uncounted},
		{
			"usage absurd, of the reply", stream,
			wiretest.Events(textChunk, finishChunk,
				`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":9223372036854775807}}`), uncounted,
		},
		{
			"a page by its type only", "text/html; charset=utf-8",
			wiretest.Events(textChunk, finishChunk, usageChunk, "[DONE]"), plain,
		},
		{"error null", stream, wiretest.Events(`{"error":null,`+textChunk[1:], finishChunk), uncounted},
		{"two finishes", stream, wiretest.Events(textChunk, finishChunk, textChunk,
			strings.Replace(finishChunk, "stop", "length", 1)), uncounted},
		{
			"always a finish", stream, wiretest.Events(
				`{"model":"m","choices":[{"delta":{"content":"Da"},"finish_reason":"stop"}]}`,
				`{"choices":[{"delta":{"content":"wn"},"finish_reason":"stop"}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, usageChunk),
			model.Reply{
				Text: "Dawn", Finish: "tool_calls", Model: "m", Usage: exactUsage,
				Calls: []annotator.ToolCall{call("a", "f", "{}")},
			},
		},
		{"another choice", stream, wiretest.Events(textChunk, `{"choices":[{"index":1,"delta":{"content":"x"}}]}`,
			finishChunk), uncounted},
		{"wrong type", "text/plain", wiretest.Events(textChunk, finishChunk, "[DONE]"), uncounted},
		{
			"an object where a stream was asked for", object,
			` {"model":"m","choices":[{"message":{"content":"Dawn"},"finish_reason":"stop"}]}`, uncounted,
		},
		{
			"llama.cpp counts its cache", stream,
			wiretest.Events(textChunk, finishChunk,
				`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2},"timings":{"cache_n":8}}`), plain,
		},
		{
			"DeepSeek counts its cache", stream,
			wiretest.Events(textChunk, finishChunk,
				`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2}}`), plain,
		},
		{
			"Moonshot counts its cache", stream,
			wiretest.Events(textChunk, finishChunk,
				`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":8}}`), plain,
		},
		{
			"Moonshot counts within the choice", stream,
			wiretest.Events(textChunk,
				`{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":8}}]}`, "[DONE]"), plain,
		},
		{
			"a cache that cannot be", stream,
			wiretest.Events(textChunk, finishChunk,
				`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":null,"cached_tokens":"many","prompt_cache_hit_tokens":99}}`),
			model.Reply{
				Text: "Dawn", Finish: "stop", Model: "m",
				Usage: annotator.Usage{Prompt: 10, Told: 10, Cached: 10, Completion: 2, Exact: true},
			},
		},
		{
			"content null", object, `{"model":"m","choices":[{"message":{"content":null},"finish_reason":"stop"}]}`,
			called(),
		},
		{
			"refused", object,
			`{"model":"m","choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}`,
			model.Reply{Text: "I cannot", Finish: "content_filter", Model: "m"},
		},
		{
			"content in parts", object,
			`{"model":"m","choices":[{"message":{"content":[{"type":"text","text":"Da"},{"type":"image"},{"type":"text","text":"wn"}]},"finish_reason":"stop"}]}`, uncounted,
		},
		{
			"arguments an object", object,
			`{"model":"m","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x": 1}}}]},"finish_reason":"stop"}]}`, called(call("a", "f", `{"x": 1}`)),
		},
		{
			"no ids, doubled ids", object,
			`{"model":"m","choices":[{"message":{"tool_calls":[{"function":{"name":"f"}},{"id":"a","function":{"name":"g","arguments":null}},{"id":"a","function":{"name":"h","arguments":""}}]},"finish_reason":"stop"}]}`, called(call("", "f", ""), call("a", "g", ""), call("a", "h", "")),
		},
		{
			"calls in pieces", stream, wiretest.Events(
				callChunk(`{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}`),
				callChunk(
					`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"index":1,"function":{"arguments":"}"}}`),
				callChunk(`{"index":0,"id":"a","function":{"arguments":":1}"}}`), finishChunk),
			called(call("a", "f", `{"x":1}`), call("b", "g", `{}`)),
		},
		{
			"calls without index", stream, wiretest.Events(
				callChunk(`{"id":"a","function":{"name":"f","arguments":"{"}}`),
				callChunk(`{"function":{"arguments":"}"}}`),
				callChunk(`{"id":"b","function":{"name":"g","arguments":"{}"}}`), finishChunk),
			called(call("a", "f", `{}`), call("b", "g", `{}`)),
		},
		{
			"every index 0", stream, wiretest.Events(
				callChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`),
				callChunk(`{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`), finishChunk),
			called(call("a", "f", `{}`), call("b", "g", `{}`)),
		},
		{
			"an id for each piece", stream, wiretest.Events(
				callChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`),
				callChunk(`{"index":0,"id":"x","function":{"arguments":"}"}}`),
				callChunk(`{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}`),
				callChunk(`{"index":1,"id":"y","function":{"arguments":"}"}}`), finishChunk),
			called(call("a", "f", `{}`), call("b", "g", `{}`)),
		},
		{
			"calls behind the finish", stream, wiretest.Events(
				`{"model":"m","choices":[{"delta":{"content":""}}]}`, finishChunk,
				callChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`),
				callChunk(`{"index":0,"function":{"arguments":"}"}}`)),
			called(call("a", "f", `{}`)),
		},
		{
			"calls once more behind the finish", stream, wiretest.Events(
				callChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), finishChunk,
				callChunk(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)),
			called(call("a", "f", `{}`)),
		},
		{
			"a function call", object,
			`{"model":"m","choices":[{"message":{"content":null,"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"stop"}]}`, called(call("", "f", `{}`)),
		},
		{
			"a function call in pieces", stream, wiretest.Events(
				`{"model":"m","choices":[{"delta":{"function_call":{"name":"f","arguments":"{"}}}]}`,
				`{"choices":[{"delta":{"function_call":{"arguments":"}"}}}]}`, finishChunk),
			called(call("", "f", `{}`)),
		},
		{
			"a function call beside the same call", object,
			`{"model":"m","choices":[{"message":{"function_call":{"name":"f","arguments":"{}"},` +
				`"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
			called(call("a", "f", `{}`)),
		},
		{
			"reasoning under two names", stream, wiretest.Events(
				`{"model":"m","choices":[{"delta":{"reasoning":"h","reasoning_content":"h"}}]}`,
				`{"choices":[{"delta":{"reasoning_content":"m"}}]}`, finishChunk),
			model.Reply{Reasoning: "hm", Finish: "stop", Model: "m"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, test.media, test.body)})
			got, err := complete(t.Context(), c, true)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got, wiretest.Unmeasured()); diff != "" {
				t.Error(diff)
			}
			if string(got.Raw) != test.body {
				t.Errorf("raw is %q", got.Raw)
			}
		})
	}
}

// script is a reply and a way to stream it.
type script struct {
	reply  model.Reply
	frames []string
	whole  string
}

func scripts() *rapid.Generator[script] {
	return rapid.Custom(func(t *rapid.T) script {
		s := script{reply: model.Reply{
			Model:     "m",
			Text:      rapid.String().Draw(t, "text"),
			Reasoning: rapid.String().Draw(t, "reasoning"),
			Calls:     rapid.SliceOfN(calls(), 0, 3).Draw(t, "calls"),
			Finish:    rapid.SampledFrom([]string{"stop", "tool_calls", "length"}).Draw(t, "finish"),
			Usage:     annotator.Usage{Prompt: rapid.IntRange(1, 9).Draw(t, "prompt"), Completion: 3, Exact: true},
		}}
		s.stream(t)
		s.wholly()
		return s
	})
}

// stream breaks the reply into frames, at any character.
func (s *script) stream(t *rapid.T) {
	add := func(format string, args ...any) {
		if rapid.Bool().Draw(t, "keep-alive") {
			s.frames = append(s.frames, "")
		}
		s.frames = append(s.frames, `{"model":"m","choices":[{"index":0,"delta":`+fmt.Sprintf(format, args...)+`}]}`)
	}
	for _, piece := range pieces(t, s.reply.Reasoning) {
		add(`{"reasoning":%s}`, wiretest.JSON(piece))
	}
	for _, piece := range pieces(t, s.reply.Text) {
		add(`{"content":%s}`, wiretest.JSON(piece))
	}
	for i, c := range s.reply.Calls {
		add(`{"tool_calls":[{"index":%d,"id":%q,"function":{"name":%q,"arguments":""}}]}`, i, c.ID, c.Name)
		for _, piece := range pieces(t, c.Arguments) {
			add(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, wiretest.JSON(piece))
		}
	}
	s.frames = append(s.frames,
		fmt.Sprintf(`{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, s.reply.Finish),
		fmt.Sprintf(`{"model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":3}}`,
			s.reply.Usage.Prompt),
		"[DONE]")
}

func pieces(t *rapid.T, s string) (all []string) {
	runes := []rune(s)
	for len(runes) > 0 {
		n := rapid.IntRange(1, len(runes)).Draw(t, "piece")
		all = append(all, string(runes[:n]))
		runes = runes[n:]
	}
	return all
}

func (s *script) wholly() {
	var calls []string
	for _, c := range s.reply.Calls {
		calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, c.ID,
			c.Name, wiretest.JSON(c.Arguments)))
	}
	s.whole = fmt.Sprintf(`{"model":"m","choices":[{"index":0,"message":{"content":%s,"reasoning_content":%s,"tool_calls":[%s]},"finish_reason":%q}],"usage":{"prompt_tokens":%d,"completion_tokens":3}}`,
		wiretest.JSON(s.reply.Text), wiretest.JSON(s.reply.Reasoning), strings.Join(calls, ","), s.reply.Finish,
		s.reply.Usage.Prompt)
}

func TestStreamedIsUnstreamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := scripts().Draw(rt, "script")
		c := newClient(t, endpoint.Options{HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Accept") == "application/json" {
				return wiretest.Response(200, "application/json", strings.NewReader(s.whole)), nil
			}
			return wiretest.Response(200, "text/event-stream", strings.NewReader(wiretest.Events(s.frames...))), nil
		})})
		for _, stream := range []bool{true, false} {
			got, err := complete(t.Context(), c, stream)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(&s.reply, got, wiretest.Unmeasured(), cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("stream %v: %s", stream, diff)
			}
		}
	})
}

func FuzzReadReply(f *testing.F) {
	f.Add("text/event-stream", []byte(wiretest.Events(textChunk, finishChunk, usageChunk, "[DONE]")))
	f.Add("text/event-stream", []byte(wiretest.Events(textChunk, `{"error":{"message":"x"}}`)+
		"event: error\ndata: x\n"))
	f.Add("application/json",
		[]byte(`{"choices":[{"message":{"content":[{"text":"a"}],"tool_calls":[{"index":-1,"function":{"arguments":{}}}]},"finish_reason":"stop"}]}`))
	f.Add("", []byte("\xef\xbb\xbf \r\n{\"choices\":[{\"delta\":{\"tool_calls\":[{}]}}]}"))
	f.Add("text/html", []byte("<html>"))
	f.Fuzz(func(t *testing.T, media string, body []byte) {
		reply := wiretest.Reread(t, media, body, func(n wiretest.Network) (*model.Reply, error) {
			return complete(t.Context(), newClient(t, endpoint.Options{HTTP: n}), true)
		})
		if reply != nil && reply.Finish == "" {
			t.Error("a reply without an end")
		}
	})
}
