package scripted_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

func text(content string) message { return message{Role: "assistant", Content: content} }

func system(content string) message { return message{Role: "system", Content: content} }

// with returns a message with an additional key, as raw JSON.
func with(t *testing.T, m message, key string, value any) any {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{key: value}
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func arguments(text string) message {
	m := calling("a")
	m.ToolCalls[0].Function.Arguments = text
	return m
}

func TestStrictTemplate(t *testing.T) {
	t.Parallel()
	ok := toolResult("a", "{}")
	for name, test := range map[string]struct {
		messages []any
		want     string // empty: accepted
	}{
		"user":         {[]any{user("x")}, ""},
		"system first": {[]any{system("s"), user("x"), text("y"), user("z")}, ""},
		"calls answered": {[]any{
			user("x"), calling("a", "b"), ok, toolResult("b", ""), calling("c"),
			toolResult("c", ""), text("y"), user("z"),
		}, ""},
		"system later": {
			[]any{user("x"), text("y"), system("s"), user("z")},
			"System message must be at the beginning.",
		},
		"user after user": {
			[]any{user("x"), user("y")},
			"Conversation roles must alternate user/assistant/user/assistant/...",
		},
		"user after tool":     {[]any{user("x"), calling("a"), ok, user("y")}, "Conversation roles must alternate"},
		"assistant first":     {[]any{text("x"), user("y")}, "Conversation roles must alternate"},
		"assistant twice":     {[]any{user("x"), text("y"), text("z"), user("u")}, "Conversation roles must alternate"},
		"assistant last":      {[]any{user("x"), text("y")}, "Expected last role User or Tool"},
		"tool after user":     {[]any{user("x"), ok}, "Unexpected role 'tool' after role 'user'"},
		"tool after text":     {[]any{user("x"), text("y"), ok}, "Unexpected role 'tool' after role 'assistant'"},
		"one result too many": {[]any{user("x"), calling("a"), ok, ok}, "Unexpected role 'tool' after role 'tool'"},
		"other id": {
			[]any{user("x"), calling("a"), toolResult("b", "")},
			"Unexpected tool call id b in tool results",
		},
		"other order": {
			[]any{user("x"), calling("a", "b"), toolResult("b", ""), ok},
			"Unexpected tool call id b in tool results",
		},
		"result missing": {
			[]any{user("x"), calling("a", "b"), ok, text("y"), user("z")},
			"did not have response messages: b",
		},
		"last result missing": {[]any{user("x"), calling("a")}, "did not have response messages: a"},
		"id twice": {
			[]any{user("x"), calling("a"), ok, calling("a"), ok},
			"Duplicate value for 'tool_call_id' of a in message[3]",
		},
		"arguments cut": {
			[]any{user("x"), arguments(`{"post_id":`), ok},
			"Unterminated string starting at: line 1 column 12 (char 11)",
		},
		"arguments a list": {[]any{user("x"), arguments(`[1]`), ok}, "Can only get item pairs from a mapping."},
		"arguments null":   {[]any{user("x"), arguments(`null`), ok}, "Can only get item pairs from a mapping."},
		"unknown role":     {[]any{message{Role: "narrator"}}, "Unexpected role 'narrator' after role ''"},
		"private key": {
			[]any{with(t, user("x"), "scene_index", 3)},
			"('body', 'messages', 0, 'scene_index'), 'msg': 'Extra inputs are not permitted'",
		},
		"key in other case": {[]any{with(t, user("x"), "Content", "y")}, "('body', 'messages', 0, 'Content')"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scripted.New(scripted.Options{Strict: true})
			w := serve(s, body(t, map[string]any{"messages": test.messages}))
			if test.want == "" {
				if w.Code != http.StatusOK || len(s.Violations()) > 0 {
					t.Errorf("status %d, violations %v", w.Code, s.Violations())
				}
				return
			}
			found := s.Violations()
			if w.Code != http.StatusBadRequest || len(found) == 0 || found[0].Call != 1 {
				t.Fatalf("status %d, violations %v", w.Code, found)
			}
			if !strings.Contains(found[0].Text, test.want) || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("got %s\nwant %s", found[0].Text, test.want)
			}
		})
	}
}

func TestLenientServerLetsBreachesPass(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{})
	ask(t, s, map[string]any{"messages": []any{toolResult("a", ""), with(t, user("x"), "scene_index", 3), user("y")}})
	if found := s.Violations(); len(found) > 0 {
		t.Errorf("violations %v", found)
	}
}

func TestEveryViolationIsRecorded(t *testing.T) {
	t.Parallel()
	s := scripted.New(scripted.Options{Strict: true})
	for range 2 {
		serve(s, body(t, map[string]any{"messages": []any{user("x"), with(t, user("y"), "thread_id", 1)}}))
	}
	var at [][2]int
	for _, v := range s.Violations() {
		at = append(at, [2]int{v.Call, v.Message})
	}
	if len(at) != 4 || at[0] != [2]int{1, 1} || at[1] != [2]int{1, 1} || at[3] != [2]int{2, 1} {
		t.Errorf("violations of (call, message) %v", at)
	}
}
