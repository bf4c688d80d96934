package offline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"annotator/model/offline"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Types of the wire, separate from those of the code, so that the two do not share a mistake.
type (
	object = map[string]any

	call struct {
		Index    int
		ID, Type string
		Function struct{ Name, Arguments string }
	}
	reply struct {
		Model   string
		Choices []struct {
			Message struct {
				Content   string
				ToolCalls []call `json:"tool_calls"`
			}
			Delta struct {
				Content   string
				ToolCalls []call `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			PromptTokens     int `json:"prompt_tokens"`
			CompletionTokens int `json:"completion_tokens"`
			TotalTokens      int `json:"total_tokens"`
			Details          struct {
				CachedTokens int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	arguments struct {
		Term, Status  string
		Tags, Aliases []string
		EntryID       int64 `json:"entry_id"`
		Facts         []struct {
			Text, Quote string
			PostID      int64 `json:"post_id"`
			Identity    bool
		}
		Done bool
	}
)

func post(t testing.TB, m *offline.Model, path string, body any) (int, []byte) {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: m}
	response, err := client.Post("http://offline"+path, "application/json", bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

func chat(t testing.TB, m *offline.Model, request object) reply {
	t.Helper()
	status, body := post(t, m, "/v1/chat/completions", request)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func says(role, content string) object { return object{"role": role, "content": content} }

// withTools returns a request with the tools.
func withTools(messages ...object) object {
	tool := func(name string) object { return object{"type": "function", "function": object{"name": name}} }
	return object{
		"model": "m", "messages": messages,
		"tools": []object{tool("glossary_create"), tool("glossary_update")},
	}
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// scene renders posts as the program does. Their ids begin with 101.
func scene(posts ...string) object {
	var b strings.Builder
	b.WriteString("<scene number=\"1\" thread=\"7\" title=\"A &quot;title&quot;\" index=\"0\">\n")
	for i, p := range posts {
		fmt.Fprintf(&b, "<post id=\"%d\" author=\"QM\">\n%s\n</post>\n", 101+i, escape(p))
	}
	return says("user", b.String()+"</scene>")
}

// annotate sends a scene and returns the arguments of the calls, by tool.
func annotate(t testing.TB, request object) (creates, updates []arguments) {
	t.Helper()
	for _, c := range chat(t, offline.New(offline.Options{}), request).Choices[0].Message.ToolCalls {
		var a arguments
		if err := json.Unmarshal([]byte(c.Function.Arguments), &a); err != nil {
			t.Fatalf("%s: %v", c.Function.Arguments, err)
		}
		if c.Function.Name == "glossary_create" {
			creates = append(creates, a)
		} else {
			updates = append(updates, a)
		}
	}
	return creates, updates
}

const harbour = "Captain Marrow came ashore at Vesper Quay before dawn. Nobody had seen Ysolde Marrow in a year.\n\n" +
	"“The Lamplighters want you,” said Tobin, and she laughed. The Lamplighters were a guild of watchmen. Then " +
	"Tobin rowed the " +
	"captain home, and the Lamplighters let them pass."

func TestStreamedEqualsWhole(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]object{
		"calls": withTools(scene(harbour)),
		"text":  withTools(scene("it rained.")),
	} {
		m := offline.New(offline.Options{})
		whole := chat(t, m, request)
		request["stream"], request["stream_options"] = true, object{"include_usage": true}
		_, body := post(t, m, "/v1/chat/completions", request)
		streamed := assemble(t, body)
		streamed.Usage.Details = whole.Usage.Details // the first request filled the cache
		if diff := cmp.Diff(whole, streamed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: whole against streamed (-, +):\n%s", name, diff)
		}
	}
}

// assemble joins the pieces of a stream as a client does.
func assemble(t *testing.T, body []byte) reply {
	t.Helper()
	events := strings.Split(strings.TrimSuffix(string(body), "\n\n"), "\n\n")
	if events[len(events)-1] != "data: [DONE]" {
		t.Fatalf("the stream ends with %q", events[len(events)-1])
	}
	var whole reply
	for i, event := range events[:len(events)-1] {
		var r reply
		if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &r); err != nil {
			t.Fatalf("%s: %v", event, err)
		}
		if i == 0 {
			whole = r
			continue
		}
		if len(r.Choices) == 0 {
			whole.Usage = r.Usage
			continue
		}
		message, delta := &whole.Choices[0].Message, r.Choices[0].Delta
		message.Content += delta.Content
		for _, c := range delta.ToolCalls {
			if c.ID != "" {
				message.ToolCalls = append(message.ToolCalls, c)
			}
			message.ToolCalls[c.Index].Function.Arguments += c.Function.Arguments
		}
		whole.Choices[0].FinishReason = r.Choices[0].FinishReason
	}
	for i := range whole.Choices[0].Message.ToolCalls {
		whole.Choices[0].Message.ToolCalls[i].Index = 0
	}
	return whole
}

func TestSameRequestSameReply(t *testing.T) {
	t.Parallel()
	request := withTools(says("system", "s"), scene(harbour))
	m := offline.New(offline.Options{})
	first, second, other := chat(t, m, request), chat(t, m, request), chat(t, offline.New(offline.Options{}), request)
	if first.Usage.Details.CachedTokens != 0 || second.Usage.Details.CachedTokens != second.Usage.PromptTokens {
		t.Errorf("cached %d, then %d of %d", first.Usage.Details.CachedTokens, second.Usage.Details.CachedTokens,
			second.Usage.PromptTokens)
	}
	second.Usage = first.Usage
	if diff := cmp.Diff(first, second) + cmp.Diff(first, other); diff != "" {
		t.Error(diff)
	}
	ids := map[string]bool{}
	for _, c := range first.Choices[0].Message.ToolCalls {
		ids[c.ID] = true
	}
	if len(ids) != len(first.Choices[0].Message.ToolCalls) || first.Choices[0].FinishReason != "tool_calls" {
		t.Errorf("%d ids of %d calls, finish reason %q", len(ids), len(first.Choices[0].Message.ToolCalls),
			first.Choices[0].FinishReason)
	}
}

func TestPrefixIsCached(t *testing.T) {
	t.Parallel()
	m := offline.New(offline.Options{})
	system := says("system", strings.Repeat("rules ", 100))
	first := chat(t, m, withTools(system, scene(harbour)))
	longer := chat(t, m, withTools(system, scene(harbour), says("assistant", "done"), scene("it rained.")))
	if got, want := longer.Usage.Details.CachedTokens, first.Usage.PromptTokens; got != want {
		t.Errorf("cached %d tokens, want the %d of the first prompt", got, want)
	}
	other := chat(t, m, withTools(says("system", "other rules"), scene(harbour)))
	if got := other.Usage.Details.CachedTokens; got >= first.Usage.PromptTokens/2 {
		t.Errorf("cached %d tokens behind another system prompt", got)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	m := offline.New(offline.Options{ContextTokens: 1000})
	_, count := post(t, m, "/tokenize", object{"prompt": "eight by"})
	if want := `{"count":2,"max_model_len":1000,"tokens":[]}`; string(count) != want {
		t.Errorf("tokenize: %s, want %s", count, want)
	}
	request := withTools(scene(harbour))
	_, count = post(t, m, "/v1/tokenize", request)
	var counted struct{ Count int }
	if err := json.Unmarshal(count, &counted); err != nil || counted.Count != chat(t, m, request).Usage.PromptTokens {
		t.Errorf("tokenize: %s (%v), want the prompt's tokens", count, err)
	}
	for path, want := range map[string]int{"/v1/models": 200, "/health": 200, "/v1/nothing": 404} {
		response, err := (&http.Client{Transport: m}).Get("http://offline" + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	m := offline.New(offline.Options{ContextTokens: 100})
	request := withTools(scene(harbour))
	status, body := post(t, m, "/v1/chat/completions", request)
	if status != http.StatusBadRequest || !strings.Contains(string(body),
		"the model's context length is only 100 tokens") {
		t.Errorf("%d %s", status, body)
	}
}

func TestRequestThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, body := range []any{"text", object{"messages": 1}, object{}, []int{1}} {
		if status, answer := post(t, offline.New(offline.Options{}), "/v1/chat/completions",
			body); status != http.StatusBadRequest {
			t.Errorf("%v: %d %s", body, status, answer)
		}
	}
}

// The caller's limit never cuts a call: the model makes fewer.
func TestCallsFitTheLimit(t *testing.T) {
	t.Parallel()
	request := withTools(scene(harbour))
	all := len(chat(t, offline.New(offline.Options{}), request).Choices[0].Message.ToolCalls)
	request["max_tokens"] = 150
	r := chat(t, offline.New(offline.Options{}), request)
	if n := len(r.Choices[0].Message.ToolCalls); n == 0 || n >= all || r.Usage.CompletionTokens >= 150 {
		t.Errorf("%d calls of %d, %d tokens", n, all, r.Usage.CompletionTokens)
	}
	request["tools"], request["max_tokens"] = nil, 10
	if r := chat(t, offline.New(offline.Options{}), request); r.Choices[0].FinishReason != "length" ||
		r.Usage.CompletionTokens > 10 {
		t.Errorf("%+v", r)
	}
}
