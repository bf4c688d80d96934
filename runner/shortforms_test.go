package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestShortFormsBecomeNames tests that a form that fits one entry is its name, from its first occurrence on and by
// rule. One that fits two is nobody's.
func TestShortFormsBecomeNames(t *testing.T) {
	t.Parallel()
	scene := func(n int) string {
		return days[n] + " Nobody heard Mr. Marrow, but for Marrow and Tallow. " +
			"Rain fell on Miss Tallow, and on Orrin Marrow."
	}
	s := newTale(t, [][]string{
		{days[0], scene(1), scene(2)}, {scene(3), scene(4)},
	}, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		if strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, `<scene number="1"`) {
			return calls(
				toolCall("glossary_create", `{"term":"Orrin Marrow","tags":["person"],"facts":[{"text":"He waits."}]}`),
				toolCall("glossary_create", `{"term":"Jane Tallow","tags":["person"],"facts":[{"text":"She waits."}]}`),
				toolCall("glossary_create", `{"term":"Lydia Tallow","tags":["person"],"facts":[{"text":"She runs."}]}`))
		}
		if r.MayCall() {
			return scripted.Reply{Text: "Read."}
		}
		return scripted.Annotate(r)
	}})
	if err := s.run("short"); err != nil {
		t.Fatal(err)
	}
	s.lawful("short")
	for name, want := range map[string]string{ // ten times the entry, plus the scene
		"marrow": "[12]", "mr. marrow": "[12]", "tallow": "[]", "miss tallow": "[]",
	} {
		got := s.column("short", fmt.Sprintf(`SELECT 10 * entry_id + from_scene FROM glossary_alias
			WHERE name_normalized = '%s'`, name))
		if fmt.Sprint(got) != want {
			t.Errorf("%s is a name of %v, not of %s", name, got, want)
		}
	}
	if n := s.count("short", `SELECT count(*) FROM revision WHERE field = 'alias' AND actor = 'rule'`); n != 2 {
		t.Errorf("%d names by rule", n)
	}
	if n := s.count("short", `SELECT count(*) FROM trace WHERE content LIKE 'Names without a question%'`); n != 1 {
		t.Errorf("%d notes", n)
	}
}

// TestRemovedShortFormStaysRemoved tests that a name which the model took from an entry is not given back by rule.
func TestRemovedShortFormStaysRemoved(t *testing.T) {
	t.Parallel()
	scene := func(n int) string {
		return days[n] + " Nobody heard Marrow, but for Marrow. Rain fell on Orrin Marrow."
	}
	s := newTale(t, [][]string{
		{days[0], scene(1)}, {scene(2), scene(3)}, {scene(4)},
	}, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		text := r.Messages[len(r.Messages)-1].Content
		switch {
		case strings.HasPrefix(text, `<scene number="1"`):
			return calls(
				toolCall("glossary_create", `{"term":"Orrin Marrow","tags":["person"],"facts":[{"text":"He waits."}]}`))
		case strings.Contains(text, `<scene number="3"`):
			return calls(toolCall("glossary_update", `{"entry_id":1,"drop_aliases":["Marrow"]}`))
		case r.MayCall():
			return scripted.Reply{Text: "Read."}
		}
		return scripted.Annotate(r)
	}})
	if err := s.run("removed"); err != nil {
		t.Fatal(err)
	}
	s.lawful("removed")
	const alias = ` FROM value WHERE field = 'alias' AND key = 'marrow'`
	if n := s.count("removed", `SELECT count(*)`+alias+` AND ended_by IS NOT NULL`); n != 1 {
		t.Errorf("%d names were removed", n)
	}
	if n := s.count("removed", `SELECT count(*)`+alias); n != 1 {
		t.Errorf("it was a name %d times", n)
	}
}

// TestGeneralNamesAreTakenAway tests that a person loses a name such as "his father" at the end of a thread that shows
// that the story calls several people so. The history keeps it.
func TestGeneralNamesAreTakenAway(t *testing.T) {
	t.Parallel()
	scene := func(n int) string {
		return days[n] + " Orrin heard her father call. My father came with a father, and his mother sang."
	}
	s := newTale(t, [][]string{
		{days[0] + " His father rowed."}, {scene(1), scene(2)}, {scene(3)},
	}, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		if strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, `<scene number="1"`) {
			return calls(toolCall("glossary_create", `{"term":"Orrin Marrow","tags":["person"],
				"facts":[{"text":"He rows."}],"aliases":["his father","his mother"]}`))
		}
		if r.MayCall() {
			return scripted.Reply{Text: "Read."}
		}
		return scripted.Annotate(r)
	}})
	if err := s.run("general"); err != nil {
		t.Fatal(err)
	}
	s.lawful("general")
	const alias = `SELECT count(*) FROM value WHERE field = 'alias' AND ended_by IS `
	if n := s.count("general", alias+`NOT NULL AND key = 'his father'`); n != 1 {
		t.Errorf("%d names were taken away", n)
	}
	if n := s.count("general", alias+`NULL AND key = 'his mother'`); n != 1 {
		t.Errorf("%d names were kept", n)
	}
	if n := s.count("general", `SELECT count(*) FROM trace WHERE content LIKE 'Names taken away%'`); n != 1 {
		t.Errorf("%d notes", n)
	}
}
