package codex_test

import (
	"slices"
	"testing"

	"annotator"
	"annotator/codex"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// told draws facts, each with its own quotation, so that the story has one order of them.
func toldFacts(t *rapid.T) []codex.Fact {
	texts := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{4,8}`), 1, 8, rapid.ID[string]).Draw(t, "texts")
	facts := make([]codex.Fact, len(texts))
	for i, text := range texts {
		facts[i] = codex.Fact{
			Text: text + ".", Identity: rapid.IntRange(0, 2).Draw(t, "identity") == 0,
			Kind:    rapid.SampledFrom([]annotator.ClaimKind{"narrated", "claimed", "inferred"}).Draw(t, "kind"),
			Earlier: rapid.Bool().Draw(t, "earlier"),
			Quotes: []annotator.Evidence{{
				Post: int64(100 - rapid.IntRange(1, 3).Draw(t, "post")), Start: 10 * i, End: 10*i + 5, Quote: text,
			}},
		}
	}
	return facts
}

// place is where a fact is told. The ids of the posts are not in the order of the story.
func place(f *codex.Fact) annotator.Place {
	return annotator.PlaceAt(annotator.Order(100-f.Quotes[0].Post), 1)
}

// written returns an entry with facts, of which some end in some way.
func written(t *rapid.T, id int64, facts []codex.Fact, ends map[string]annotator.Ending) *annotator.Entry {
	e := &annotator.Entry{ID: id, Term: string(rune('A' + id)), Status: annotator.Tentative}
	revise := func(edit codex.Edit) {
		edit.Actor = annotator.ActorModel
		revisions, err := codex.Revise(e, edit)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, e, revisions)
	}
	for i := range facts {
		revise(codex.Edit{Facts: facts[i : i+1], At: place(&facts[i])})
	}
	for i := range slices.Clone(e.Claims) {
		if how := ends[e.Claims[i].Text]; how != "" {
			revise(codex.Edit{Close: []codex.Closing{{Fact: e.Claims[i].ID, Ended: how}}, At: annotator.PlaceAt(9, 0)})
		}
	}
	return e
}

func apply(t *rapid.T, e *annotator.Entry, revisions []annotator.Revision) {
	for i := range revisions {
		if revisions[i].Entry != e.ID {
			continue
		}
		if err := codex.Apply(e, &revisions[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func textsOf(claims []annotator.Claim) (texts []string) {
	for _, c := range claims {
		texts = append(texts, c.Text)
	}
	return texts
}

// TestInOrderWhateverWasWrittenFirst: the order of facts is the same in whatever order they are written, and whichever
// of two entries is merged into the other.
func TestInOrderWhateverWasWrittenFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		facts, ends := toldFacts(t), map[string]annotator.Ending{}
		for i := range facts {
			ends[facts[i].Text] = rapid.SampledFrom([]annotator.Ending{
				"", "", annotator.EndRefuted, annotator.EndOver, annotator.EndWrong, // those that need no other fact
			}).Draw(t, "ending")
		}
		want, opening := codex.InOrder(written(t, 1, facts, ends))
		shuffled := rapid.Permutation(facts).Draw(t, "shuffled")
		cut := rapid.IntRange(0, len(facts)).Draw(t, "cut")
		for _, merged := range []bool{false, true} {
			a, b := written(t, 1, shuffled[:cut], ends), written(t, 2, shuffled[cut:], ends)
			if merged {
				a, b = b, a
			}
			revisions, err := codex.Merge(b, a, annotator.ActorModel, annotator.PlaceAt(9, 0))
			if err != nil {
				t.Fatal(err)
			}
			apply(t, a, revisions)
			got, opens := codex.InOrder(a)
			if diff := cmp.Diff(textsOf(want), textsOf(got)); diff != "" || opens != opening {
				t.Fatalf("%d open it, not %d: %s", opens, opening, diff)
			}
			for _, c := range got[:opens] {
				if c.Until != 0 {
					t.Fatalf("%q opens the entry and has ended", c.Text)
				}
			}
		}
	})
}

func TestInOrder(t *testing.T) {
	t.Parallel()
	at := annotator.PlaceAt
	quoted := func(start int) []annotator.Evidence { return []annotator.Evidence{{Start: start, End: start + 3}} }
	claims := []annotator.Claim{
		{ID: 1, Text: "guess", Kind: annotator.Inferred, Identity: true, From: at(9, 0)},
		{ID: 2, Text: "name", Kind: annotator.Narrated, Identity: true, From: at(2, 0)},
		{ID: 3, Text: "reveal", Kind: annotator.Narrated, Identity: true, From: at(8, 0)},
		{ID: 4, Text: "refuted", Identity: true, From: at(1, 0), Until: at(3, 0), Ended: annotator.EndRefuted},
		{ID: 5, Text: "second", From: at(1, 4), Evidence: quoted(30)},
		{ID: 6, Text: "first", From: at(1, 4), Evidence: append(quoted(7), quoted(90)...)},
		{ID: 7, Text: "unquoted", From: at(1, 4)},
	}
	for _, test := range []struct {
		name    string
		entry   annotator.Entry
		order   []string
		opening int
	}{
		{
			"identities",
			annotator.Entry{Claims: claims},
			[]string{"reveal", "name", "refuted", "unquoted", "first", "second", "guess"},
			2,
		},
		{"the term", annotator.Entry{Term: "Name", Claims: append([]annotator.Claim{
			{ID: 8, Text: "The [[name]] is it.", Identity: true, From: at(1, 0)},
			{ID: 9, Text: "The name's sound is known.", Identity: true, From: at(1, 9)},
		}, claims...)}, []string{
			"The [[name]] is it.", "reveal", "name", "refuted", "unquoted", "first", "second",
			"The name's sound is known.", "guess",
		}, 3},
		{"no identity", annotator.Entry{Claims: claims[3:]}, []string{"unquoted", "refuted", "first", "second"}, 1},
		{
			"a statement only",
			annotator.Entry{Claims: claims[3:], Present: "It is so."},
			[]string{"unquoted", "refuted", "first", "second"},
			1,
		},
		{"a statement of what was", annotator.Entry{Claims: append([]annotator.Claim{
			{ID: 8, Text: "name", Identity: true, From: at(9, 0), Until: at(9, 1), Ended: annotator.EndOver},
		}, claims[4:]...), Present: "It is so."}, []string{"unquoted", "first", "second", "name"}, 0},
		{"nothing holds", annotator.Entry{Claims: claims[3:4]}, []string{"refuted"}, 0},
	} {
		got, opening := codex.InOrder(&test.entry)
		if diff := cmp.Diff(test.order, textsOf(got)); diff != "" || opening != test.opening {
			t.Errorf("%s: %d open it: %s", test.name, opening, diff)
		}
	}
}

func TestGist(t *testing.T) {
	t.Parallel()
	state := annotator.Claim{ID: 1, Text: "She sails.", State: true, Revision: 4}
	identity := annotator.Claim{ID: 2, Text: "She is a sailor.", Identity: true}
	guess := annotator.Claim{ID: 3, Text: "She seems to be a queen.", Kind: annotator.Inferred, Identity: true}
	said := annotator.Claim{ID: 4, Text: "She is a spy.", Kind: annotator.Claimed, Identity: true}
	by := said
	by.Speaker, by.Document = "[[Pym]]", "the notice"
	entry := func(present string, revision int64, claims ...annotator.Claim) annotator.Entry {
		return annotator.Entry{Claims: claims, Present: present, PresentScene: 7, PresentRevision: revision}
	}
	for want, e := range map[string]annotator.Entry{
		"She is a sailor. She sails.":                            entry("", 0, state, identity),
		"She is a sailor. She rests.":                            entry("She rests.", 5, state, identity),
		"She is a sailor. As of scene 7: She rests.":             entry("She rests.", 3, state, identity),
		"She sails. As of scene 7: She rests.":                   entry("She rests.", 3, state),
		"She rests.":                                             entry("She rests.", 3),
		"She is a sailor. She rests. ":                           entry("She rests. ", 5, guess, identity),
		"A guess: She seems to be a queen. She rests.":           entry("She rests.", 5, guess),
		"A guess: She seems to be a queen. She sails.":           entry("", 0, state, guess),
		"According to somebody: She is a spy. She rests.":        entry("She rests.", 5, guess, said),
		"According to [[Pym]] in the notice: She is a spy. Now.": entry("Now.", 5, by),
	} {
		if got := codex.Gist(&e); got != want {
			t.Errorf("the gist is %q, not %q", got, want)
		}
	}
}

// TestShown: what another claim says, another entry has, or is wrong, is not shown.
func TestShown(t *testing.T) {
	t.Parallel()
	for ending, want := range map[annotator.Ending]bool{
		"": true, annotator.EndRefuted: true, annotator.EndOver: true, annotator.EndConfirmed: false,
		annotator.EndReworded: false, annotator.EndMoved: false, annotator.EndWrong: false,
	} {
		if got := codex.Shown(&annotator.Claim{Until: annotator.PlaceAt(2, 0), Ended: ending}); got != want {
			t.Errorf("%q: %v", ending, got)
		}
	}
}
