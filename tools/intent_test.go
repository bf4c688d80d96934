package tools_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"annotator/codex"
	"annotator/policy"
	"annotator/tools"

	"github.com/google/go-cmp/cmp"
)

func governed(t *testing.T, p *policy.Policy) *tools.Registry {
	t.Helper()
	registry, err := tools.New(tools.WithPolicy(p, tools.All())...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// TestWithPolicy: tools that no intent permits are omitted.
func TestWithPolicy(t *testing.T) {
	t.Parallel()
	if got, want := governed(t, policy.Default()).Names()[0], policy.SelectIntent; got != want ||
		len(governed(t, policy.Default()).Names()) != 12 {
		t.Errorf("the first tool is %s", got)
	}
	p, err := policy.Parse("mild.yaml", []byte("intents: {LOOK: look about, NOTE: write}\n"+
		"modes: {annotate: {LOOK: [read_post], NOTE: [glossary_create]}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	registry := governed(t, p)
	if diff := cmp.Diff([]string{policy.SelectIntent, "glossary_create", "read_post"}, registry.Names()); diff != "" {
		t.Error(diff)
	}
	definition := registry.Definitions()[0]
	var schema struct {
		Required   []string
		Properties map[string]struct{ Enum []string }
	}
	if err := json.Unmarshal(definition.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(schema.Properties["intent"].Enum, []string{"LOOK", "NOTE"}) ||
		!slices.Equal(schema.Required, []string{"intent", "justification"}) {
		t.Errorf("%s", definition.Schema)
	}
	if !strings.Contains(definition.Description, "- LOOK: look about\n- NOTE: write\n") {
		t.Errorf("%s", definition.Description)
	}
}

func TestDeclare(t *testing.T) {
	t.Parallel()
	w := worldOf(t, governed(t, policy.Default()))
	result, _ := w.run(policy.SelectIntent, `{"intent":"PROPOSE","justification":"a new name"}`)
	if result.Content != `{"ok":true,"intent":"PROPOSE"}` || result.Changed != nil {
		t.Errorf("%+v", result)
	}
	for _, test := range []struct{ code, arguments string }{
		{"INVALID_ARGUMENTS", `{"intent":"ADMIN","justification":"I may"}`},
		{"INVALID_ARGUMENTS", `{"intent":"propose","justification":"a new name"}`},
		{"INVALID_ARGUMENTS", `{"intent":"PROPOSE"}`},
		{"INVALID_ARGUMENTS", `{"justification":"a new name"}`},
		{"INVALID_JSON", `"PROPOSE"`},
		{"EMPTY", `{"intent":"PROPOSE","justification":" - "}`},
		{"TOO_LONG", `{"intent":"PROPOSE","justification":"` + strings.Repeat("é", 501) + `"}`},
	} {
		w.refused(test.code, policy.SelectIntent, test.arguments)
	}
}

// TestCheckEdit: edits of existing entries are checked, and a rejected one is not written.
func TestCheckEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var asked []bool
	w.env.CheckEdit = func(_ context.Context, edit *tools.CheckedEdit) error {
		asked = append(asked, codex.Destructive(edit.Revisions))
		if codex.Destructive(edit.Revisions) {
			return &tools.Failure{Code: tools.EditCap, Message: "no more of " + edit.Before.Name()}
		}
		return nil
	}
	w.do("glossary_create", createDawn)
	w.do("glossary_update", `{"entry_id":1,"aliases":["the Grey Lady"]}`)
	w.refused(tools.EditCap, "glossary_update", `{"entry_id":1,"close":[{"fact":1}]}`)
	w.refused(tools.EditCap, "glossary_delete", `{"entry_id":1,"reason":"a wreck"}`)
	if !slices.Equal(asked, []bool{false, true, true}) {
		t.Errorf("asked: %v", asked)
	}
}
