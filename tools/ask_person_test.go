package tools_test

import (
	"fmt"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/tools"

	"github.com/google/go-cmp/cmp"
)

// ask runs a call, and adds the question that it asks to the world.
func (w *world) ask(arguments string) tools.Result {
	w.t.Helper()
	result, err := w.registry.Run(w.t.Context(), w.env, w.registry.Parse(annotator.ToolCall{
		Name: tools.AskName, Arguments: arguments,
	}))
	if err != nil {
		w.t.Fatal(err)
	}
	if result.Question != nil {
		w.glossary.questions = append(w.glossary.questions, *result.Question)
	}
	return result
}

// TestAskPerson: a question has a number and its entry. The same one is refused with that number, and so are more than
// people can answer. A refused one leaves the model nothing to do.
func TestAskPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, term := range []string{"Dawn", "Mik", "Ann"} {
		w.do("glossary_create", fmt.Sprintf(`{"term":%q,"tags":[],"facts":[{"text":"A fact."}]}`, term))
	}
	result := w.ask(`{"entry":"Mik","question":"Is Mik  the smith?","answers":["yes","no"]}`)
	want := &annotator.Question{ID: 1, Entry: 2, Text: "Is Mik  the smith?", Answers: []string{"yes", "no"}, Scene: 3}
	if diff := cmp.Diff(want, result.Question); diff != "" || result.Content != `{"ok":true,"question":1}` {
		t.Error(result.Content, diff)
	}
	for _, refused := range []struct{ code, arguments string }{
		{"DUPLICATE", `{"entry":2,"question":"is Mik the Smith?"}`},
		{"NOT_FOUND", `{"entry":"the smith","question":"Is he Mik?"}`},
		{"EMPTY", `{"entry":1,"question":"?"}`},
	} {
		result := w.ask(refused.arguments)
		row := &annotator.Trace{Tool: tools.AskName, Content: result.Content, Error: result.Error}
		if result.Error != refused.code || result.Question != nil || tools.OutcomeOf(row) != tools.Taken {
			t.Errorf("%s: %+v", refused.arguments, result)
		}
	}
	w.ask(`{"entry":2,"question":"Where does he live?"}`)
	if result := w.ask(`{"entry":2,"question":"Who taught him?"}`); result.Error != "DUPLICATE" {
		t.Errorf("a third question that waits: %+v", result)
	}
	w.glossary.questions[0].Answered = true
	w.ask(`{"entry":2,"question":"Who taught him?"}`)
	if result := w.ask(`{"entry":1,"question":"Who built her?"}`); result.Error != "ASK_LIMIT" {
		t.Errorf("a fourth question of the scene: %+v", result)
	}
	w.env.Scene.N++
	if result := w.ask(`{"entry":1,"question":"Who built her?"}`); result.Error != "" || result.Question.ID != 4 {
		t.Errorf("of the next scene: %+v", result)
	}
}

// TestHiddenNames: a model makes no entry again that a person has taken out, unless it is said to be another thing.
func TestHiddenNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", `{"term":"the collar","tags":[],"facts":[{"text":"A fact."}]}`)
	w.glossary.entries[0].Status, w.glossary.entries[0].Locks = annotator.Retired, []string{codex.LockStatus}
	w.refused("LOCKED", "glossary_create", `{"term":"The Collar","tags":[],"facts":[{"text":"A fact."}]}`)
	w.do("glossary_create", `{"term":"the collar (shirt)","tags":[],"facts":[{"text":"A fact."}]}`)
	w.glossary.entries[0].Locks = nil
	w.glossary.entries[1].Status = annotator.Retired
	w.do("glossary_create", `{"term":"The Collar","tags":[],"facts":[{"text":"A fact."}]}`)
}

// TestSuggestions: what is refused because a person has locked it comes back as what a person can do. What a person has
// rejected does not.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, arguments string
		locks           []string
		locked          bool
		want            []annotator.Operation
	}{
		{
			name: "glossary_update", arguments: `{"entry_id":1,"term":"Dusk","tags":["boat"],"aliases":["The Ship"]}`,
			locks: []string{codex.LockName, codex.LockTags},
			want: []annotator.Operation{
				{Do: annotator.DeedRename, Entry: 1, Name: "Dusk"}, {Do: annotator.DeedRetag, Entry: 1, Tags: []string{"boat"}},
			},
		},
		{
			name: "glossary_update", arguments: `{"entry_id":1,"close":[{"fact":1,"ended":"over"},{"fact":2}],` +
				`"reword":[{"fact":1,"text":"She is grey."}]}`,
			locks: []string{codex.LockFact(1), codex.LockFact(2)},
			want: []annotator.Operation{
				{Do: annotator.DeedEnd, Entry: 1, Fact: 1, Ended: annotator.EndOver},
				{Do: annotator.DeedReject, Entry: 1, Fact: 2},
				{Do: annotator.DeedEdit, Entry: 1, Fact: 1, Text: "She is grey."},
			},
		},
		{
			name: "glossary_update", arguments: `{"entry_id":1,"facts":[{"text":"She sails.","quote":"She sails at night"}]}`,
			locked: true,
			want: []annotator.Operation{{
				Do: annotator.DeedAdd, Entry: 1, Text: "She sails.",
				Evidence: &annotator.Evidence{Post: 30, Start: 24, End: 42, Quote: "She sails at night"},
			}},
		},
		{
			name: "glossary_delete", arguments: `{"entry_id":1,"reason":"It is Mik.","same_as":2}`,
			locks: []string{codex.LockName},
			want:  []annotator.Operation{{Do: annotator.DeedMerge, Entry: 1, Other: 2}},
		},
		{
			name: "glossary_delete", arguments: `{"entry_id":1,"reason":"It is nothing."}`,
			locks: []string{codex.LockName},
			want:  []annotator.Operation{{Do: annotator.DeedHide, Entry: 1, Text: "It is nothing."}},
		},
		{
			name: "glossary_delete", arguments: `{"entry_id":1,"reason":"It is Mik.","same_as":2}`,
			locks: []string{codex.LockOther(2)},
		},
		{
			name: "glossary_update", arguments: `{"entry_id":1,"aliases":["The Ship"]}`,
			locks: []string{codex.LockAlias("the ship")},
		},
	} {
		w := newWorld(t)
		w.do("glossary_create", `{"term":"Dawn","tags":["ship"],"facts":[{"text":"She is big.","state":true},{"text":"She is wet."}]}`)
		w.do("glossary_create", `{"term":"Mik","tags":[],"facts":[{"text":"A fact."}]}`)
		w.glossary.entries[0].Locks, w.glossary.entries[0].Locked = test.locks, test.locked
		result, err := w.registry.Run(t.Context(), w.env, w.registry.Parse(annotator.ToolCall{
			Name: test.name, Arguments: test.arguments,
		}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, result.Suggests); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s%s", test.arguments, test.locks, diff, result.Content)
		}
	}
}
