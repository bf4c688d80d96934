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

// history is an entry with its revisions, numbered as a database does.
type history struct {
	entry     annotator.Entry
	revisions []annotator.Revision
}

func (h *history) revise(edit codex.Edit) error {
	if edit.Actor == "" {
		edit.Actor = annotator.ActorModel
	}
	revisions, err := codex.Revise(&h.entry, edit)
	if err != nil {
		return err
	}
	return h.apply(revisions)
}

func (h *history) apply(revisions []annotator.Revision) error {
	for _, r := range revisions {
		r.ID, r.Entry = int64(len(h.revisions)+1), 1
		h.entry.ID = 1
		if h.entry.Status == "" {
			h.entry.Status = annotator.Tentative
		}
		h.revisions = append(h.revisions, r)
		if err := codex.Apply(&h.entry, &r); err != nil {
			return err
		}
	}
	return nil
}

// factsOf returns the sentences of a text as facts.
func factsOf(text string) (facts []codex.Fact) {
	for _, sentence := range codex.Sentences(text) {
		facts = append(facts, codex.Fact{Text: sentence})
	}
	return facts
}

// made returns an entry called Dawn with a definition, as of the first scene.
func made(t *testing.T, definition string) *history {
	t.Helper()
	h := &history{}
	if err := h.revise(codex.Edit{
		Name: new("Dawn"), Facts: factsOf(definition),
		At: annotator.PlaceAt(1, 0),
	}); err != nil {
		t.Fatal(err)
	}
	return h
}

func code(err error) string {
	if r := (*codex.Refusal)(nil); errors.As(err, &r) {
		return r.Code
	}
	return fmt.Sprint(err)
}

func TestReviseRefuses(t *testing.T) {
	t.Parallel()
	const full = "Dawn is a ship. She sails at night."
	many := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("name ", i))
		}
		return list
	}
	for _, test := range []struct {
		name string
		edit codex.Edit
		code string
	}{
		{"empty term", codex.Edit{Name: new(" ")}, "EMPTY"},
		{"only a disambiguator", codex.Edit{Name: new("- (ship)")}, "EMPTY"},
		{"long term", codex.Edit{Name: new(strings.Repeat("é", codex.MaxName+1))}, "TOO_LONG"},
		{"empty fact", codex.Edit{Facts: factsOf("...")}, "EMPTY"},
		{"long fact", codex.Edit{Facts: factsOf(strings.Repeat("a", codex.MaxFact+1))}, "TOO_LONG"},
		{"empty tag", codex.Edit{Tags: []string{"ship", ""}}, "EMPTY"},
		{"long tag", codex.Edit{Tags: []string{strings.Repeat("a", codex.MaxTag+1)}}, "TOO_LONG"},
		{"many tags", codex.Edit{Tags: many(codex.MaxItems + 1)}, "TOO_LONG"},
		{"empty alias", codex.Edit{Aliases: []string{"\x00"}}, "EMPTY"},
		{"no such alias", codex.Edit{DropAliases: []string{"Dusk"}}, "NOT_FOUND"},
		{"the term as an alias", codex.Edit{DropAliases: []string{" DAWN "}}, "SAME"},
		{"the last alias", codex.Edit{DropAliases: []string{"Dawn", "Dawn"}}, "SAME"},
		{"many aliases", codex.Edit{Aliases: many(codex.MaxItems)}, "TOO_LONG"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := made(t, full)
			if got := code(h.revise(test.edit)); got != test.code {
				t.Errorf("got %s, want %s", got, test.code)
			}
		})
	}
}

func TestReviseRefusesByState(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		field annotator.Field
		value string
		actor annotator.Actor
		code  string
	}{
		{annotator.FieldLock, codex.LockEntry, annotator.ActorModel, "LOCKED"},
		{annotator.FieldLock, codex.LockEntry, annotator.ActorCurator, "LOCKED"},
		{annotator.FieldLock, codex.LockEntry, annotator.ActorPerson, "<nil>"},
		{annotator.FieldRetired, "a mistake", annotator.ActorModel, "RETIRED"},
		{annotator.FieldMerge, "7", annotator.ActorModel, "RETIRED"},
	} {
		h := made(t, "Dawn is a ship.")
		if err := h.apply([]annotator.Revision{{Field: test.field, New: test.value}}); err != nil {
			t.Fatal(err)
		}
		if got := code(h.revise(codex.Edit{Tags: []string{"ship"}, Actor: test.actor})); got != test.code {
			t.Errorf("%s %q for the %s: got %s, want %s", test.field, test.value, test.actor, got, test.code)
		}
	}
}

// Of the facts, one stays, one is closed with its place and end, and one is new.
func TestClaimsKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	h := made(t, "Dawn is a ship. She is grey. She sails.")
	err := h.revise(codex.Edit{
		Facts: []codex.Fact{{Text: "dawn is a ship."}, {Text: "The crew burned her.", Kind: annotator.Claimed}},
		Close: []codex.Closing{{Fact: 2}}, At: annotator.PlaceAt(5, 2),
	})
	if err != nil {
		t.Fatal(err)
	}
	first, second := annotator.PlaceAt(1, 0), annotator.PlaceAt(5, 2)
	want := []annotator.Claim{
		{ID: 1, Ord: 0, Text: "Dawn is a ship.", Kind: annotator.Narrated, From: first},
		{
			ID: 2, Ord: 1, Text: "She is grey.", Kind: annotator.Narrated, From: first, Until: second,
			Ended: annotator.EndWrong,
		},
		{ID: 3, Ord: 2, Text: "She sails.", Kind: annotator.Narrated, From: first},
		{ID: 4, Ord: 3, Text: "The crew burned her.", Kind: annotator.Claimed, From: second},
	}
	if diff := cmp.Diff(want, h.entry.Claims, cmpopts.IgnoreFields(annotator.Claim{}, "Revision")); diff != "" {
		t.Error(diff)
	}
}

// TestNamesAreStoredVisible: no name, alias or tag keeps a character that cannot be seen, and a disguised name is not a
// further alias.
func TestNamesAreStoredVisible(t *testing.T) {
	t.Parallel()
	h := &history{}
	edit := codex.Edit{
		Name: new("\ufeffDa\u200bwn (\u202eship)"), Facts: factsOf("A ship."),
		Aliases: []string{"Dawn\u2060", "The\u200b La\u00addy"}, Tags: []string{"ves\U000e0073sel"},
	}
	if err := h.revise(edit); err != nil {
		t.Fatal(err)
	}
	names := []string{h.entry.Name(), h.entry.Tags[0]}
	for _, a := range h.entry.Aliases {
		names = append(names, a.Name)
	}
	if diff := cmp.Diff([]string{"Dawn (ship)", "vessel", "Dawn", "The Lady"}, names); diff != "" {
		t.Error(diff)
	}
	var refusal *codex.Refusal
	if err := h.revise(codex.Edit{Aliases: []string{"\u200b\u3164"}}); !errors.As(err, &refusal) ||
		refusal.Code != "EMPTY" {
		t.Errorf("a name of nothing to be seen: %v", err)
	}
}

func TestEvidenceGoesToItsFact(t *testing.T) {
	t.Parallel()
	h := made(t, "Dawn is a ship. She sails at night.")
	evidence := annotator.Evidence{Post: 9, Start: 3, End: 20, Quote: "sails every night"}
	for range 2 { // the second time it is there already
		if err := h.revise(codex.Edit{Facts: []codex.Fact{{
			Text:   "She sails at night.",
			Quotes: []annotator.Evidence{evidence},
		}}}); err != nil {
			t.Fatal(err)
		}
	}
	evidence.Claim = 2
	if diff := cmp.Diff([]annotator.Evidence{evidence}, h.entry.Claims[1].Evidence); diff != "" {
		t.Error(diff)
	}
}

// Two copies of an entry may each add evidence without affecting the other.
func TestReviseDoesNotTouchTheEntry(t *testing.T) {
	t.Parallel()
	h := made(t, "Dawn is a ship.")
	for i := range 3 { // leaves room in the slice of evidence
		if err := h.revise(codex.Edit{Facts: []codex.Fact{{
			Text:   "Dawn is a ship.",
			Quotes: []annotator.Evidence{{Post: int64(i + 1), Quote: "ship"}},
		}}}); err != nil {
			t.Fatal(err)
		}
	}
	held := h.entry.Claims[0].Evidence
	room := held[:cap(held)]
	before := slices.Clone(room)
	if _, err := codex.Revise(&h.entry,
		codex.Edit{Facts: []codex.Fact{{
			Text:   "Dawn is a ship.",
			Quotes: []annotator.Evidence{{Post: 9, Quote: "ship"}},
		}}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, room); diff != "" {
		t.Error(diff)
	}
}

func TestRetire(t *testing.T) {
	t.Parallel()
	h := made(t, "Dawn is a ship.")
	if _, err := codex.Retire(&h.entry, " ", annotator.ActorModel, 0); code(err) != "EMPTY" {
		t.Errorf("without a reason: %v", err)
	}
	revisions, err := codex.Retire(&h.entry, "there is no such ship", annotator.ActorModel, annotator.PlaceAt(2, 0))
	if err == nil {
		err = h.apply(revisions)
	}
	if err != nil || h.entry.Status != annotator.Retired {
		t.Fatalf("status %s: %v", h.entry.Status, err)
	}
	if _, err := codex.Retire(&h.entry, "again", annotator.ActorModel, 0); code(err) != "RETIRED" {
		t.Errorf("a second time: %v", err)
	}
}

// edits generates edits that a model might request.
func edits(scene int) *rapid.Generator[codex.Edit] {
	return rapid.Custom(func(t *rapid.T) codex.Edit {
		word := rapid.SampledFrom([]string{"Dawn", "dawn", "Mik", "Vys", "DAWN (ship)", "Ile  de Ré", "曙光"})
		sentence := rapid.SampledFrom([]string{
			"Dawn is a ship.", "She sails at night.", "dawn is a ship.", "The [[Mik]] owns her!", "曙光是船。",
			"Nobody knows why",
		})
		status := rapid.SampledFrom([]annotator.Status{annotator.Tentative, annotator.Confirmed})
		edit := codex.Edit{
			Name:    rapid.Ptr(word, true).Draw(t, "name"),
			Tags:    rapid.SliceOfN(rapid.SampledFrom([]string{"ship", " Ship", "place"}), 0, 3).Draw(t, "tags"),
			Aliases: rapid.SliceOfN(word, 0, 3).Draw(t, "aliases"),
			Status:  rapid.Ptr(status, true).Draw(t, "status"),
			Actor:   annotator.ActorModel, At: annotator.PlaceAt(annotator.Order(scene), 0),
		}
		if rapid.Bool().Draw(t, "closes") {
			edit.Close = []codex.Closing{{
				Fact: rapid.Int64Range(1, 4).Draw(t, "closed"),
				By:   rapid.Int64Range(0, 3).Draw(t, "by"),
			}}
			return edit
		}
		for range rapid.IntRange(0, 5).Draw(t, "facts") {
			fact := codex.Fact{
				Text: sentence.Draw(t, "fact"),
				Kind: rapid.SampledFrom([]annotator.ClaimKind{"", annotator.Claimed}).Draw(t, "kind"),
			}
			fact.Relation, fact.Object = someRelation(t)
			if rapid.Bool().Draw(t, "quotes") {
				fact.Quotes = []annotator.Evidence{{Post: int64(scene), End: 4, Quote: sentence.Draw(t, "quote")}}
			}
			edit.Facts = append(edit.Facts, fact)
		}
		return edit
	})
}

// After any sequence of edits the entry is the replay of its revisions and has the facts of an accepted edit. A
// repeated or refused edit changes nothing, and closed claims stay closed.
func TestReviseAndReplay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := &history{}
		for scene := range rapid.IntRange(1, 6).Draw(t, "scenes") {
			edit := edits(scene+1).Draw(t, "edit")
			before := h.entry
			if err := h.revise(edit); err != nil {
				if r := (*codex.Refusal)(nil); !errors.As(err, &r) {
					t.Fatal(err)
				}
				continue
			}
			checkEdit(t, h, edit)
			checkClosed(t, &before, &h.entry)
		}
		replayed, err := replay(h.revisions)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&h.entry, replayed[1], cmpopts.EquateEmpty()); len(h.revisions) > 0 && diff != "" {
			t.Fatal(diff)
		}
	})
}

func checkEdit(t *rapid.T, h *history, edit codex.Edit) {
	e := &h.entry
	for _, fact := range edit.Facts {
		if codex.Known(e, fact) == 0 {
			t.Fatalf("asked for %q, got %q", fact.Text, e.Definition())
		}
	}
	if !slices.IsSorted(e.Tags) || len(slices.Compact(slices.Clone(e.Tags))) != len(e.Tags) {
		t.Fatalf("tags %q", e.Tags)
	}
	for i := 1; i < len(e.Aliases); i++ {
		if codex.Normalize(e.Aliases[i-1].Name) >= codex.Normalize(e.Aliases[i].Name) {
			t.Fatalf("aliases %v", e.Aliases)
		}
	}
	edit.Close = nil
	if again, err := codex.Revise(e, edit); err != nil || len(again) > 0 {
		t.Fatalf("the same edit again: %v, %v", again, err)
	}
}

// TestDroppedNames: a name that is dropped is gone, and no other; the term stays a name, and the revisions keep what
// there was.
func TestDroppedNames(t *testing.T) {
	t.Parallel()
	names := func(e *annotator.Entry) (list []string) {
		for _, a := range e.Aliases {
			list = append(list, codex.Normalize(a.Name))
		}
		return list
	}
	rapid.Check(t, func(t *rapid.T) {
		h := &history{}
		for scene := range rapid.IntRange(1, 4).Draw(t, "scenes") {
			_ = h.revise(edits(scene+1).Draw(t, "edit"))
		}
		if h.entry.Term == "" {
			t.Skip("no entry was made")
		}
		before, kept := names(&h.entry), len(h.revisions)
		name := rapid.SampledFrom(append([]string{"Nobody"}, before...)).Draw(t, "name")
		err := h.revise(codex.Edit{DropAliases: []string{strings.ToUpper(name)}, Actor: annotator.ActorModel})
		wanted := slices.DeleteFunc(slices.Clone(before), func(n string) bool { return err == nil && n == name })
		if got := names(&h.entry); !slices.Equal(got, wanted) || err == nil && len(got) == len(before) {
			t.Fatalf("without %q: %v, %v", name, got, err)
		}
		if isTerm := name == codex.Normalize(h.entry.Term); (code(err) == "SAME") != isTerm ||
			!slices.Contains(names(&h.entry), codex.Normalize(h.entry.Term)) {
			t.Fatalf("without %q, of %q: %v", name, h.entry.Term, err)
		}
		if err == nil && (len(h.revisions) != kept+1 || !codex.Destructive(h.revisions[kept:])) {
			t.Fatalf("%+v", h.revisions[kept:])
		}
		replayed, err := replay(h.revisions)
		if err != nil || !cmp.Equal(&h.entry, replayed[1], cmpopts.EquateEmpty()) {
			t.Fatal(err, cmp.Diff(&h.entry, replayed[1]))
		}
	})
}

func checkClosed(t *rapid.T, before, after *annotator.Entry) {
	for _, claim := range before.Claims {
		at := slices.IndexFunc(after.Claims, func(c annotator.Claim) bool { return c.ID == claim.ID })
		if at < 0 {
			t.Fatalf("claim %d is gone", claim.ID)
		}
		if claim.Until != 0 && cmp.Diff(claim, after.Claims[at]) != "" {
			t.Fatalf("closed claim %+v became %+v", claim, after.Claims[at])
		}
	}
}
