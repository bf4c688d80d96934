package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/openai"
	"annotator/model/textcalls"
	"annotator/tools"
)

// written is a reply of testdata/replies.txt.
type written struct {
	name  string
	calls []annotator.ToolCall // structured
	text  string
	want  string
}

// readReplies reads the file. Each reply begins with === and its family. + lines are its structured calls. --- precedes
// the expected result, which is calls, "refused" or "left". "also" means that the text of a reply with structured calls
// contains others.
func readReplies(t *testing.T) (all []written) {
	t.Helper()
	file, err := os.ReadFile("testdata/replies.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(file), "\n=== ") {
		name, rest, _ := strings.Cut(strings.TrimPrefix(part, "=== "), "\n")
		w := written{name: name}
		for strings.HasPrefix(rest, "+ ") {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			tool, arguments, _ := strings.Cut(line[2:], " ")
			w.calls = append(w.calls, annotator.ToolCall{
				ID: fmt.Sprint("c", len(w.calls)), Name: tool,
				Arguments: arguments,
			})
		}
		text, want, ok := strings.Cut("\n"+rest, "\n--- \n")
		if !ok {
			t.Fatalf("%s: no result follows", name)
		}
		w.text, w.want = strings.TrimPrefix(text, "\n"), strings.TrimSpace(want)
		all = append(all, w)
	}
	return all
}

// answer is the reply on the wire, streamed in pieces of a few bytes or not.
func (w *written) answer(streamed bool) string {
	calls := []map[string]any{}
	for i, c := range w.calls {
		calls = append(calls, map[string]any{
			"id": c.ID, "index": i, "type": "function",
			"function": map[string]string{"name": c.Name, "arguments": c.Arguments},
		})
	}
	if !streamed {
		return annotator.EncodeJSON(
			map[string]any{"choices": []any{map[string]any{"message": map[string]any{
				"role":    "assistant",
				"content": w.text, "tool_calls": calls,
			}, "finish_reason": "stop"}}})
	}
	var events []string
	send := func(delta map[string]any, finish any) {
		events = append(events, annotator.EncodeJSON(
			map[string]any{"choices": []any{map[string]any{"delta": delta, "finish_reason": finish}}}))
	}
	runes := []rune(w.text)
	for n := 0; n < len(runes); n += 1 + n%7 {
		send(map[string]any{"content": string(runes[n:min(len(runes), n+1+n%7)])}, nil)
	}
	if len(calls) > 0 {
		send(map[string]any{"tool_calls": calls}, nil)
	}
	send(map[string]any{}, "stop")
	return wiretest.Events(append(events, "[DONE]")...)
}

// outcome says what becomes of a reply.
func outcome(reply *model.Reply) string {
	var said []string
	for _, c := range reply.Calls {
		said = append(said, c.Name+" "+compact(c.Arguments))
	}
	for _, u := range reply.Updates {
		said = append(said, "update "+annotator.EncodeJSON(elementOf(u)))
	}
	switch {
	case reply.Problem != nil && len(said) > 0:
		return "refused in part"
	case reply.Problem != nil:
		return "refused"
	case len(said) == 0:
		return "left"
	case reply.Left:
		said = append(said, "also")
	}
	return strings.Join(said, "\n")
}

// elementOf returns the element of a block that became a call.
func elementOf(u annotator.ParsedCall) map[string]any {
	element := map[string]any{}
	_ = json.Unmarshal(u.Arguments, &element) // valid JSON
	if element["status"] = "new"; u.Tool == tools.UpdateName {
		element["term"], element["status"] = u.Term, "update"
	}
	for _, unsaid := range []string{"entry_id"} {
		delete(element, unsaid)
	}
	return element
}

// compact makes JSON comparable; other text stays.
func compact(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return annotator.EncodeJSON(value)
}

// TestRepliesOfFamiliesAreReadAsDocumented reads replies of many families of models, and texts that resemble calls. It
// compares the calls by the rules and tools of a run, streamed and not.
func TestRepliesOfFamiliesAreReadAsDocumented(t *testing.T) {
	t.Parallel()
	registry, err := tools.New(tools.All()...)
	if err != nil {
		t.Fatal(err)
	}
	rules := &model.CallRules{
		Tools: textcalls.Tools{Names: registry.Names(), Check: registry.Check}, Updates: registry.ParseUpdates,
		Together: func([]annotator.ToolCall) error { return nil },
		Shown:    func() ([]string, error) { return []string{"The harbour lies still tonight."}, nil },
	}
	replies := readReplies(t)
	if len(replies) < 100 {
		t.Fatalf("%d replies are read", len(replies))
	}
	for _, w := range replies {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, streamed := range []bool{false, true} {
				media := "application/json"
				if streamed {
					media = "text/event-stream"
				}
				wire := wiretest.Open(t, openai.New, endpoint.Options{
					BaseURL: "http://model.test/v1",
					HTTP:    wiretest.Always(http.StatusOK, media, w.answer(streamed)),
				})
				c := &model.Client{Wire: wire, Policy: &model.Policy{Attempts: 1}, Capabilities: &model.Capabilities{}}
				history, err := wire.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: "Read."}})
				if err != nil {
					t.Fatal(err)
				}
				reply, err := c.Complete(t.Context(), &model.Request{
					History: history, MaxTokens: 4000,
					Stream: streamed, Rules: rules, Call: annotator.Call{Purpose: annotator.PurposeAnnotate},
				})
				if err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(w.want, "\n")
				for i, line := range lines {
					if tool, arguments, ok := strings.Cut(line, " "); ok {
						lines[i] = tool + " " + compact(arguments)
					}
				}
				if got := outcome(reply); got != strings.Join(lines, "\n") {
					t.Errorf("streamed %v:\n%s\ngives\n%s\nwant\n%s\n(%+v)", streamed, w.text, got, w.want,
						reply.Problem)
				}
			}
		})
	}
	if !slices.ContainsFunc(replies, func(w written) bool { return w.want == "left" }) {
		t.Error("nothing is left alone")
	}
}
