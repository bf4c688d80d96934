package anthropic_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

func user(text string) annotator.Message {
	return annotator.Message{Role: annotator.RoleUser, Content: text}
}

func assistant(text string, calls ...annotator.ToolCall) annotator.Message {
	return annotator.Message{Role: annotator.RoleAssistant, Content: text, Reasoning: "hm", ToolCalls: calls}
}

func result(id, text string) annotator.Message {
	return annotator.Message{Role: annotator.RoleTool, ToolCallID: id, Content: text}
}

// conversation has what a run has: text, calls at once, their results, and what no server takes as it is.
var conversation = [][]annotator.Message{
	{user("<scene number=\"1\">\"Dawn\" & dusk\n</scene>")},
	{assistant("I look.", call("call00001", "search", `{"q" : "<Mik>"}`), call("call00002", "list.all", ""))},
	{result("call00001", `{"ok":true}`), result("call00002", " ")},
	{assistant("", call("call00003", "search", `{"q":`))},
	{result("call00003", "no JSON")},
	{assistant(" \n")},
	{user("\t")},
}

var definitions = []annotator.ToolDefinition{
	{
		Name: "search", Description: "Look <it> up.",
		Schema: []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`),
	},
	{Name: "list", Description: "List all.", Schema: []byte(`{"type":"object"}`)},
}

// TestRequestsMatchGoldenFiles compares the bytes of requests with files.
func TestRequestsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]model.Request{
		"streamed": {Model: "claude", System: "Be brief.", MaxTokens: 9, Temperature: 0.4, Seed: 7, Stream: true},
		"none":     {Model: "claude", System: "Be brief.", MaxTokens: 9, Choice: model.Choice{Mode: model.ChoiceNone}},
		"any": {
			Model: "claude", System: " ", Temperature: 1.7,
			Choice: model.Choice{Mode: model.ChoiceRequired, Allowed: []string{"search", "list"}},
		},
		"one": {
			Model: "claude", MaxTokens: 9,
			Choice: model.Choice{Mode: model.ChoiceRequired, Allowed: []string{"search"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := wiretest.Recorder{Answer: done}
			c := newClient(t, endpoint.Options{HTTP: &got})
			give.History, give.Tools = wiretest.History(t, c, conversation...), wiretest.Tools(t, c, definitions)
			if _, err := c.Complete(t.Context(), &give); err != nil {
				t.Fatal(err)
			}
			wiretest.Golden(t, *update, name, got.Body)
		})
	}
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		got := wiretest.Recorder{Answer: done}
		c := newClient(t, endpoint.Options{HTTP: &got})
		if _, err := c.Complete(t.Context(), &model.Request{Model: "claude"}); err != nil {
			t.Fatal(err)
		}
		wiretest.Golden(t, *update, "bare", got.Body)
	})
}

// groups draws a conversation in groups: single messages, and the results of tools together.
func groups() *rapid.Generator[[][]annotator.Message] {
	return rapid.Custom(func(t *rapid.T) (all [][]annotator.Message) {
		for range rapid.IntRange(1, 5).Draw(t, "turns") {
			calls := rapid.SliceOfN(calls(), 0, 3).Draw(t, "calls")
			all = append(all, []annotator.Message{user(rapid.String().Draw(t, "user"))},
				[]annotator.Message{assistant(rapid.String().Draw(t, "assistant"), calls...)})
			var results []annotator.Message
			for _, c := range calls {
				results = append(results, result(c.ID, rapid.String().Draw(t, "result")))
			}
			if len(results) > 0 {
				all = append(all, results)
			}
		}
		return all
	})
}

func calls() *rapid.Generator[annotator.ToolCall] {
	return rapid.Custom(func(t *rapid.T) annotator.ToolCall {
		arguments := wiretest.JSON(map[string]string{"q": rapid.String().Draw(t, "q")})
		return call(rapid.StringMatching(`[a-z0-9]{9}`).Draw(t, "id"),
			rapid.StringMatching(`[a-z_]{1,12}`).Draw(t, "name"), arguments)
	})
}

var cacheMark = []byte(`,"cache_control":{"type":"ephemeral"}`)

// TestEncodeIsAppendOnly encodes group by group and all at once: the bytes are the same. A request with more messages
// begins with the bytes of the previous one, except for breakpoints. Its blocks have the content of the messages.
func TestEncodeIsAppendOnly(t *testing.T) {
	t.Parallel()
	got := wiretest.Recorder{Answer: done}
	c := newClient(t, endpoint.Options{HTTP: &got})
	rapid.Check(t, func(t *rapid.T) {
		var before, history []byte
		var all []annotator.Message
		for i, group := range groups().Draw(t, "groups") {
			encoded, err := c.Encode(group)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				history = append(history, ',')
			}
			history, all = append(history, encoded...), append(all, group...)
			if _, err := c.Complete(t.Context(),
				&model.Request{Model: "m", System: "s", History: history}); err != nil {
				t.Fatal(err)
			}
			body, _, found := bytes.Cut(bytes.ReplaceAll(got.Body, cacheMark, nil), []byte(`],"max_tokens"`))
			if marks := bytes.Count(got.Body, cacheMark); !found || marks != min(i, 1)+2 ||
				!bytes.HasPrefix(body, before) {
				t.Fatalf("%s\ndoes not begin with\n%s", got.Body, before)
			}
			before = body
			checkBlocks(t, got.Body, all)
		}
		if whole, _ := c.Encode(all); !bytes.Equal(whole, history) {
			t.Fatalf("%s\nis not\n%s", history, whole)
		}
	})
}

// checkBlocks reads back what a body says.
func checkBlocks(t *rapid.T, body []byte, want []annotator.Message) {
	var wire struct {
		Messages []struct {
			Role    annotator.Role
			Content []struct {
				Type, Text, ID, Name, Content string
				ToolUseID                     string `json:"tool_use_id"`
				Input                         json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		t.Fatal(err)
	}
	var said, expected []string
	for _, m := range wire.Messages {
		if len(m.Content) == 0 {
			t.Fatalf("a message without blocks: %s", body)
		}
		for _, b := range m.Content {
			if b.Text != "(no text)" {
				said = append(said, string(m.Role), b.Type, b.Text, b.ID, b.Name, b.Content, b.ToolUseID,
					string(b.Input))
			}
		}
	}
	for _, m := range want {
		words := m.Content
		if strings.TrimSpace(words) == "" {
			words = ""
		}
		if m.Role == annotator.RoleTool {
			expected = append(expected, "user", "tool_result", "", "", "", words, m.ToolCallID, "")
			continue
		}
		if words != "" {
			expected = append(expected, string(m.Role), "text", words, "", "", "", "", "")
		}
		for _, c := range m.ToolCalls {
			expected = append(expected, "assistant", "tool_use", "", c.ID, c.Name, "", "", c.Arguments)
		}
	}
	if diff := cmp.Diff(expected, said); diff != "" {
		t.Fatal(diff)
	}
}

// TestArgumentsLikeMessages: no breakpoint is inserted into arguments of a call that look like the end of a message and
// the beginning of a reply.
func TestArgumentsLikeMessages(t *testing.T) {
	t.Parallel()
	const arguments = `{"a":[{"b":[{}]},{"role":"assistant","content":[{"c":[{}]}]}]}`
	got := wiretest.Recorder{Answer: done}
	c := newClient(t, endpoint.Options{HTTP: &got})
	history := wiretest.History(t, c, []annotator.Message{user("hi")},
		[]annotator.Message{assistant("", call("call00001", "search", arguments))},
		[]annotator.Message{result("call00001", "no")})
	if _, err := c.Complete(t.Context(), &model.Request{History: history}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(got.Body, []byte(`"input":`+arguments)) || bytes.Count(got.Body, cacheMark) != 1 ||
		!bytes.Contains(got.Body, slices.Concat([]byte(`"content":"no"`), cacheMark)) {
		t.Errorf("%s", got.Body)
	}
}
