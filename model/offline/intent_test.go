package offline_test

import (
	"strings"
	"testing"

	"annotator/model/offline"

	"github.com/google/go-cmp/cmp"
)

// called returns the tools of a reply's calls, in order. Of a declaration, it returns the intent.
func called(t *testing.T, request object) []string {
	t.Helper()
	var all []string
	ids := map[string]bool{}
	for _, c := range chat(t, offline.New(offline.Options{}), request).Choices[0].Message.ToolCalls {
		ids[c.ID] = true
		said := c.Function.Name
		if intent, found := strings.CutPrefix(c.Function.Arguments, `{"intent":"`); found &&
			said == "select_active_intent" {
			said, _, _ = strings.Cut(intent, `"`)
		}
		all = append(all, said)
	}
	if len(ids) != len(all) {
		t.Errorf("%d ids for %d calls", len(ids), len(all))
	}
	return all
}

// TestIntentsAreDeclaredWhereTheyCanBe: intents are declared if there is a tool for it, and nothing else changes.
func TestIntentsAreDeclaredWhereTheyCanBe(t *testing.T) {
	t.Parallel()
	shown := scene("Everyone knew Tobin Vance and Hadrian Thesk. Tobin Vance liked Hadrian Thesk. " +
		"They saw Captain Marrow there, and Marrow saw them.")
	shown["content"] = shown["content"].(string) + relevant(`<entry id="7" term="Ysolde Marrow">x</entry>`)
	request := withTools(shown)
	free := called(t, request)
	request["tools"] = append(request["tools"].([]object),
		object{"type": "function", "function": object{"name": "select_active_intent"}})
	got := called(t, request)
	if diff := cmp.Diff([]string{"PROPOSE", "glossary_create", "glossary_create", "REVISE", "glossary_update"},
		got); diff != "" || len(free) != 3 {
		t.Errorf("%s\nwithout: %v", diff, free)
	}
	if got := called(t, withTools(scene("Rain fell all day."))); got != nil {
		t.Errorf("nothing to note: %v", got)
	}
	for limit := 20; limit < 400; limit += 7 {
		request["max_tokens"] = limit
		if spent := chat(t, offline.New(offline.Options{}), request).Usage.CompletionTokens; spent > limit {
			t.Errorf("%d tokens where %d are the limit", spent, limit)
		}
	}
}
