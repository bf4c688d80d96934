package tools_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/codex"
	"annotator/tools"
)

func TestDone(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	for arguments, want := range map[string]bool{
		`{"term":"Dawn","done":true}`:    true,
		`{"done":"True"}`:                true,
		`{"done":"true"}`:                true,
		`{"done":false}`:                 false,
		`{"done":"no"}`:                  false,
		`{"done":1}`:                     false,
		`{"definition":"\"done\":true"}`: false,
		`{"done":true`:                   false,
		`[true]`:                         false,
		``:                               false,
	} {
		if got := registry.Parse(annotator.ToolCall{Name: tools.CreateName, Arguments: arguments}).Done; got != want {
			t.Errorf("%s: %v", arguments, got)
		}
	}
}

// TestEditsSayDone: every tool that edits takes the argument, as does an element of a block.
func TestEditsSayDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run("glossary_create", `{"term":"Dawn","definition":"A ship.","tags":[],"done":true}`)
	w.run("glossary_update", `{"entry_id":1,"tags":["ship"],"done":"true"}`)
	w.run("glossary_delete", `{"entry_id":1,"reason":"It is no ship.","done":true}`)
	updates, err := w.registry.ParseUpdates([]string{`[{"term":"Mik","definition":"A smith.","status":"new",` +
		`"done":true}]`})
	if err != nil || !updates[0].Done {
		t.Errorf("%+v, %v", updates, err)
	}
	for _, e := range w.glossary.entries {
		if e.Status != annotator.Retired {
			t.Errorf("%+v", e)
		}
	}
}

// TestOnlyDone: an update that only says that the scene is done is taken, and changes nothing.
func TestOnlyDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run("glossary_create", `{"term":"Dawn","definition":"A ship.","tags":[]}`)
	before := codex.Clone(w.glossary.entries[0])
	if r, content := w.run("glossary_update", `{"entry_id":1,"done":true}`); r.Error != "" {
		t.Error(content)
	}
	updates, err := w.registry.ParseUpdates([]string{`[{"term":"Dawn","status":"update","done":true}]`})
	if err != nil || !updates[0].Done || w.update(updates[0]).Error != "" {
		t.Error(updates, err)
	}
	if diff := cmp.Diff(before, *w.glossary.entries[0]); diff != "" {
		t.Error(diff)
	}
	for _, call := range []string{`{"entry_id":1}`, `{"entry_id":1,"done":false}`} {
		if r, _ := w.run("glossary_update", call); r.Error != tools.UpdateFailed {
			t.Errorf("%s: %+v", call, r)
		}
	}
	if _, err := w.registry.ParseUpdates([]string{`[{"term":"Mik","status":"new","done":true}]`}); err == nil {
		t.Error("an entry without facts")
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]tools.Outcome{
		`{"ok":true,"entry":{"id":1}}`: tools.Taken,
		`{"ok":true,"not_taken":[]}`:   tools.Taken,
		`{"ok":true,"not_taken":[{"fact":2,"code":"QUOTE_NOT_FOUND","why":"not there"}]}`:                           tools.Taken,
		`{"ok":true,"not_taken":[{"close":2,"code":"UNSETTLED","why":"it says nothing of it"}]}`:                    tools.Taken,
		`{"ok":true,"not_taken":[{"quote":4,"code":"QUOTE_NOT_FOUND"},{"close":2,"code":"NOT_MENTIONED"}]}`:         tools.Refused,
		`{"ok":true,"not_taken":[{"close":2,"code":"NOT_MENTIONED","why":"no"}]}`:                                   tools.Refused,
		`{"ok":true,"not_taken":[{"alias":"!","code":"EMPTY"},{"part":"tags","code":"NOT_MENTIONED"}]}`:             tools.Taken,
		`{"ok":true,"not_taken":[{"fact":1,"code":"EMPTY"}]}`:                                                       tools.Refused,
		`{"ok":true,"not_taken":[{"term":"Dawn","code":"NOT_MENTIONED"}]}`:                                          tools.Refused,
		`{"ok":true,"note":"the codex_updates beside these calls were not read"}`:                                   tools.Left,
		`{"ok":true,"not_taken":[{"close":2,"code":"NOT_FOUND"}],"note":"the calls in the text beside these were"}`: tools.Left,
		`{"ok":false,"error":{"code":"NOT_FOUND"}}`:                                                                 tools.Refused,
		`{"ok":true`: tools.Refused,
	} {
		if got := tools.OutcomeOf(&annotator.Trace{Content: content}); got != want {
			t.Errorf("%s: %v", content, got)
		}
	}
	for code, want := range map[string]tools.Outcome{
		tools.NotMentioned: tools.Refused, tools.EditCap: tools.Refused, tools.Repeated: tools.Refused,
		tools.Duplicate: tools.Refused, tools.NotFound: tools.Refused,
		tools.Unsettled: tools.Taken,
		tools.Truncated: tools.Left, tools.CallLimit: tools.Left, tools.RoundLimit: tools.Left,
	} {
		if got := tools.OutcomeOf(&annotator.Trace{Content: `{"ok":false}`, Error: code}); got != want {
			t.Errorf("a result with the code %s: %v", code, got)
		}
	}
	const both = `{"ok":false,"error":{"code":"UNSETTLED","not_taken":[{"close":3,"code":"UNSETTLED"},{"close":2,"code":"NOT_FOUND"}]}}`
	if got := tools.OutcomeOf(&annotator.Trace{Content: both, Error: tools.Unsettled}); got != tools.Refused {
		t.Error("another part was refused: ", got)
	}
}
