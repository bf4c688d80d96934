package scripted_test

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/internal/scripted"

	"github.com/google/go-cmp/cmp"
)

// sceneText is a scene in the form of a prompt.
func sceneText(n int) string {
	return fmt.Sprintf("<scene number=%q thread=\"7\" title=\"T\" index=\"3\">\n"+
		"<post id=\"%d\" author=\"Scribe\">\nThe &lt;lantern&gt; went out &amp; nobody saw it. Then it "+
		"rained.\n</post>\n<post id=\"%d\">\nMarrow swore!\n</post>\n</scene>\n"+
		"<relevant_entries>\n<entry id=\"7\" term=\"Marrow\">A captain.</entry>\n</relevant_entries>", fmt.Sprint(n),
		n*100, n*100+1)
}

func request(messages ...annotator.Message) scripted.Request {
	r := scripted.Request{Tools: []annotator.ToolDefinition{{Name: "glossary_create"}}}
	for _, m := range messages {
		r.Messages = append(r.Messages, scripted.Message{Message: m})
	}
	return r
}

func says(role annotator.Role, content string) annotator.Message {
	return annotator.Message{Role: role, Content: content}
}

func TestAnnotateRounds(t *testing.T) {
	t.Parallel()
	messages := []annotator.Message{
		says("system", "s"), says("user", sceneText(1)), says("assistant", "done"),
		says("user", sceneText(15)),
	}
	var got []string
	for round := range 3 {
		reply := scripted.Annotate(request(messages...))
		got = append(got, reply.Text)
		for i, c := range reply.ToolCalls {
			got = append(got, c.Name+" "+c.Arguments)
			reply.ToolCalls[i].ID = fmt.Sprintf("%d-%d", round, i)
		}
		messages = append(messages, annotator.Message{Role: "assistant", ToolCalls: reply.ToolCalls})
		for i := range reply.ToolCalls {
			messages = append(messages, says("tool", fmt.Sprintf(`{"ok":%t,"entry":{"id":%d}}`, i > 0, i)))
		}
	}
	want := []string{
		"",
		`glossary_create {"facts":[{"post_id":1500,"quote":"The \u003clantern\u003e went out \u0026 nobody saw ` +
			`it.","text":"What scene 15 calls \"Lantern\"."}],"tags":["person"],"term":"Lantern 15a"}`,
		`glossary_create {"facts":[{"post_id":1501,"quote":"Marrow swore!","text":"What scene 15 calls ` +
			`\"Marrow\"."}],"tags":["person"],"term":"Marrow 15b"}`,
		"",
		`glossary_search {"query":"Lantern 15a"}`,
		`glossary_update {"entry_id":1,"facts":[{"post_id":1500,"quote":"The \u003clantern\u003e went out ` +
			`\u0026 nobody ` +
			`saw it.","text":"It was looked up in the same scene."}]}`,
		"Scene 15 is read.\n<codex_updates>[]</codex_updates>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnnotateVariants(t *testing.T) {
	t.Parallel()
	scene := func(n int, more ...annotator.Message) scripted.Request {
		return request(append([]annotator.Message{says("user", sceneText(n))}, more...)...)
	}
	silent := scene(1)
	silent.Tools = nil
	forbidden := scene(1)
	forbidden.ToolChoice = `"none"`
	for name, test := range map[string]struct {
		request scripted.Request
		want    string // the text, or the names of the tools
	}{
		"text only": {scene(3), "Scene 3 is read.\n<codex_updates>[]</codex_updates>"},
		"codex update": {
			scene(5),
			"Scene 5 names one thing.\n<codex_updates>[{\"facts\":[{\"post_id\":500,\"quote\":\"The " +
				"\\u003clantern\\u003e went out \\u0026 nobody saw it.\",\"text\":\"What scene 5 calls " +
				"\\\"Lantern\\\".\"}],\"status\":\"new\",\"term\":\"Lantern 5a\"}]</codex_updates>",
		},
		"reading": {scene(6), "read_post"},
		"read": {
			scene(6, says("assistant", ""), says("tool", "{}")),
			"Scene 6 is read.\n<codex_updates>[]</codex_updates>",
		},
		"duplicate": {scene(8, says("assistant", ""),
			says("tool", `{"ok":false,"error":{"code":"DUPLICATE","entry_id":7}}`)), "glossary_search"},
		"no tools":    {silent, "<codex_updates>[]</codex_updates>"},
		"no choice":   {forbidden, "<codex_updates>[]</codex_updates>"},
		"empty scene": {request(says("user", `<scene number="1"></scene>`)), "<codex_updates>[]</codex_updates>"},
		"correction":  {scene(8, says("assistant", "?"), says("user", "Again.")), "glossary_search"},
		"summary": {
			scene(8, says("assistant", "?"), says("user", "Summarise.")),
			"The story so far fills 2 messages.",
		},
		"decision": {
			request(says("user", "CONFIRM?\n<candidate first_post=\"1\">\n<entry id=\"7\" term=\"A\">")),
			`[{"decision":"CONFIRM","entry":7,"reason":"It is named in the story.","term":"A"}]`,
		},
		"no scene":    {request(says("user", "Hello.")), "There is nothing to annotate."},
		"no messages": {request(), "There is nothing to annotate."},
	} {
		reply := scripted.Annotate(test.request)
		got := reply.Text
		for _, c := range reply.ToolCalls {
			got += c.Name
		}
		if got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzAnnotate: for any scene, quotes occur verbatim in the posts that they name.
func FuzzAnnotate(f *testing.F) {
	f.Add(int64(12), "The lantern went out. Then it rained.")
	f.Add(int64(-1), "]]> &amp; <post id=\"3\"> </scene>")
	f.Add(int64(1), strings.Repeat("灯籠の灯り", 40))
	f.Fuzz(func(t *testing.T, number int64, text string) {
		if !utf8.ValidString(text) {
			t.Skip("a body decoded from JSON is valid")
		}
		content := fmt.Sprintf("<scene number=\"%d\">\n<post id=\"9\">\n%s\n</post>\n</scene>", number,
			html.EscapeString(text))
		reply := scripted.Annotate(request(says("user", content)))
		for _, c := range reply.ToolCalls {
			var arguments struct {
				Facts []struct {
					Quote string
					Post  int `json:"post_id"`
				}
			}
			if err := json.Unmarshal([]byte(c.Arguments), &arguments); err != nil {
				t.Fatal(err)
			}
			for _, f := range arguments.Facts {
				if !strings.Contains(text, f.Quote) || f.Post != 9 {
					t.Errorf("%q is not in %q", f.Quote, text)
				}
			}
		}
	})
}
