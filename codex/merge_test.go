package codex_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
)

// numbered numbers revisions as a database does.
func numbered(revisions []annotator.Revision, after int64) []annotator.Revision {
	for i := range revisions {
		revisions[i].ID = after + int64(i) + 1
	}
	return revisions
}

// entryOf makes an entry with an id from edits.
func entryOf(t rapid.TB, id int64, edits ...codex.Edit) *annotator.Entry {
	t.Helper()
	e := &annotator.Entry{ID: id, Status: annotator.Tentative}
	for _, edit := range edits {
		edit.Actor = annotator.ActorModel
		revisions, err := codex.Revise(e, edit)
		if err != nil {
			t.Fatal(err)
		}
		applyAll(t, revisions, e)
	}
	return e
}

func applyAll(t rapid.TB, revisions []annotator.Revision, entries ...*annotator.Entry) {
	t.Helper()
	for i := range revisions {
		at := slices.IndexFunc(entries, func(e *annotator.Entry) bool { return e.ID == revisions[i].Entry })
		if err := codex.Apply(entries[at], &revisions[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func quoted(post int64, quote string) []annotator.Evidence {
	return []annotator.Evidence{{Post: post, End: len(quote), Quote: quote}}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	source := entryOf(t, 1,
		codex.Edit{
			Name: new("Marrow (captain)"), Facts: []codex.Fact{
				{Text: "She has a ship."},
				{Text: "She is grey.", Quotes: quoted(5, "grey she is")},
			},
			Tags: []string{"person", "sailor"}, Aliases: []string{"Old Marrow"}, At: annotator.PlaceAt(1, 0),
		},
		codex.Edit{
			Facts: []codex.Fact{{Text: "She sank it off the quay.", Quotes: quoted(6, "she sank it")}},
			Close: []codex.Closing{{Fact: 2}},
			At:    annotator.PlaceAt(2, 0),
		})
	target := entryOf(t, 2, codex.Edit{
		Name: new("Ysolde Marrow"), Tags: []string{"person"}, At: annotator.PlaceAt(1, 3),
		Facts: []codex.Fact{
			{Text: "Ysolde is a captain.", Quotes: quoted(7, "captain Ysolde")},
			{Text: "She HAS a ship."},
		},
	})
	revisions, err := codex.Merge(source, target, annotator.ActorCurator, annotator.PlaceAt(1, 5))
	if err != nil {
		t.Fatal(err)
	}
	applyAll(t, numbered(revisions, 100), source, target)
	if source.Status != annotator.Merged || source.MergedInto != 2 || len(source.Claims) != 3 || len(source.Tags) != 2 {
		t.Errorf("the source is %s into %d, has %d claims and tags %q", source.Status, source.MergedInto,
			len(source.Claims), source.Tags)
	}
	if want := "Ysolde is a captain. She HAS a ship. She sank it off the quay."; target.Definition() != want {
		t.Errorf("definition %q", target.Definition())
	}
	if diff := cmp.Diff([]string{"person", "sailor"}, target.Tags); diff != "" {
		t.Error(diff)
	}
	wantNames := []annotator.Alias{
		{Name: "Marrow", From: annotator.PlaceAt(1, 0)},
		{Name: "Old Marrow", From: annotator.PlaceAt(1, 0)},
		{Name: "Ysolde Marrow", From: annotator.PlaceAt(1, 3)},
	}
	if diff := cmp.Diff(wantNames, target.Aliases); diff != "" {
		t.Error(diff)
	}
	var quotes []string
	for _, claim := range target.Claims {
		for _, evidence := range claim.Evidence {
			quotes = append(quotes, claim.Text+" "+evidence.Quote)
		}
	}
	slices.Sort(quotes)
	want := []string{
		"She is grey. grey she is", "She sank it off the quay. she sank it",
		"Ysolde is a captain. captain Ysolde",
	}
	if diff := cmp.Diff(want, quotes); diff != "" {
		t.Error(diff)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	fresh := func(id int64, change annotator.Revision) *annotator.Entry {
		var facts []codex.Fact
		for n := range codex.MaxFacts/2/codex.MaxFact + 1 { // two such entries are too long together
			facts = append(facts,
				codex.Fact{Text: fmt.Sprintf("%d.%02d%s", id, n, strings.Repeat("a", codex.MaxFact-4))})
		}
		e := entryOf(t, id, codex.Edit{Name: new("Dawn"), Facts: facts})
		if change.Field != "" {
			change.Entry = id
			applyAll(t, []annotator.Revision{change}, e)
		}
		return e
	}
	none := annotator.Revision{}
	locked := annotator.Revision{Field: annotator.FieldLock, New: codex.LockEntry}
	gone := annotator.Revision{Field: annotator.FieldRetired, New: "a mistake"}
	for _, test := range []struct {
		name           string
		source, target *annotator.Entry
		code           string
	}{
		{"into itself", fresh(1, none), fresh(1, none), "SAME"},
		{"a locked one", fresh(1, locked), fresh(2, none), "LOCKED"},
		{"into a locked one", fresh(1, none), fresh(2, locked), "LOCKED"},
		{"a retired one", fresh(1, gone), fresh(2, none), "RETIRED"},
		{"into a retired one", fresh(1, none), fresh(2, gone), "RETIRED"},
		{"too long together", fresh(1, none), fresh(2, none), "TOO_LONG"},
	} {
		if _, err := codex.Merge(test.source, test.target, annotator.ActorCurator, 0); code(err) != test.code {
			t.Errorf("%s: got %v, want %s", test.name, err, test.code)
		}
	}
}

// After any merge the target has every name, tag, claim and quotation of both entries and keeps its own claims
// unchanged. Both entries equal the sum of their revisions.
func TestMergeKeepsBoth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []annotator.Revision
		made := func(id int64, name string) *annotator.Entry {
			e := &annotator.Entry{ID: id, Status: annotator.Tentative}
			wanted := []codex.Edit{{Name: &name, Facts: factsOf("It was seen."), Actor: annotator.ActorModel}}
			for scene := range rapid.IntRange(0, 3).Draw(t, "edits") {
				wanted = append(wanted, edits(scene+1).Draw(t, "edit"))
			}
			for _, edit := range wanted {
				revisions, err := codex.Revise(e, edit)
				if r := (*codex.Refusal)(nil); err != nil && !errors.As(err, &r) {
					t.Fatal(err)
				}
				revisions = numbered(revisions, int64(len(all)))
				applyAll(t, revisions, e)
				all = append(all, revisions...)
			}
			return e
		}
		source, target := made(1, "Dusk"), made(2, "Noon")
		before := *target
		revisions, err := codex.Merge(source, target, annotator.ActorCurator, annotator.PlaceAt(9, 0))
		if err != nil {
			t.Fatal(err)
		}
		revisions = numbered(revisions, int64(len(all)))
		applyAll(t, revisions, source, target)
		for _, e := range []*annotator.Entry{source, &before} {
			checkHolds(t, target, e)
		}
		if got := target.Claims; len(before.Claims) > 0 && !strings.HasPrefix(target.Definition(),
			before.Definition()) {
			t.Fatalf("the target's own claims moved: %+v, were %+v", got, before.Claims)
		}
		replayed, err := replay(append(all, revisions...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[int64]*annotator.Entry{1: source, 2: target}, replayed,
			cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// checkHolds checks that an entry contains everything of another.
func checkHolds(t *rapid.T, e, other *annotator.Entry) {
	for _, tag := range other.Tags {
		if !slices.Contains(e.Tags, tag) {
			t.Fatalf("the tag %q is lost", tag)
		}
	}
	for _, alias := range other.Aliases {
		if !slices.ContainsFunc(e.Aliases, func(a annotator.Alias) bool {
			return codex.Normalize(a.Name) == codex.Normalize(alias.Name)
		}) {
			t.Fatalf("the name %q is lost", alias.Name)
		}
	}
	for _, claim := range other.Claims {
		same := func(c annotator.Claim) bool {
			return codex.Normalize(c.Text) == codex.Normalize(claim.Text) && (claim.Until != 0 || c.Until == 0)
		}
		if !slices.ContainsFunc(e.Claims, same) {
			t.Fatalf("the claim %q is lost", claim.Text)
		}
		for _, evidence := range claim.Evidence {
			if !slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
				evidence.Claim = c.ID
				return codex.Normalize(c.Text) == codex.Normalize(claim.Text) && slices.Contains(c.Evidence, evidence)
			}) {
				t.Fatalf("the quotation %q of %q is lost", evidence.Quote, claim.Text)
			}
		}
	}
}
