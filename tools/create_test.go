package tools_test

import (
	"strings"
	"testing"
)

// TestKindsOfEntries: a codex that is limited to kinds has no entry without one of them.
func TestKindsOfEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.Kinds = []string{"person", "place"}
	const facts = `"facts":[{"text":"It is there."}]`
	for _, tags := range []string{`[]`, `["ship"]`, `["personal"]`} {
		a := w.refused("OUT_OF_SCOPE", "glossary_create", `{"term":"Dawn","tags":`+tags+`,`+facts+`}`)
		if !strings.Contains(a.Error.Message, "person, place") {
			t.Errorf("%s: %s", tags, a.Error.Message)
		}
	}
	w.do("glossary_create", `{"term":"Mik","tags":["smith"," Person "],`+facts+`}`)
	w.refused("OUT_OF_SCOPE", "glossary_update", `{"entry_id":1,"tags":["ship"]}`)
	w.do("glossary_update", `{"entry_id":1,"tags":["place"]}`)
	w.do("glossary_update", `{"entry_id":1,"facts":[{"text":"Mik is a smith."}]}`)
}
