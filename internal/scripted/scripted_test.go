package scripted_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"

	"github.com/google/go-cmp/cmp"
)

// message is a message of a request.
type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	Index    int    `json:"-"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// answer is an answer as decoded by a client, streamed or not.
type answer struct {
	Content, Reasoning, Finish string
	Calls                      []toolCall
	Usage                      usage
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Total      int `json:"total_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func user(content string) message { return message{Role: "user", Content: content} }

func toolResult(id, content string) message {
	return message{Role: "tool", ToolCallID: id, Content: content}
}

func assistant(a answer) message {
	return message{Role: "assistant", Content: a.Content, ToolCalls: a.Calls}
}

func calling(ids ...string) message {
	m := message{Role: "assistant"}
	for _, id := range ids {
		c := toolCall{ID: id, Type: "function"}
		c.Function.Name, c.Function.Arguments = "read_post", `{"post_id":1}`
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return m
}

func tools(names ...string) []any {
	var list []any
	for _, name := range names {
		list = append(list, map[string]any{"type": "function", "function": map[string]any{
			"name":       name,
			"parameters": map[string]any{},
		}})
	}
	return list
}

// fataler has the common methods of *testing.T and *rapid.T that are used here.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func body(t fataler, fields map[string]any) []byte {
	t.Helper()
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serve posts a body to the chat route.
func serve(h http.Handler, body []byte) *httptest.ResponseRecorder {
	return newRecorder(h, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body)))
}

func newRecorder(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// ask sends messages, plain, and reads the answer.
func ask(t fataler, h http.Handler, fields map[string]any) answer {
	t.Helper()
	w := serve(h, body(t, fields))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return readPlain(t, w.Body.Bytes())
}

func readPlain(t fataler, b []byte) answer {
	t.Helper()
	var wire struct {
		Choices []struct {
			Message struct {
				Content, Reasoning string
				Calls              []toolCall `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
		Usage usage
	}
	if err := json.Unmarshal(b, &wire); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	c := wire.Choices[0]
	return answer{
		Content: c.Message.Content, Reasoning: c.Message.Reasoning, Calls: c.Message.Calls, Finish: c.Finish,
		Usage: wire.Usage,
	}
}

// events returns the data of each event of a stream.
func events(r io.Reader) []string {
	var list []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			list = append(list, data)
		}
	}
	return list
}

func readStream(t testing.TB, r io.Reader) answer {
	t.Helper()
	var a answer
	for _, data := range events(r) {
		if data == "[DONE]" {
			return a
		}
		readChunk(t, &a, data)
	}
	t.Fatal("no [DONE]")
	return a
}

func readChunk(t testing.TB, a *answer, data string) {
	t.Helper()
	var wire struct {
		Choices []struct {
			Delta struct {
				Content, Reasoning string
				Calls              []struct {
					Index int
					toolCall
				} `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
		Usage usage
	}
	if err := json.Unmarshal([]byte(data), &wire); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if len(wire.Choices) == 0 {
		a.Usage = wire.Usage
		return
	}
	c := wire.Choices[0]
	a.Content += c.Delta.Content
	a.Reasoning += c.Delta.Reasoning
	a.Finish += c.Finish
	for _, d := range c.Delta.Calls {
		if d.Index == len(a.Calls) {
			a.Calls = append(a.Calls, d.toolCall)
			continue
		}
		a.Calls[d.Index].Function.Arguments += d.Function.Arguments
	}
}

func TestStreamEqualsPlain(t *testing.T) {
	t.Parallel()
	reply := scripted.Reply{
		Reasoning: "What is the lamp called? Ærith's lamp, in the story.",
		Text:      "A text of more than one delta, with 灯籠 and <tags> & \"quotes\"\nover two lines.",
		ToolCalls: []annotator.ToolCall{
			{Name: "read_post", Arguments: `{"post_id":4415}`},
			{ID: "mine", Name: "glossary_search", Arguments: `{"query":"the lanterns of the long and ` +
				`winding harbour"}`},
		},
	}
	s := scripted.Start(t, scripted.Options{Script: func(scripted.Request) scripted.Reply { return reply }})
	fields := map[string]any{"messages": []message{user("Hello.")}}
	plain := ask(t, s, fields)
	fields["stream"] = true
	fields["stream_options"] = map[string]any{"include_usage": true}
	response, err := http.Post(s.Endpoint()+"/chat/completions", "application/json", bytes.NewReader(body(t, fields)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	streamed := readStream(t, response.Body)
	if diff := cmp.Diff(plain, streamed); diff != "" {
		t.Errorf("plain (-) and streamed (+) differ:\n%s", diff)
	}
	if plain.Content != reply.Text || plain.Finish != "tool_calls" || plain.Calls[1].ID != "mine" ||
		plain.Calls[0].ID == "" {
		t.Errorf("not the script's reply: %+v", plain)
	}
	if got := response.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
}

func TestStreamChunks(t *testing.T) {
	t.Parallel()
	script := func(scripted.Request) scripted.Reply {
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{ID: "c", Name: "f", Arguments: `{"a":1}`}}}
	}
	s := scripted.New(scripted.Options{Model: "m", Script: script})
	w := serve(s,
		[]byte(
			`{"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user",`+
				`"content":"12345678"}]}`))
	var got []string
	for _, data := range events(w.Body) {
		_, choices, _ := strings.Cut(data, `"model":"m",`)
		got = append(got, choices)
	}
	want := []string{
		`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
		`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",` +
			`"function":{"name":"f"}}]},` +
			`"logprobs":null,"finish_reason":null}]}`,
		`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]},` +
			`"logprobs":null,"finish_reason":null}]}`,
		`"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"tool_calls"}]}`,
		`"choices":[],"usage":{"prompt_tokens":8,"total_tokens":14,"completion_tokens":6,` +
			`"prompt_tokens_details":{"cached_tokens":0}}}`,
		"",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUsageOnlyOnRequestInStreams(t *testing.T) {
	t.Parallel()
	w := serve(scripted.New(scripted.Options{}), []byte(`{"stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if strings.Contains(w.Body.String(), "usage") {
		t.Errorf("usage though nobody asked for it:\n%s", w.Body)
	}
}

func TestReplyIsCutAtMaxTokens(t *testing.T) {
	t.Parallel()
	script := func(scripted.Request) scripted.Reply {
		return scripted.Reply{
			Text:      "12345678",
			ToolCalls: []annotator.ToolCall{{Name: "name", Arguments: `{"query":"lanterns"}`}, {Name: "next"}},
		}
	}
	s := scripted.New(scripted.Options{Script: script})
	for _, test := range []struct {
		tokens    int
		content   string
		arguments []string
		finish    string
	}{
		{1, "1234", nil, "length"},
		{4, "12345678", nil, "length"},
		{5, "12345678", []string{`{"qu`}, "length"},
		{12, "12345678", []string{`{"query":"lanterns"}`}, "length"},
		{13, "12345678", []string{`{"query":"lanterns"}`, ""}, "length"},
		{14, "12345678", []string{`{"query":"lanterns"}`, ""}, "tool_calls"},
	} {
		a := ask(t, s, map[string]any{"max_tokens": test.tokens, "messages": []message{user("x")}})
		var arguments []string
		for _, c := range a.Calls {
			arguments = append(arguments, c.Function.Arguments)
		}
		if a.Content != test.content || a.Finish != test.finish || a.Usage.Completion != test.tokens ||
			!cmp.Equal(arguments, test.arguments) {
			t.Errorf("%d tokens: %+v", test.tokens, a)
		}
	}
}

func TestContextLimit(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{MaxModelLen: 100})
	// 80 bytes are 20 tokens; the message costs 4 more, the opening of the reply 2.
	fields := map[string]any{"messages": []message{user(strings.Repeat("x", 80))}, "max_tokens": 74}
	if a := ask(t, s, fields); a.Usage.Prompt != 26 {
		t.Errorf("%d tokens", a.Usage.Prompt)
	}
	fields["max_tokens"] = 75
	w := serve(s, body(t, fields))
	want := `{"error":{"message":"You passed 26 input tokens and requested 75 output tokens. However, the model's ` +
		`context length is ` +
		`only 100 tokens, resulting in a maximum input length of 25 tokens. Please reduce the length of the ` +
		`input prompt. ` +
		`(parameter=input_tokens, value=26)","type":"BadRequestError","param":"input_tokens","code":400}}`
	if w.Code != http.StatusBadRequest || w.Body.String() != want {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestRefusedFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{Model: "m"})
	for _, test := range []struct {
		body, want string
		status     int
	}{
		{
			`{"model":"x","messages":[{"role":"user","content":"x"}]}`, "The model `x` does not exist.",
			http.StatusNotFound,
		},
		{`{"messages":[]}`, "Field required", http.StatusBadRequest},
		{`{"messages":[{"role":"user"}]`, "JSON decode error", http.StatusBadRequest},
		{`{"messages":["user"]}`, "JSON decode error", http.StatusBadRequest},
		{`{"messages":[],"messages":[]}`, "given twice", http.StatusBadRequest},
		{`{"messages":[]}{}`, "JSON decode error", http.StatusBadRequest},
		{`[1]`, "JSON decode error", http.StatusBadRequest},
		{``, "JSON decode error", http.StatusBadRequest},
	} {
		w := serve(s, []byte(test.body))
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: status %d: %s", test.body, w.Code, w.Body)
		}
	}
}

func TestRequestsAreDecodedAndKept(t *testing.T) {
	t.Parallel()
	var seen []scripted.Request
	s := scripted.New(scripted.Options{Keep: true, OnRequest: func(r scripted.Request) { seen = append(seen, r) }})
	sent := []byte(`{"max_tokens":7,"tools":[{"type":"function",
		"function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
		"tool_choice":"auto","messages":[
		{"role":"user","name":"n","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":null,"reasoning":"why",
		"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"1","content":"ok"}]}`)
	serve(s, sent)
	if len(seen) != 1 || s.Calls() != 1 || len(s.Requests()) != 1 {
		t.Fatalf("%d seen, %d counted, %d kept", len(seen), s.Calls(), len(s.Requests()))
	}
	got := s.Requests()[0]
	var messages []annotator.Message
	for _, m := range got.Messages {
		messages = append(messages, m.Message)
	}
	want := []annotator.Message{
		{Role: "user", Content: "ab"},
		{Role: "assistant", Reasoning: "why", ToolCalls: []annotator.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}}},
		{Role: "tool", ToolCallID: "1", Content: "ok"},
	}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Error(diff)
	}
	wantTools := []annotator.ToolDefinition{{Name: "f", Description: "d", Schema: []byte(`{"type":"object"}`)}}
	if diff := cmp.Diff(wantTools, got.Tools); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(got.Body, sent) || got.MaxTokens != 7 || !got.MayCall() || got.Messages[0].Name != "n" ||
		got.Call != 1 {
		t.Errorf("%+v", got)
	}
}

func TestUsageOverride(t *testing.T) {
	t.Parallel()
	script := func(scripted.Request) scripted.Reply {
		return scripted.Reply{Text: "x", FinishReason: "content_filter", Usage: &annotator.Usage{
			Prompt: 1, Cached: 2,
			Completion: 3,
		}}
	}
	s := scripted.New(scripted.Options{Script: script})
	a := ask(t, s, map[string]any{"messages": []message{user("1234")}})
	if a.Usage.Prompt != 1 || a.Usage.Details.Cached != 2 || a.Usage.Completion != 3 || a.Finish != "content_filter" {
		t.Errorf("%+v", a)
	}
	if want := (annotator.Usage{Prompt: 7, Completion: 2, Exact: true}); s.Usage() != want {
		t.Errorf("the server counted %+v", s.Usage())
	}
}

func TestUnknownRoutesAreRefused(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t, scripted.Options{Model: "m", MaxModelLen: 4096})
	ask(t, s, map[string]any{"messages": []message{user("x")}})
	for _, test := range []struct{ method, path, body, want string }{
		{"GET", "/v1/models", "", `"id":"m","max_model_len":4096`},
		{"GET", "/health", "", ""},
		{"GET", "/metrics", "", "vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"m\"} 7.0\n"},
		{"GET", "/metrics", "", "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"} 0.0\n"},
		{"GET", "/nothing", "", `{"detail":"Not Found"}`},
		{"POST", "/tokenize", `{"prompt":"12345"}`, `"count":2,"max_model_len":4096,"token_strs":null,"tokens":[0,0]`},
		{"POST", "/tokenize", `{"messages":[{"role":"user","content":"x"}]}`, `"count":7,`},
		{
			"POST", "/tokenize", `{"messages":[{"role":"user","content":"x"}],"add_generation_prompt":false}`,
			`"count":5,`,
		},
		{"POST", "/tokenize", `{"prompt":1}`, "JSON decode error"},
	} {
		request, err := http.NewRequest(test.method, s.URL+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !strings.Contains(string(got), test.want) {
			t.Errorf("%s %s %s: %s, %v", test.method, test.path, test.body, got, err)
		}
	}
}
