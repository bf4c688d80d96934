package tools_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/tools"

	"github.com/google/go-cmp/cmp"
)

// called is a tool call with its answer, as rows of the journal. Code is empty if it succeeded.
func called(turn int64, id, tool, arguments, code, answer string) []annotator.Trace {
	return []annotator.Trace{
		{
			Turn: turn, Scene: int(turn), Kind: annotator.TraceCall, CallID: id, Tool: tool,
			Parsed: annotator.Parsed{ParsedCall: annotator.ParsedCall{Arguments: []byte(arguments)}},
		},
		{
			Turn: turn, Scene: int(turn), Kind: annotator.TraceResult, CallID: id, Tool: tool, Error: code,
			Content: answer,
		},
	}
}

// TestUnmended: what failed and is not mended, by any of the ways in which a later call may make up for it.
func TestUnmended(t *testing.T) {
	t.Parallel()
	const create, update, retire = "glossary_create", "glossary_update", "glossary_delete"
	quay := annotator.Parsed{ParsedCall: annotator.ParsedCall{Arguments: []byte(`{"term":"Gallows Quay"}`)}}
	failed := called(1, "a", create, `{"term":"Gallows Quay"}`, "DUPLICATE",
		`{"ok":false,"error":{"code":"DUPLICATE","entry_id":7}}`)
	want := []annotator.FailedCall{{Turn: 1, Scene: 1, Tool: create, Subject: "Gallows Quay", Code: "DUPLICATE"}}
	byID := called(1, "a", update, `{"entry_id":9}`, "UPDATE_FAILED", `{"ok":false}`)
	unreadable := called(1, "a", update, `{"entry_id":`, "INVALID_JSON", `{"ok":false}`)
	for name, test := range map[string]struct {
		first, later []annotator.Trace
		want         []annotator.FailedCall
	}{
		"nothing follows": {failed, nil, want},
		"the same name, later": {
			failed,
			called(5, "b", create, `{"term":"gallows  quay"}`, "",
				`{"ok":true,"entry":{"id":8,"term":"Gallows Quay"}}`), nil,
		},
		"told apart": {
			failed,
			called(1, "b", create, `{"term":"Gallows Quay (the new one)"}`, "", `{"ok":true}`), nil,
		},
		"the entry that it names": {failed, called(1, "b", update, `{"entry_id":7}`, "", `{"ok":true}`), nil},
		"the entry as a text":     {failed, called(1, "b", update, `{"entry_id":"7"}`, "", `{"ok":true}`), nil},
		"the entry by its name": {
			byID,
			called(2, "b", update, `{"entry_id":"Ash"}`, "", `{"ok":true,"entry":{"id":9,"term":"Ash"}}`), nil,
		},
		"it is taken out": {
			byID,
			called(2, "b", retire, `{"entry_id":9,"reason":"x"}`, "", `{"ok":true,"entry":{"id":9,"term":"Ash"}}`),
			nil,
		},
		"another entry": {
			failed,
			called(1, "b", create, `{"term":"Wren"}`, "", `{"ok":true,"entry":{"id":8,"term":"Wren"}}`), want,
		},
		"it was looked up": {
			failed,
			called(1, "b", "glossary_search", `{"query":"x","term":"Gallows Quay"}`, "", `{"ok":true}`), want,
		},
		"it failed again": {
			failed,
			called(1, "b", create, `{"term":"Gallows Quay"}`, "REPEATED", `{"ok":false}`), want,
		},
		"a call that nobody can read": {
			unreadable, nil,
			[]annotator.FailedCall{{Turn: 1, Scene: 1, Tool: update, Code: "INVALID_JSON"}},
		},
		"any edit of the turn": {unreadable, called(1, "b", create, `{"term":"Wren"}`, "", `{"ok":true}`), nil},
		"an edit of another turn": {
			unreadable, called(2, "b", create, `{"term":"Wren"}`, "", `{"ok":true}`),
			[]annotator.FailedCall{{Turn: 1, Scene: 1, Tool: update, Code: "INVALID_JSON"}},
		},
		"an element of an update": {
			failed,
			[]annotator.Trace{{Turn: 2, Scene: 2, Kind: annotator.TraceUpdate, Tool: update, Parsed: quay}},
			nil,
		},
		"a call that has no result":   {failed[:1], nil, nil},
		"a search that found nothing": {called(1, "a", "read_post", `{"post_id":1}`, "NOT_FOUND", `{}`), nil, nil},
		"an element that was not made": {[]annotator.Trace{{
			Turn: 1, Scene: 1, Kind: annotator.TraceUpdate,
			Tool: create, Parsed: quay, Error: "DUPLICATE",
		}}, nil, want},
	} {
		if diff := cmp.Diff(test.want,
			tools.Unmended(append(append([]annotator.Trace{}, test.first...), test.later...))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzUnmended tests that a call that failed is reported, whatever a model wrote as arguments. The same call that
// succeeds later corrects it.
func FuzzUnmended(f *testing.F) {
	for _, seed := range []string{
		`{"term":"Ash"}`, `{"entry_id":7}`, `{"entry_id":"Ash (ship)"}`,
		`{"term":5,"entry_id":[]}`, `[]`, `{"entry_id":0}`, `"`, "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		rows := called(1, "a", "glossary_update", arguments, "UPDATE_FAILED", "{}")
		found := tools.Unmended(rows)
		if len(found) != 1 || found[0].Turn != 1 || strings.Contains(found[0].Subject, "{") &&
			!strings.Contains(arguments, "{") {
			t.Fatalf("%+v", found)
		}
		if again := tools.Unmended(append(rows, called(1, "b", "glossary_update", arguments, "", "{}")...)); len(
			again) != 0 {
			t.Errorf("%q is not made up for by itself: %+v", arguments, again)
		}
	})
}
