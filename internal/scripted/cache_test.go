package scripted_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/internal/scripted"

	"pgregory.net/rapid"
)

const block = 16

// In a growing conversation, only the new tail is not cached: the cache has the reply as well as the prompt.
func TestGrowingConversationPaysForItsTail(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{Strict: true})
	messages := []message{system(strings.Repeat("Keep a glossary. ", 40))}
	list := tools("glossary_create", "glossary_search", "glossary_update", "read_post")
	before := 0
	for n := 1; n <= 30; n++ {
		messages = append(messages, user(sceneText(n)))
		for {
			a := ask(t, s, map[string]any{"messages": messages, "tools": list})
			if want := before / block * block; a.Usage.Details.Cached != want {
				t.Fatalf("scene %d: %d of %d tokens cached, want %d", n, a.Usage.Details.Cached, a.Usage.Prompt, want)
			}
			before = a.Usage.Prompt + a.Usage.Completion
			messages = append(messages, assistant(a))
			if len(a.Calls) == 0 {
				break
			}
			for i, c := range a.Calls {
				messages = append(messages, toolResult(c.ID, fmt.Sprintf(`{"ok":true,"entry":{"id":%d}}`, n*10+i)))
			}
		}
	}
	if len(s.Violations()) > 0 {
		t.Errorf("violations %v", s.Violations())
	}
}

func TestWhatBreaksThePrefix(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The lamps were lit. ", 100) // 500 tokens
	thinking := func(scripted.Request) scripted.Reply { return scripted.Reply{Text: "Yes.", Reasoning: long} }
	base := []message{system(long), user(long)}
	for name, test := range map[string]struct {
		fields map[string]any
		want   int
	}{
		"nothing":           {map[string]any{"messages": base}, 1008},
		"shorter":           {map[string]any{"messages": base[:1]}, 496},
		"last message":      {map[string]any{"messages": []message{base[0], user("No.")}}, 496},
		"system prompt":     {map[string]any{"messages": []message{system("Other."), base[1]}}, 0},
		"tools":             {map[string]any{"messages": base, "tools": tools("f")}, 0},
		"order of fields":   {map[string]any{"messages": base, "a": 1, "z": 1}, 1008},
		"reasoning dropped": {map[string]any{"messages": append(base[:2:2], text("Yes."), user("x"))}, 1008},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scripted.New(scripted.Options{Script: thinking})
			first := ask(t, s, map[string]any{"messages": base})
			if first.Usage.Details.Cached != 0 {
				t.Fatalf("%d cached at first", first.Usage.Details.Cached)
			}
			if a := ask(t, s, test.fields); a.Usage.Details.Cached != test.want {
				t.Errorf("%d of %d cached, want %d", a.Usage.Details.Cached, a.Usage.Prompt, test.want)
			}
		})
	}
}

func TestRefusedPromptIsNotCached(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{MaxModelLen: 1000})
	fields := map[string]any{"messages": []message{user(strings.Repeat("x", 2000))}, "max_tokens": 600}
	if w := serve(s, body(t, fields)); w.Code != http.StatusBadRequest {
		t.Fatalf("status %d", w.Code)
	}
	fields["max_tokens"] = 10
	if a := ask(t, s, fields); a.Usage.Details.Cached != 0 {
		t.Errorf("%d cached of a prompt that was refused", a.Usage.Details.Cached)
	}
}

// naiveCache is a slow model of the cache: it stores every prefix as text. Replies are empty.
type naiveCache map[string]bool

func (c naiveCache) ask(tools string, messages []annotator.Message) (prompt, cached int) {
	tokens := pieces(tools)
	for _, m := range messages {
		tokens = append(tokens, "<open>", "<"+string(m.Role[0])+">")
		tokens = append(tokens, pieces(m.Content)...)
		tokens = append(tokens, "<end>", "<newline>")
	}
	tokens = append(tokens, "<open>", "<a>", "<end>")
	prompt = len(tokens) - 1
	hit := true
	for n := block; n <= len(tokens); n += block {
		prefix := strings.Join(tokens[:n], "|")
		hit = hit && c[prefix]
		if hit && n < prompt {
			cached = n
		}
		c[prefix] = true
	}
	return prompt, cached
}

func pieces(text string) []string {
	var list []string
	for len(text) > 4 {
		list = append(list, text[:4])
		text = text[4:]
	}
	if text != "" {
		list = append(list, text)
	}
	return list
}

// Stored prompts do not affect results. Every answer and every decoded request equals that of a server that reads each
// body from its beginning.
func TestIncrementalReadingDoesNotShow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var got scripted.Request
		s := scripted.New(scripted.Options{Script: func(r scripted.Request) scripted.Reply {
			got = r
			return scripted.Reply{}
		}})
		naive := naiveCache{}
		word := rapid.SampledFrom([]string{"", "lamp", "lamps", "Ærith \"<&", strings.Repeat("灯籠 ", 30)})
		role := rapid.SampledFrom([]annotator.Role{"user", "assistant", "system"})
		messages := []annotator.Message{{Role: "system", Content: "s"}}
		for range rapid.IntRange(2, 30).Draw(t, "requests") {
			keep := rapid.IntRange(max(1, len(messages)-2), len(messages)).Draw(t, "keep")
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				keep = 0
			}
			messages = messages[:keep:keep]
			for range rapid.IntRange(1, 3).Draw(t, "new") {
				messages = append(messages, annotator.Message{
					Role:    role.Draw(t, "role"),
					Content: word.Draw(t, "word"),
				})
			}
			tools := rapid.SampledFrom([]string{"[]", "[]", "[{}]"}).Draw(t, "tools")
			head := rapid.SampledFrom([]string{"", `"model":"scripted",`}).Draw(t, "head")
			w := serve(s, rawBody(t, head, messages, tools))
			if w.Code != http.StatusOK {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			a := readPlain(t, w.Body.Bytes())
			prompt, cached := naive.ask(tools, messages)
			if a.Usage.Prompt != prompt || a.Usage.Details.Cached != cached {
				t.Fatalf("%d of %d cached, want %d of %d", a.Usage.Details.Cached, a.Usage.Prompt, cached, prompt)
			}
			sameMessages(t, got.Messages, messages)
		}
	})
}

func rawBody(t *rapid.T, head string, messages []annotator.Message, tools string) []byte {
	var b bytes.Buffer
	b.WriteString("{" + head + `"messages": [`)
	for i, m := range messages {
		if i > 0 {
			b.WriteString(" ,\n")
		}
		raw, err := json.Marshal(message{Role: string(m.Role), Content: m.Content})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
	b.WriteString(`], "tools":` + tools + "}")
	return b.Bytes()
}

func sameMessages(t *rapid.T, got []scripted.Message, want []annotator.Message) {
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].Role != want[i].Role || got[i].Content != want[i].Content {
			t.Fatalf("message %d is %v, want %v", i, got[i].Message, want[i])
		}
	}
}

// More conversations alternate than are stored, from several clients. Their blocks remain in the cache.
func TestManyConversationsAtOnce(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t, scripted.Options{})
	const conversations, rounds = 40, 5
	var wait sync.WaitGroup
	for c := range conversations {
		wait.Go(func() {
			messages := []message{system(fmt.Sprintf("Story %d. %s", c, strings.Repeat("Read. ", 20)))}
			before := 0
			for range rounds {
				messages = append(messages, user("Go on."))
				a := ask(t, s, map[string]any{"messages": messages})
				if want := before / block * block; a.Usage.Details.Cached != want {
					t.Errorf("story %d: %d cached, want %d", c, a.Usage.Details.Cached, want)
				}
				before = a.Usage.Prompt + a.Usage.Completion
				messages = append(messages, assistant(a))
			}
		})
	}
	wait.Wait()
	if s.Calls() != conversations*rounds {
		t.Errorf("%d calls", s.Calls())
	}
}

// FuzzBody reads a body alone and after another, over any wire: both answers must be equal.
func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}]}`),
		[]byte(`{"messages":[{"role":"user","content":"x"},{"role":"tool"}],"stream":false}`), 0)
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"text":"x"}]}]}`),
		[]byte(`{"messages":[{"role":"user","content":[{"text":"x"}]}],"messages":[]}`), 0)
	f.Add([]byte(`{"tools":[{}],"messages":[{"tool_calls":[{"function":{"arguments":{}}}]}]}`),
		[]byte(`{"tools":[{}],"messages":[{"tool_calls":[null]}],"max_tokens":3}`), 0)
	f.Add([]byte(`[`), []byte(`{"messages":[null]}`), 0)
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}]}`), []byte(`{"messages":[{"role":"user","content":"x"}0`),
		0)
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}]}`),
		[]byte(`{"messages":[{"role":"user","content":"x"}.5]}`), 0)
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}]}`), []byte(`{"messages":[{"role":"user","content":"x"}`),
		0)
	f.Add([]byte(`{"input":[{"role":"user","content":"x"}]}`),
		[]byte(`{"input":[{"role":"user","content":"x"},{"type":"function_call","name":"f","arguments":"{"}]}`), 1)
	f.Add([]byte(`{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`),
		[]byte(`{"max_tokens":1,"messages":[{"role":"user","content":[null]}]}`), 2)
	f.Add([]byte(`{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`),
		[]byte(
			`{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f",`+
				`"args":[1]},"thoughtSignature":"c2lnbmVk"}]}]}`), 3)
	paths := [...]string{"/v1/chat/completions", "/v1/responses", "/v1/messages", generate, streamGenerate}
	f.Fuzz(func(t *testing.T, first, second []byte, path int) {
		ask := func(s *scripted.Server, body []byte) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, paths[uint(path)%uint(len(paths))], bytes.NewReader(body))
			r.Header.Set("Anthropic-Version", "2023-06-01")
			return newRecorder(s, r)
		}
		reply := func(scripted.Request) scripted.Reply { return scripted.Reply{Usage: &annotator.Usage{}} }
		options := scripted.Options{Strict: len(first)%2 == 0, Script: reply}
		alone, after := scripted.New(options), scripted.New(options)
		ask(after, first)
		want, got := ask(alone, second), ask(after, second)
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("alone: %d %s\nafter: %d %s", want.Code, want.Body, got.Code, got.Body)
		}
	})
}

// BenchmarkLongConversation sends a growing prompt of about 128,000 tokens.
func BenchmarkLongConversation(b *testing.B) {
	s := scripted.New(scripted.Options{MaxModelLen: 1 << 30})
	var history bytes.Buffer
	history.WriteString(`{"model":"scripted","messages":[{"role":"system","content":"s"}`)
	add := func(content string) {
		raw, err := json.Marshal(content)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&history, `,{"role":"user","content":%s},{"role":"assistant","content":"Yes."}`, raw)
	}
	for history.Len() < 512<<10 {
		add(strings.Repeat("The lamps were lit at dusk. ", 200))
	}
	size := history.Len()
	for i := 0; b.Loop(); i++ {
		if history.Len() > size+size/4 {
			b.StopTimer()
			history.Truncate(size)
			b.StartTimer()
		}
		add(fmt.Sprintf("Scene %d. The lamps were lit at dusk.", i))
		request := append(bytes.Clone(history.Bytes()), `],"tools":[]}`...)
		if w := serve(s, request); w.Code != http.StatusOK {
			b.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
}
