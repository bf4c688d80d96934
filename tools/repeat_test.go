package tools_test

import (
	"context"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/tools"
)

// told is an entry with a fact about another thing, which the fact names. An entry of that has one fact.
func told(t *testing.T) *world {
	t.Helper()
	w, usage := newWorld(t), mention.NewUsage()
	for range 5 {
		usage.Add("She saw her, and that he saw the others.")
	}
	w.env.Repeats = func(
		_ context.Context, fact string, of *annotator.Entry, told string, by *annotator.Entry,
	) (string, error) {
		if !mention.New().Repeats(fact, of, told, by, usage) {
			return "", nil
		}
		return mention.Linked(told, of), nil
	}
	w.do("glossary_create", `{"term":"Mik","tags":[],"facts":[
		{"text":"Ann said that Mik stole the Dawn.","quote":"Mik stole her","post_id":31,"speaker":"Ann"}]}`)
	w.do("glossary_create", `{"term":"Dawn","tags":[],"facts":[{"text":"The Dawn is grey.","quote":"a grey ship"}]}`)
	return w
}

// TestRepeatedFacts: a fact that another entry has from the same words is not taken, and that one gets a link. It is no
// refusal, so the scene needs no further request.
func TestRepeatedFacts(t *testing.T) {
	t.Parallel()
	const same = `{"text":"Ann said that Mik stole her.","quote":"Mik stole her,","speaker":"Ann"`
	for arguments, taken := range map[string]bool{
		`"facts":[` + same + `}]`:                                                                    false,
		`"facts":[` + same + `,"identity":true}]`:                                                    true, // says who it is
		`"facts":[` + same + `,"kind":"inferred"}]`:                                                  true, // is of another kind
		`"facts":[` + same + `}],"close":[{"fact":1,"by":1}]`:                                        true, // closes another
		`"facts":[{"text":"Ann said that Mik stole her.","quote":"a grey ship","speaker":"Ann"}]`:    true,
		`"facts":[{"text":"Ann said that Mik stole her.","quote":"Mik stole her","speaker":"Mik"}]`:  true,
		`"facts":[{"text":"Ann said that Mik burned her.","quote":"Mik stole her","speaker":"Ann"}]`: true,
		`"facts":[{"text":"Ann said that Mik stole her.","quote":"“Mik stole her","speaker":"ANN"}]`: false,
	} {
		w := told(t)
		result, a := w.run("glossary_update", `{"entry_id":2,`+arguments+`,"done":true}`)
		if !a.OK || len(a.Added) != map[bool]int{true: 1}[taken] {
			t.Errorf("%s: %s", arguments, result.Content)
		}
		row := annotator.Trace{Content: result.Content}
		if outcome := tools.OutcomeOf(&row); outcome != tools.Taken {
			t.Errorf("%s: the outcome is %d", arguments, outcome)
		}
		if taken {
			continue
		}
		if !strings.Contains(result.Content, `"elsewhere":[{"fact":1,"entry":1,"has":1}]`) {
			t.Errorf("%s: %s", arguments, result.Content)
		}
		if old, now := w.claim(1, 1), w.claim(1, 2); old.Ended != annotator.EndReworded ||
			now.Text != "Ann said that Mik stole the [[Dawn]]." || len(now.Evidence) != 1 {
			t.Errorf("%s: %+v, %+v", arguments, old, now)
		}
	}
}

// TestRepeatedFactsOfNewEntries: an entry is made with its first fact, whatever others say.
func TestRepeatedFactsOfNewEntries(t *testing.T) {
	t.Parallel()
	w := told(t)
	w.do("glossary_delete", `{"entry_id":2,"reason":"An error."}`)
	a := w.do("glossary_create", `{"term":"Dawn","tags":[],"facts":[
		{"text":"Ann said that Mik stole her.","quote":"Mik stole her","speaker":"Ann"}]}`)
	if len(a.Added) != 1 {
		t.Errorf("%+v", a)
	}
}

// TestRepeatedFactsWithoutALink: where the rules do not allow the link, the fact is not taken either, and nothing else
// changes.
func TestRepeatedFactsWithoutALink(t *testing.T) {
	t.Parallel()
	w := told(t)
	w.env.CheckEdit = func(_ context.Context, edit *tools.CheckedEdit) error {
		if codex.Destructive(edit.Revisions) {
			return &tools.Failure{Code: tools.NotMentioned}
		}
		return nil
	}
	a := w.do("glossary_update", `{"entry_id":2,"facts":[
		{"text":"Ann said that Mik stole her.","quote":"Mik stole her","speaker":"Ann"}]}`)
	if len(a.Added)+len(a.NotTaken) > 0 || len(w.glossary.entries[0].Claims) != 1 {
		t.Errorf("%+v, %+v", a, w.glossary.entries[0].Claims)
	}
}
