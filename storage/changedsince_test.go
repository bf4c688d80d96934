package storage_test

import (
	"testing"

	"annotator"
	"annotator/codex"
)

// TestChangedSince: an entry counts as changed exactly if its names, tags or facts have changed.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	name, confirmed := "Dawn (ship)", annotator.Confirmed
	evidence, _ := codex.Ground(bodyOf(10), "Dawn - the ship")
	evidence.Post = 10
	for what, test := range map[string]struct {
		edit codex.Edit
		want bool
	}{
		"another name":    {codex.Edit{Name: &name}, true},
		"an alias":        {codex.Edit{Aliases: []string{"The Dawn"}}, true},
		"other tags":      {codex.Edit{Tags: []string{"ship", "lost"}}, true},
		"a fact more":     {codex.Edit{Facts: factsOf("Three.", nil)}, true},
		"a fact less":     {codex.Edit{Close: []codex.Closing{{Fact: 1}}}, true},
		"a quotation":     {codex.Edit{Facts: factsOf("Two.", &evidence)}, false},
		"it is confirmed": {codex.Edit{Status: &confirmed}, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, t.TempDir(), scenesOf(2))
			dawn, other := "Dawn", "Vys"
			s.read(revises(0, codex.Edit{Name: &dawn, Facts: factsOf("One. Two.", nil), Tags: []string{"ship"}}),
				creates(other, "Three."))
			before, err := s.db.Glossary.Entry(s.ctx, 1)
			s.ok(err)
			shown := []annotator.Shown{
				{Entry: 1, Revision: before.Revision},
				{Entry: 2, Revision: 1 << 40},
				{Entry: 99},
			}
			s.read(revises(1, test.edit))
			after, err := s.db.Glossary.Entry(s.ctx, 1)
			s.ok(err)
			if after.Revision == before.Revision {
				t.Fatal("the edit makes no revision")
			}
			rewritten, err := s.db.Glossary.ChangedSince(s.ctx, shown, nil, false)
			s.ok(err)
			if rewritten[1] != test.want || len(rewritten) > 1 || rewritten[2] {
				t.Errorf("rewritten are %v", rewritten)
			}
			if none, err := s.db.Glossary.ChangedSince(s.ctx, nil, nil, false); err != nil || len(none) > 0 {
				t.Errorf("of no entries %v are rewritten, %v", none, err)
			}
		})
	}
}
