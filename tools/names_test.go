package tools_test

import (
	"context"
	"strings"
	"testing"

	"annotator"
	"annotator/tools"
)

// TestNamesThatAreNotAdded: the answer says which names the entry had already, and which mean several people. Neither
// is a refusal.
func TestNamesThatAreNotAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.General = func(_ context.Context, name string) (bool, error) { return name == "her mother", nil }
	w.do("glossary_create", `{"term":"Dawn (girl)","tags":["person"],"facts":["She sang."],"aliases":["Dawn","her mother"]}`)
	w.do("glossary_create", `{"term":"Dawn (ship)","tags":["object"],"facts":["It sank."],"aliases":["her mother"]}`)
	for id, want := range map[int64]int{1: 1, 2: 2} {
		if e, err := w.env.Glossary.Entry(t.Context(), id); err != nil || len(e.Aliases) != want {
			t.Errorf("%+v: %v", e, err)
		}
	}
	result, _ := w.run("glossary_update", `{"entry_id":1,"aliases":["dawn","Thimble","her mother"],"done":true}`)
	if !strings.Contains(result.Content, `"known_names":["dawn"],"general":["her mother"]`) {
		t.Error(result.Content)
	}
	if outcome := tools.OutcomeOf(&annotator.Trace{Content: result.Content}); outcome != tools.Taken {
		t.Errorf("the outcome is %d", outcome)
	}
}
