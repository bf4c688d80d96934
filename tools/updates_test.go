package tools_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

const (
	dawn    = `[{"term":"Dawn","definition":"A ship.","status":"new"}]`
	mik     = `[{"term":"Mik","definition":"A smith.","status":"update"}]`
	opening = "<codex_updates>"
	closing = "</codex_updates>"
)

// own treats no block as a quotation.
func own(string) bool { return false }

func TestUpdatesFindsTheBlock(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string // terms
		found      bool
	}{
		{"no block", "Nothing new here.", nil, false},
		{"bare", opening + dawn + closing, []string{"Dawn"}, true},
		{"with text", "Well.\n" + opening + "\n" + dawn + "\n" + closing + "\nDone.", []string{"Dawn"}, true},
		{"upper case", "<Codex_Updates>" + dawn + "</CODEX_UPDATES>", []string{"Dawn"}, true},
		{"fence inside", opening + "\n```json\n" + dawn + "\n```\n" + closing, []string{"Dawn"}, true},
		{"fence outside", "```\n" + opening + dawn + closing + "\n```", []string{"Dawn"}, true},
		{"empty", opening + "[]" + closing, nil, true},
		{"the last of two", opening + dawn + closing + " Rather: " + opening + mik + closing, []string{"Mik"}, true},
		{"skip", opening + `[{"term":"Dawn","status":"skip"},` + mik[1:] + closing, []string{"Mik"}, true},
		{"in thinking", "<thinking>" + opening + dawn + closing + "</thinking>", nil, false},
		{"in unclosed thinking", "<think>" + opening + dawn + closing, nil, false},
		{"in thinking opened by the server", opening + dawn + closing + "</think> No change.", nil, false},
		{"after thinking", "<analysis>" + opening + dawn + closing + "</analysis>" + opening + mik + closing, []string{"Mik"}, true},
		{"before thinking", opening + mik + closing + "<analysis>" + opening + dawn + closing + "</analysis>", []string{"Mik"}, true},
		{"malformed in thinking", "<thinking>" + opening + "…</thinking>" + opening + dawn + closing, []string{"Dawn"}, true},
		{"malformed before a server's end of thinking", opening + "…</think>" + opening + dawn + closing, []string{"Dawn"}, true},
		{"one reasoning in another", "<thinking><analysis></analysis>" + opening + dawn + closing + "</thinking>", nil, false},
		{"tags in a string", opening + `[{"term":"Mik","definition":"He wrote ` + closing + opening + `[] and <think>.","status":"new"}]` + closing, []string{"Mik"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			updates, found, err := tools.Updates(test.text, own)
			var got []string
			for _, u := range updates {
				got = append(got, u.Term)
			}
			if err != nil || found != test.found || !cmp.Equal(got, test.want) {
				t.Errorf("%q, %v, %v; want %q, %v", got, found, err, test.want, test.found)
			}
		})
	}
}

// TestQuotedUpdates: quoted blocks are ignored, and the last other one counts.
func TestQuotedUpdates(t *testing.T) {
	t.Parallel()
	quoted := func(array string) bool { return array == mik }
	for text, term := range map[string]string{
		opening + mik + closing: "",
		opening + dawn + closing + " It said: " + opening + mik + closing: "Dawn",
		opening + mik + closing + " So: " + opening + dawn + closing:      "Dawn",
		opening + "…" + closing + opening + mik + closing:                 "unreadable",
	} {
		updates, found, err := tools.Updates(text, quoted)
		switch {
		case term == "unreadable" && err != nil:
		case found != (term != "") || err != nil || found && (len(updates) != 1 || updates[0].Term != term):
			t.Errorf("%s: %+v, %v, %v", text, updates, found, err)
		}
	}
}

// TestDeclarationsInUpdates: declarations become calls of the tool that declares, in order. That tool checks whether
// the intent exists.
func TestDeclarationsInUpdates(t *testing.T) {
	t.Parallel()
	w := worldOf(t, governed(t, policy.Default()))
	updates, _, err := tools.Updates(opening+`[{"intent":"PROPOSE","justification":"a new name"},`+dawn[1:len(dawn)-1]+
		`,{"justification":"I may","intent":"ADMIN"},{"intent":"REVISE","justification":" "}]`+closing, own)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range updates {
		call, err := u.Call(t.Context(), w.glossary)
		if err != nil {
			t.Fatal(err)
		}
		result, _ := w.run(call.Name, call.Arguments)
		got = append(got, strings.TrimSpace(call.Name+" "+result.Error))
	}
	if diff := cmp.Diff([]string{policy.SelectIntent, tools.CreateName, policy.SelectIntent + " INVALID_ARGUMENTS", policy.SelectIntent + " EMPTY"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMalformedUpdates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, says string }{
		{opening, "no JSON array"},
		{opening + closing, "no JSON array"},
		{opening + "none" + closing, "no JSON array"},
		{opening + dawn, "does not end with </codex_updates>"},
		{opening + dawn[:20] + closing, "no JSON array"},
		{opening + dawn + "," + closing, "does not end with"},
		{opening + dawn + dawn + closing, "does not end with"},
		{opening + "…" + closing + opening + dawn + closing, "no JSON array"},
		{opening + dawn[1:len(dawn)-1] + closing, "an object, not an array"},
		{opening + "null" + closing, "null, not an array"},
		{opening + "[1]" + closing, "element 1 of the codex_updates block: it is a number"},
		{opening + `[{"term":"a","status":"skip"},{"status":"old","colour":1}]` + closing, "element 2"},
		{opening + `[{"status":"old","colour":1}]` + closing, "additional properties 'colour' not allowed; arguments: missing property 'term'; status: value must"},
		{opening + `[{"term":"a","status":"new"}]` + closing, `"a" has no definition`},
		{opening + `[{"term":"a","term":"b","status":"skip"}]` + closing, "stands twice"},
		{opening + "[\"\xff\"]" + closing, "UTF-8"},
		{opening + `[{"intent":"PROPOSE"}]` + closing, "missing property 'justification'"},
		{opening + `[{"intent":7,"justification":"a new name"}]` + closing, "intent: got number, want string"},
		{opening + `[{"intent":"PROPOSE","justification":"a new name","term":"Dawn","status":"new","quote":"","kind":""}]` + closing, "additional properties 'kind', 'quote', 'status', 'term' not"},
	} {
		updates, found, err := tools.Updates(test.text, own)
		if err == nil || !strings.Contains(err.Error(), test.says) || !found || updates != nil {
			t.Errorf("%s: %v, %v, %v; want %q", test.text, updates, found, err, test.says)
		}
	}
}

func TestUpdatesBecomeCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply := opening + `[
		{"term":"Dawn","definition":"A grey ship.","status":"new","source_post_id":30,"quote":"a grey ship","tags":["ship"],"aliases":["Grey Lady"]},
		{"term":"grey lady","definition":"A grey ship. Mik stole her.","status":"update","source_post_id":"31","kind":"claimed"},
		{"term":"Mik","definition":"A smith.","status":"update","source_post_id":null},
		{"term":"Dawn","definition":"A ship.","status":"update"}]` + closing
	updates, _, err := tools.Updates(reply, own)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, u := range updates {
		call, err := u.Call(t.Context(), w.glossary)
		if err != nil {
			t.Fatal(err)
		}
		result, a := w.run(call.Name, call.Arguments)
		codes = append(codes, result.Error)
		if result.Error == tools.NotFound && !strings.Contains(a.Error.Message, `"Mik"`) {
			t.Errorf("the answer does not name the term: %s", a.Error.Message)
		}
	}
	if diff := cmp.Diff([]string{"", "", "NOT_FOUND", "NARROWER"}, codes); diff != "" {
		t.Error(diff)
	}
	e := w.glossary.entries[0]
	if e.Name() != "Dawn" || e.Definition() != "A grey ship. Mik stole her." || len(w.glossary.entries) != 1 {
		t.Errorf("%s: %s", e.Name(), e.Definition())
	}
	if e.Claims[0].Evidence[0].Post != 30 || e.Claims[1].Kind != annotator.Claimed || e.Claims[1].From != annotator.PlaceAt(3, 1) {
		t.Errorf("%+v", e.Claims)
	}
}

func FuzzUpdates(f *testing.F) {
	for _, text := range []string{
		opening + dawn + closing, "<think>" + opening + "</think>" + opening + "```json" + mik + "```" + closing, opening + opening + closing, "</think>",
		"<thinking><think></thinking>" + opening + "[]" + closing, opening + `[{"term":"` + closing + `"}]`, "<analysis>", "\xff" + opening + "{}",
		opening + `[{"intent":"PROPOSE","justification":"new"},` + dawn[1:] + closing,
	} {
		f.Add(text)
	}
	registry := newRegistry(f)
	f.Fuzz(func(t *testing.T, text string) {
		updates, found, err := tools.Updates(text, own)
		if err != nil && (updates != nil || !found) || !found && updates != nil {
			t.Fatalf("%v, %v, %v", updates, found, err)
		}
		for _, u := range updates {
			call, err := u.Call(t.Context(), &glossary{})
			if err != nil {
				t.Fatal(err)
			}
			if result, _ := worldOf(t, registry).run(call.Name, call.Arguments); result.Error == tools.InvalidArguments || result.Error == tools.InvalidJSON {
				t.Fatalf("%s(%s) answers %s", call.Name, call.Arguments, result.Content)
			}
		}
	})
}
