package codex_test

import (
	"testing"

	"annotator"
	"annotator/codex"
)

func TestDestructive(t *testing.T) {
	t.Parallel()
	base := annotator.Entry{ID: 1}
	revisions, err := codex.Revise(&base, codex.Edit{
		Name: new("Dawn (ship)"), Facts: factsOf("It is a ship. It is grey."), Tags: []string{"object"},
		Status: new(annotator.Confirmed),
		At:     annotator.PlaceAt(1, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	if codex.Destructive(revisions) {
		t.Error("a new entry takes something away")
	}
	for i := range revisions {
		if err := codex.Apply(&base, &revisions[i]); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		edit codex.Edit
		want bool
	}{
		"a fact more": {codex.Edit{Facts: factsOf("It is a Ship. It sails at night.")}, false},
		"an alias":    {codex.Edit{Aliases: []string{"the Grey Lady"}}, false},
		"a tag more":  {codex.Edit{Tags: []string{"object", "group"}}, false},
		"another fact": {codex.Edit{
			Facts: factsOf("It was painted black."),
			Close: []codex.Closing{{Fact: 2, By: 3}},
		}, true},
		"a fact less":          {codex.Edit{Close: []codex.Closing{{Fact: 1}}}, true},
		"another name":         {codex.Edit{Name: new("Dusk (ship)")}, true},
		"another tag":          {codex.Edit{Tags: []string{"group"}}, true},
		"no longer confirmed":  {codex.Edit{Status: new(annotator.Tentative)}, true},
		"nothing that changes": {codex.Edit{Tags: []string{"object"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.edit.At = annotator.PlaceAt(2, 0)
			revisions, err := codex.Revise(&base, c.edit)
			if err != nil {
				t.Fatal(err)
			}
			if got := codex.Destructive(revisions); got != c.want {
				t.Errorf("Destructive is %v for %+v", got, revisions)
			}
		})
	}
	other := annotator.Entry{ID: 2, Term: "Ship", Status: annotator.Tentative}
	reworded, err := codex.Reword(&base, 1, "It is a barque.", annotator.ActorModel, annotator.PlaceAt(2, 0))
	if err != nil || !codex.Destructive(reworded) {
		t.Errorf("to reword a fact takes nothing away (%v)", err)
	}
	moved, err := codex.Move(&base, &other, 1, annotator.ActorModel, annotator.PlaceAt(2, 0))
	if err != nil || !codex.Destructive(moved) || codex.Destructive(moved[:1]) {
		t.Errorf("to move a fact takes something away from none, or from the entry that gets it (%v)", err)
	}
	retired, err := codex.Retire(&base, "It is no ship.", annotator.ActorModel, annotator.PlaceAt(2, 0))
	if err != nil || !codex.Destructive(retired) {
		t.Errorf("to retire an entry takes nothing away (%v)", err)
	}
	merged, err := codex.Merge(&base, &other, annotator.ActorCurator, annotator.PlaceAt(2, 0))
	if err != nil || !codex.Destructive(merged) {
		t.Errorf("to merge an entry takes nothing away (%v)", err)
	}
}
