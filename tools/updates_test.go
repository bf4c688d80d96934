package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

const (
	dawn = `[{"term":"Dawn","definition":"A ship.","status":"new"}]`
	mik  = `[{"term":"Mik","definition":"A smith.","status":"update"}]`
)

func TestParseUpdates(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	for array, want := range map[string][]string{
		dawn: {"Dawn"},
		"[]": nil,
		`[{"term":"Dawn","status":"skip"},` +
			mik[1:]: {"Mik"},
		`[{"term":"Mik","definition":"He wrote </codex_updates><codex_updates>[] and <think>.","status":"new"}]`: {
			"Mik",
		},
	} {
		updates, err := registry.ParseUpdates([]string{array})
		var got []string
		for _, u := range updates {
			var arguments struct{ Term string }
			if err := json.Unmarshal(u.Arguments, &arguments); err != nil || u.Failure != nil {
				t.Errorf("%s: %s %s", array, u.Failure, err)
			}
			got = append(got, u.Term+arguments.Term)
		}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", array, got, err, want)
		}
	}
}

// TestDeclarationsInUpdates: declarations become calls of the tool that declares, in order. That tool checks whether
// the intent exists.
func TestDeclarationsInUpdates(t *testing.T) {
	t.Parallel()
	w := worldOf(t, governed(t, policy.Default()))
	updates, err := w.registry.ParseUpdates([]string{`[{"intent":"PROPOSE","justification":"a new name"},` +
		dawn[1:len(dawn)-1] +
		`,{"justification":"I may","intent":"ADMIN"},{"intent":"REVISE","justification":" "}]`})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range updates {
		got = append(got, strings.TrimSpace(u.Tool+" "+w.update(u).Error))
	}
	if diff := cmp.Diff([]string{
		policy.SelectIntent, tools.CreateName, policy.SelectIntent + " INVALID_ARGUMENTS",
		policy.SelectIntent + " EMPTY",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMalformedUpdates(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	for _, test := range []struct{ array, says string }{
		{"", "no JSON array"},
		{"none", "no JSON array"},
		{dawn[:20], "no JSON array"},
		{dawn[1 : len(dawn)-1], "an object, not an array"},
		{"null", "null, not an array"},
		{"[1]", "element 1 of the codex_updates block: it is a number"},
		{`[{"term":"a","status":"skip"},{"status":"old","colour":1}]`, "element 2"},
		{`[{"status":"old","colour":1}]`, "additional properties 'colour' not allowed; arguments: missing property " +
			"'term'; status: value must"},
		{`[{"term":"a","status":"new"}]`, `"a" has no facts`},
		{`[{"term":"a","term":"b","status":"skip"}]`, "stands twice"},
		{"[\"\xff\"]", "UTF-8"},
		{`[{"intent":"PROPOSE"}]`, "missing property 'justification'"},
		{`[{"intent":7,"justification":"a new name"}]`, "intent: got number, want string"},
		{
			`[{"intent":"PROPOSE","justification":"a new name","term":"Dawn","status":"new","quote":"","kind":""}]`,
			"additional properties 'kind', 'quote', 'status', 'term' not",
		},
	} {
		updates, err := registry.ParseUpdates([]string{test.array})
		if err == nil || !strings.Contains(err.Error(), test.says) || updates != nil {
			t.Errorf("%s: %v, %v; want %q", test.array, updates, err, test.says)
		}
	}
}

func TestUpdatesBecomeCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	array := `[
		{"term":"Dawn","definition":"A grey ship.","status":"new","source_post_id":30,"quote":"a grey ship","tags":["ship"],"aliases":["Grey Lady"]},
		{"term":"grey lady","definition":"A grey ship. Mik stole her.","status":"update","source_post_id":"31","kind":"claimed"},
		{"term":"Mik","definition":"A smith.","status":"update","source_post_id":null},
		{"term":"Dawn","definition":"A ship.","status":"update"}]`
	updates, err := w.registry.ParseUpdates([]string{array})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, u := range updates {
		result := w.update(u)
		codes = append(codes, result.Error)
		if result.Error == tools.NotFound && !strings.Contains(result.Content, `\"Mik\"`) {
			t.Errorf("the answer does not name the term: %s", result.Content)
		}
	}
	if diff := cmp.Diff([]string{"", "", "NOT_FOUND", ""}, codes); diff != "" {
		t.Error(diff)
	}
	e := w.glossary.entries[0]
	if e.Name() != "Dawn" || e.Definition() != "A grey ship. Mik stole her. A ship." || len(w.glossary.entries) != 1 {
		t.Errorf("%s: %s", e.Name(), e.Definition())
	}
	if e.Claims[0].Evidence[0].Post != 30 || e.Claims[1].Kind != annotator.Claimed ||
		e.Claims[1].From != annotator.PlaceAt(3, 1) {
		t.Errorf("%+v", e.Claims)
	}
}

func FuzzUpdates(f *testing.F) {
	for _, array := range []string{
		dawn, mik, "[]", `[{"term":"</codex_updates>"}]`, "\xff{}",
		`[{"intent":"PROPOSE","justification":"new"},` + dawn[1:],
	} {
		f.Add(array)
	}
	registry := newRegistry(f)
	f.Fuzz(func(t *testing.T, array string) {
		updates, err := registry.ParseUpdates([]string{array})
		if err != nil && updates != nil {
			t.Fatalf("%v, %v", updates, err)
		}
		w := worldOf(t, registry)
		for _, u := range updates {
			if result := w.update(u); result.Error == tools.InvalidArguments || result.Error == tools.InvalidJSON {
				t.Fatalf("%s(%s) answers %s", u.Tool, u.Arguments, result.Content)
			}
		}
	})
}

// TestLaterBlocks: an element replaces those of earlier blocks for the same term.
func TestLaterBlocks(t *testing.T) {
	t.Parallel()
	updates, err := newRegistry(t).ParseUpdates([]string{
		dawn[:len(dawn)-1] + "," + mik[1:],
		strings.Replace(dawn, "Dawn", " DAWN", 1),
	})
	if err != nil || len(updates) != 2 || updates[0].Term != "Mik" ||
		!strings.Contains(string(updates[1].Arguments), " DAWN") {
		t.Errorf("%+v, %v", updates, err)
	}
}
