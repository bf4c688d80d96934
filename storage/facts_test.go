package storage_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
)

// TestOldEntriesTakeFacts: an entry of a database of before keeps what it says, in value and in JSON, and facts are added to it,
// close its claims, and are found by who says them.
func TestOldEntriesTakeFacts(t *testing.T) {
	t.Parallel()
	const claim = `{"id":1,"ord":0,"text":"She is a wick.","kind":"narrated","from":1000000}`
	path := atVersion(t, 8, `INSERT INTO glossary_entry (id, term, disambiguator, term_normalized, names, definition, status, first_at, last_at, revisions, revision, locked,
			created_at, updated_at) VALUES (1, 'Dawn', '', 'dawn', 'Dawn', 'She is a wick.', 'retired', 1000000, 1000000, 4, 4, 0, 5, 5)`,
		`INSERT INTO glossary_alias VALUES (1, 'dawn', 'Dawn', 1000000)`, `INSERT INTO claim VALUES (1, 1, 0, 'She is a wick.', 'narrated', 1000000, 0)`,
		`INSERT INTO revision VALUES (1, 1, 'term', '', 'Dawn', 1000000, 'person', 0, NULL, 5),
			(2, 1, 'alias', '', '{"name":"Dawn","from":1000000}', 1000000, 'person', 0, NULL, 5), (3, 1, 'claim', '', '`+claim+`', 1000000, 'person', 0, NULL, 5),
			(4, 1, 'retired', 'tentative', 'Twice.', 1000000, 'person', 0, NULL, 5)`)
	s := newStory(t, filepath.Dir(path), scenesOf(1, 1))
	// A run counts the entries that it brings to life.
	back := annotator.Revision{Entry: 1, Field: annotator.FieldStatus, Old: "retired", New: "tentative", At: annotator.PlaceAt(1, 0), Actor: annotator.ActorModel}
	s.read(func(ctx context.Context, g *storage.Glossary) error {
		_, err := g.Revise(ctx, []annotator.Revision{back})
		return err
	}, revises(1, codex.Edit{
		Facts: []codex.Fact{{Text: "She is a lamplighter.", Speaker: "Tobin Vane", State: true}}, Close: []codex.Closing{{Fact: 1, By: 2}},
	}), restates(1, "She has been promoted."))
	s.clean()
	e, err := s.db.Glossary.Entry(s.ctx, 1)
	s.ok(err)
	was, is := e.Claims[0], e.Claims[1]
	if e.Definition() != "She is a lamplighter." || e.Present == "" || was.ReplacedBy != 2 || was.Until == 0 || is.Speaker != "Tobin Vane" || !is.State {
		t.Errorf("%+v", e)
	}
	revisions, err := s.db.Glossary.Revisions(s.ctx, 1)
	s.ok(err)
	if revisions[2].New != claim || !slices.ContainsFunc(revisions, func(r annotator.Revision) bool { return r.Field == annotator.FieldClaim && r.Old == claim }) {
		t.Errorf("the old claim is not what it was: %+v", revisions)
	}
	found, err := s.db.Glossary.Search(s.ctx, annotator.Query{Text: "vane"})
	s.ok(err)
	if len(found) != 1 {
		t.Errorf("%d entries are found by who claims what they say", len(found))
	}
}

// TestListsDropWhatNoLongerHolds: a list leaves out claims that have ended, and with a state also the statement of what the
// entry is now that was made before.
func TestListsDropWhatNoLongerHolds(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read(creates("Dawn", "She sails."), revises(1, codex.Edit{Facts: []codex.Fact{{Text: "She is a captain.", State: true}}}), restates(1, "A captain."))
	s.read(revises(1, codex.Edit{Close: []codex.Closing{{Fact: 2}}}))
	for point, want := range map[string]string{"scene:1": "A captain.", "scene:2": ""} {
		p, err := storage.ParsePoint(point)
		s.ok(err)
		seen := s.seenAt(s.db, p)
		if len(seen.Entries) != 1 || codex.Present(&seen.Entries[0]) != want || codex.Present(seen.ByID[1]) != want {
			t.Errorf("%s: listed as %+v, want the statement %q", point, seen.Entries, want)
		}
	}
}
