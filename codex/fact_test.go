package codex_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestFactLine(t *testing.T) {
	t.Parallel()
	for want, claim := range map[string]annotator.Claim{
		"1: She sails.": {ID: 1, Text: "She sails.", Kind: annotator.Narrated},
		"2 (claimed by Tobin Vane): She fled.": {
			ID: 2, Text: "She fled.", Kind: annotator.Claimed,
			Speaker: "Tobin Vane",
		},
		"3 (claimed, state): She is poor.": {
			ID: 3, Text: "She is poor.", Kind: annotator.Claimed,
			State: true,
		},
		"4 (inferred): She lies.": {ID: 4, Text: "She lies.", Kind: annotator.Inferred},
		"5 (state): She is a wick.": {
			ID: 5, Text: "She is a wick.", Kind: annotator.Narrated,
			State: true,
		},
		"7 (claimed by Tobin Vane in the burnt letter, identity): She is his niece.": {
			ID: 7, Text: "She is his niece.", Kind: annotator.Claimed, Speaker: "Tobin Vane",
			Document: "the burnt letter", Identity: true,
		},
		"8 (claimed in the inscription, earlier): She built the quay.": {
			ID: 8, Text: "She built the quay.", Kind: annotator.Claimed, Document: "the inscription", Earlier: true,
		},
		"A part of another entry.": {Text: "A part of another entry."},
		"6: What a damaged database makes of a narration.": {
			ID:   6,
			Text: "What a damaged database makes of a narration.", Speaker: "Tobin",
		},
	} {
		if got := codex.FactLine(&claim); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// tracked is an entry with all its revisions.
type tracked struct {
	entry     annotator.Entry
	revisions []annotator.Revision
}

func (h *tracked) apply(t rapid.TB, revisions []annotator.Revision) {
	t.Helper()
	for i := range revisions {
		r := &revisions[i]
		r.ID, r.Entry = int64(len(h.revisions)+1), 1
		if !codex.Follows(&h.entry, r) {
			t.Fatalf("revision %+v does not follow", *r)
		}
		if err := codex.Apply(&h.entry, r); err != nil {
			t.Fatal(err)
		}
		h.revisions = append(h.revisions, *r)
	}
}

func someRelation(t *rapid.T) (relation, object string) {
	relation = rapid.SampledFrom([]string{"", "", "sister of", " owns ", "…"}).Draw(t, "relation")
	return relation, rapid.SampledFrom([]string{"", "Mik", "[[the quay|it]]", "曙光"}).Draw(t, "object")
}

func someFact(t *rapid.T) codex.Fact {
	f := codex.Fact{
		Text: rapid.SampledFrom([]string{
			"She sails.", "she  SAILS.", "She is a wick. She is young.", "She sank.",
			"Sie sinkt.", "彼女は沈む。",
		}).Draw(t, "text"),
		Kind: rapid.SampledFrom([]annotator.ClaimKind{
			"", annotator.Narrated, annotator.Claimed,
			annotator.Inferred,
		}).Draw(t, "kind"),
		Speaker: rapid.SampledFrom([]string{"", "", "Mik", "the Archivist"}).Draw(t, "speaker"),
		State:   rapid.Bool().Draw(t, "state"),
	}
	f.Relation, f.Object = someRelation(t)
	if rapid.Bool().Draw(t, "quoted") {
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 5), 1, 2).Draw(t, "from") {
			quote := annotator.Evidence{Post: 7, Start: n, End: n + 3, Quote: fmt.Sprintf("q%d!", n)}
			f.Quotes = append(f.Quotes, quote)
		}
	}
	return f
}

// TestFactsStayUntilClosed tests that an added fact stays until it is closed, with the quotes that came with it and no
// others. Nothing is added twice. An addition removes nothing, and a closing removes what it names.
func TestFactsStayUntilClosed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := tracked{entry: annotator.Entry{ID: 1}}
		term := "Dawn"
		revisions, err := codex.Revise(&h.entry,
			codex.Edit{Name: &term, Actor: annotator.ActorModel, At: annotator.PlaceAt(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		h.apply(t, revisions)
		open, quotes := map[int64]codex.Fact{}, map[int64][]string{}
		for scene := range rapid.IntRange(1, 12).Draw(t, "scenes") {
			edit := codex.Edit{Actor: annotator.ActorModel, At: annotator.PlaceAt(annotator.Order(scene+1), 0)}
			if rapid.Bool().Draw(t, "close") {
				edit.Close = []codex.Closing{{
					Fact: rapid.Int64Range(0, 9).Draw(t, "which"),
					By:   rapid.Int64Range(0, 9).Draw(t, "by"),
				}}
			} else {
				edit.Facts = []codex.Fact{someFact(t)}
			}
			revisions, err := codex.Revise(&h.entry, edit)
			if refusal := (*codex.Refusal)(nil); errors.As(err, &refusal) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			if codex.Destructive(revisions) != (len(edit.Close) > 0) {
				t.Fatalf("destructive: %v", revisions)
			}
			var known int64
			if len(edit.Facts) > 0 {
				known = codex.Known(&h.entry, edit.Facts[0])
			}
			h.apply(t, revisions)
			for _, c := range edit.Close {
				delete(open, c.Fact)
			}
			for _, f := range edit.Facts {
				id := codex.Known(&h.entry, f)
				if known != 0 && id != known {
					t.Fatalf("%+v was fact %d, and is fact %d", f, known, id)
				}
				if known == 0 {
					open[id] = f
				}
				for _, q := range f.Quotes {
					if !slices.Contains(quotes[id], q.Quote) {
						quotes[id] = append(quotes[id], q.Quote)
					}
				}
			}
			h.holds(t, open, quotes)
		}
		replayed := tracked{entry: annotator.Entry{ID: 1}}
		replayed.apply(t, slices.Clone(h.revisions))
		if diff := cmp.Diff(h.entry, replayed.entry); diff != "" {
			t.Errorf("the sum of the revisions (-entry +sum):\n%s", diff)
		}
	})
}

// holds demands that the entry has the facts that are open, and of all facts the quotes.
func (h *tracked) holds(t rapid.TB, open map[int64]codex.Fact, quotes map[int64][]string) {
	t.Helper()
	found := 0
	for i := range h.entry.Claims {
		c := &h.entry.Claims[i]
		var got []string
		for _, e := range c.Evidence {
			got = append(got, e.Quote)
		}
		if !slices.Equal(got, quotes[c.ID]) {
			t.Fatalf("fact %d has the quotes %q; it came with %q", c.ID, got, quotes[c.ID])
		}
		f, isOpen := open[c.ID]
		if isOpen != (c.Until == 0) {
			t.Fatalf("fact %d: %+v", c.ID, c)
		}
		if isOpen {
			found++
			if c.Text != strings.Join(strings.Fields(f.Text), " ") || c.State != f.State {
				t.Fatalf("fact %d was added as %+v, and is %+v", c.ID, f, c)
			}
		}
	}
	if found != len(open) {
		t.Fatalf("%d of %d facts", found, len(open))
	}
}

// TestRelations: a fact has its relation, to what it links where it names no object. One that is sent again with a
// relation gets it, unless it has one.
func TestRelations(t *testing.T) {
	t.Parallel()
	e := entryOf(t, 1, codex.Edit{Name: new("Sorrel"), Facts: []codex.Fact{
		{Text: "Sorrel is the sister of [[Maren Colm|Maren]].", Relation: "sister of"},
		{Text: "She is a wick.", Relation: "has  rank", Object: "[[wick]]"},
		{Text: "She is young.", Object: "Maren"},
		{Text: "She is a widow.", Relation: "widowed"},
	}})
	again := func(actor annotator.Actor, relation string) {
		revisions, err := codex.Revise(e, codex.Edit{Actor: actor, Facts: []codex.Fact{
			{Text: "She is young.", Relation: relation, Object: "Tobin"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		applyAll(t, numbered(revisions, 100), e)
	}
	relations := func() (words []string) {
		for i := range e.Claims {
			words = append(words, codex.RelationWords(&e.Claims[i]))
		}
		return words
	}
	again(annotator.ActorModel, "younger than")
	again(annotator.ActorModel, "older than")
	want := []string{"sister of Maren Colm", "has rank wick", "younger than Tobin", "widowed"}
	if diff := cmp.Diff(want, relations()); diff != "" {
		t.Error(diff)
	}
	again(annotator.ActorPerson, "as old as")
	if want[2] = "as old as Tobin"; !slices.Equal(relations(), want) {
		t.Errorf("by a person: %q", relations())
	}
}

// TestRelationOfAMerge: a fact of both entries gets the relation of the one that has it, and the split takes it back.
// It keeps a relation that it has, and gets none of a fact that has ended.
func TestRelationOfAMerge(t *testing.T) {
	t.Parallel()
	fact := func(relation string, quotes ...annotator.Evidence) codex.Fact {
		return codex.Fact{Text: "He rows.", Relation: relation, Object: "Dawn", Quotes: quotes}
	}
	closed := []codex.Closing{{Fact: 1, Ended: annotator.EndWrong}}
	for name, test := range map[string]struct {
		source, target codex.Fact
		closed         []codex.Closing // of the source
		want           string
	}{
		"given":  {source: fact("rows"), target: fact(""), want: "rows Dawn"},
		"quoted": {source: fact("rows", quoted(1, "row")...), target: fact("", quoted(2, "row")...), want: "rows Dawn"},
		"kept":   {source: fact("rows"), target: fact("owns"), want: "owns Dawn"},
		"ended":  {source: fact("rows"), target: fact(""), closed: closed},
	} {
		source := entryOf(t, 1, codex.Edit{Name: new("Mik"), Facts: []codex.Fact{test.source}})
		target := entryOf(t, 2, codex.Edit{Name: new("Mik Ferrow"), Facts: []codex.Fact{test.target}})
		closing, err := codex.Revise(source, codex.Edit{Close: test.closed, Actor: annotator.ActorModel, At: 1})
		if err != nil {
			t.Fatal(err)
		}
		applyAll(t, numbered(closing, 50), source)
		before := codex.Clone(target)
		revisions, err := codex.Merge(source, target, annotator.ActorPerson, annotator.PlaceAt(2, 0))
		if err != nil {
			t.Fatal(err)
		}
		applyAll(t, numbered(revisions, 100), source, target)
		if got := codex.RelationWords(&target.Claims[0]); got != test.want || len(target.Claims) != 1 {
			t.Fatalf("%s: merged: %q of %d facts", name, got, len(target.Claims))
		}
		split, err := codex.Perform(&annotator.Operation{Do: annotator.DeedSplit, Entry: 1}, &codex.Subject{
			Entries: map[int64]*annotator.Entry{1: source, 2: target},
			Former:  append(codex.Moved(revisions, source), revisions[len(revisions)-1]),
		})
		if err != nil {
			t.Fatal(err)
		}
		applyAll(t, numbered(split, 200), source, target)
		ignored := cmpopts.IgnoreFields(annotator.Claim{}, "Revision")
		if diff := cmp.Diff(before.Claims, target.Claims, ignored, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: after the split (-before +after):\n%s", name, diff)
		}
	}
}

// TestClosedByAnother: a closed fact names what took its place, and a refused closing says why.
func TestClosedByAnother(t *testing.T) {
	t.Parallel()
	h := tracked{entry: annotator.Entry{ID: 1}}
	add := func(edit codex.Edit) error {
		edit.Actor, edit.At = annotator.ActorModel, annotator.PlaceAt(annotator.Order(len(h.revisions)+1), 0)
		revisions, err := codex.Revise(&h.entry, edit)
		if err == nil {
			h.apply(t, revisions)
		}
		return err
	}
	if err := add(codex.Edit{Facts: []codex.Fact{
		{Text: "She is a wick.", State: true},
		{Text: "She is young."},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := add(codex.Edit{
		Facts: []codex.Fact{{Text: "She is a lamplighter.", State: true}},
		Close: []codex.Closing{{Fact: 1, By: 3}},
	}); err != nil {
		t.Fatal(err)
	}
	if c := h.entry.Claims[slices.IndexFunc(h.entry.Claims, func(c annotator.Claim) bool {
		return c.ID == 1
	})]; c.Until == 0 || c.ReplacedBy != 3 {
		t.Errorf("fact 1 is %+v", c)
	}
	for closing, code := range map[codex.Closing]string{
		{Fact: 1}: "NOT_FOUND", {Fact: 9}: "NOT_FOUND",
		{Fact: 2, By: 1}: "NOT_FOUND", {Fact: 2, By: 2}: "SAME",
	} {
		refusal := (*codex.Refusal)(nil)
		if err := add(codex.Edit{Close: []codex.Closing{closing}}); !errors.As(err, &refusal) || refusal.Code != code {
			t.Errorf("%+v: %v, want %s", closing, err, code)
		}
	}
}

// TestEndings: a closing ends a claim as it says, or as claims of its kind most often end.
func TestEndings(t *testing.T) {
	t.Parallel()
	guess := codex.Fact{Text: "She seems to be a queen.", Kind: annotator.Inferred}
	saying := codex.Fact{Text: "Mik said that she was a queen.", Speaker: "Mik"}
	state := codex.Fact{Text: "She is poor.", State: true}
	guessed := codex.Fact{Text: "She seems to live here.", Kind: annotator.Inferred, State: true}
	slip := codex.Fact{Text: "She is tall."}
	by := codex.Fact{Text: "She was born a queen."}
	former := codex.Fact{Text: "As a child she was a queen.", Earlier: true, State: true}
	for _, test := range []struct {
		name  string
		fact  codex.Fact
		by    *codex.Fact
		ended annotator.Ending
		want  annotator.Ending // empty: refused
	}{
		{"a guess, by a fact", guess, &by, "", annotator.EndConfirmed},
		{"a guess, by none", guess, nil, "", annotator.EndRefuted},
		{"a saying", saying, &by, "", annotator.EndRefuted},
		{"a state", state, &by, "", annotator.EndOver},
		{"anything else", slip, nil, "", annotator.EndWrong},
		{"a guess that proved false", guess, &by, annotator.EndRefuted, annotator.EndRefuted},
		{"a saying that proved true", saying, &by, annotator.EndConfirmed, annotator.EndConfirmed},
		{"a state that never was", state, nil, annotator.EndWrong, annotator.EndWrong},
		{"confirmed by nothing", guess, nil, annotator.EndConfirmed, ""},
		{"no such ending", guess, &by, "dead", ""},
		{"reworded without words", guess, &by, annotator.EndReworded, ""},
		{"moved to nowhere", guess, &by, annotator.EndMoved, ""},
		{"a guess, by an earlier fact", guess, &former, "", annotator.EndConfirmed},
		{"a guess that an earlier fact refutes", guess, &former, annotator.EndRefuted, annotator.EndRefuted},
		{"a slip, by an earlier fact", slip, &former, "", annotator.EndWrong},
		{"over by an earlier fact", slip, &former, annotator.EndOver, ""},
		{"a state, by an earlier fact", state, &former, "", ""},
		{"a guess of a state, by an earlier fact", guessed, &former, annotator.EndConfirmed, annotator.EndConfirmed},
		{"a guess of a state, over by an earlier fact", guessed, &former, "", ""},
		{"a state, wrong by an earlier fact", state, &former, annotator.EndWrong, ""},
	} {
		edit := codex.Edit{
			Actor: annotator.ActorModel, At: annotator.PlaceAt(2, 0), Facts: []codex.Fact{test.fact},
			Close: []codex.Closing{{Fact: 1, Ended: test.ended}},
		}
		if test.by != nil {
			edit.Facts, edit.Close[0].By = append(edit.Facts, *test.by), 2
		}
		e := annotator.Entry{ID: 1, Term: "Dawn", Status: annotator.Tentative}
		revisions, err := codex.Revise(&e, edit)
		if test.want == "" {
			if code(err) != "ENDING" {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		applyAll(t, revisions, &e)
		if c := e.Claims[0]; c.ID != 1 || c.Until == 0 || c.Ended != test.want {
			t.Errorf("%s: %+v, want %s", test.name, c, test.want)
		}
		if test.by == &former && e.Claims[1].State {
			t.Errorf("%s: a fact of an earlier time is a state", test.name)
		}
	}
}

// TestIdentityIsMarkedLater: a known fact that is sent again as the one that says who the entry is becomes that.
func TestIdentityIsMarkedLater(t *testing.T) {
	t.Parallel()
	e := entryOf(t, 1, codex.Edit{Name: new("Dawn"), Facts: factsOf("Dawn is a ship. She is grey.")})
	for range 2 {
		revisions, err := codex.Revise(e, codex.Edit{Facts: []codex.Fact{{Text: "Dawn is a ship.", Identity: true}}})
		if err != nil || codex.Destructive(revisions) {
			t.Fatalf("%+v, %v", revisions, err)
		}
		applyAll(t, revisions, e)
	}
	if len(e.Claims) != 2 || !e.Claims[0].Identity || e.Claims[1].Identity || e.Revisions != 5 {
		t.Errorf("%+v", e)
	}
}

func TestRestate(t *testing.T) {
	t.Parallel()
	h := tracked{entry: annotator.Entry{ID: 1, Status: annotator.Confirmed}}
	for n, statement := range []string{"She is a wick.", "She is a\n lamplighter."} {
		revisions, err := codex.Restate(&h.entry, statement, annotator.ActorCurator,
			annotator.PlaceAt(annotator.Order(n+1), 1))
		if err != nil || codex.Destructive(revisions) {
			t.Fatalf("%v, %v", revisions, err)
		}
		h.apply(t, revisions)
	}
	if h.entry.Present != "She is a lamplighter." || h.entry.PresentAt != annotator.PlaceAt(2, 1) ||
		h.entry.Definition() != "" {
		t.Errorf("%+v", h.entry)
	}
	if again, err := codex.Restate(&h.entry, "She is a lamplighter.", annotator.ActorCurator,
		annotator.PlaceAt(3, 0)); err != nil || len(again) > 0 {
		t.Errorf("said again: %v, %v", again, err)
	}
	h.entry.Locked = true
	if _, err := codex.Restate(&h.entry, "She is nobody.", annotator.ActorCurator,
		annotator.PlaceAt(3, 0)); err == nil {
		t.Error("a locked entry was restated")
	}
}

// TestPresentIsNotOutdated: a statement is not shown once a state has begun or ended after it.
func TestPresentIsNotOutdated(t *testing.T) {
	t.Parallel()
	at := annotator.PlaceAt
	for name, test := range map[string]struct {
		claim annotator.Claim
		shown bool
	}{
		"a state of before":                {annotator.Claim{State: true, Revision: 6}, true},
		"a state of the same revision":     {annotator.Claim{State: true, Revision: 7}, true},
		"a fact that is no state":          {annotator.Claim{Revision: 9}, true},
		"a state that was told after":      {annotator.Claim{State: true, From: at(5, 0), Revision: 8}, false},
		"one of an early scene, read late": {annotator.Claim{State: true, From: at(1, 0), Revision: 8}, false},
		"a state that ended after":         {annotator.Claim{State: true, Until: at(5, 0), Revision: 8}, false},
		"one that is not recorded yet":     {annotator.Claim{State: true, Revision: math.MaxInt64}, false},
	} {
		e := &annotator.Entry{
			Present: "She sails.", PresentAt: at(4, 2), PresentRevision: 7,
			Claims: []annotator.Claim{test.claim},
		}
		if got := codex.Present(e); (got == "She sails.") != test.shown || !test.shown && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestFactIndex: the index finds what a look through all facts finds, also after facts were added and closed.
func TestFactIndex(t *testing.T) {
	t.Parallel()
	known := func(e *annotator.Entry, f codex.Fact) int64 {
		for _, c := range e.Claims {
			same := c.Until == 0 && codex.Normalize(c.Text) == codex.Normalize(f.Text) &&
				(f.Kind == "" || f.Kind == c.Kind)
			if same && (f.Speaker == "" || codex.Normalize(f.Speaker) == codex.Normalize(c.Speaker)) {
				return c.ID
			}
		}
		return 0
	}
	rapid.Check(t, func(t *rapid.T) {
		e := annotator.Entry{Term: "Dawn", Status: annotator.Tentative}
		index := codex.NewFactIndex(&e)
		for range rapid.IntRange(1, 20).Draw(t, "edits") {
			fact := codex.Fact{Text: rapid.SampledFrom([]string{
				"She sails.", "SHE  sails.", "She is é.",
				"She is e\u0301.",
			}).Draw(t, "text")}
			if rapid.Bool().Draw(t, "claimed") {
				fact.Kind, fact.Speaker = annotator.Claimed,
					rapid.SampledFrom([]string{"Mik", "mik", "Ann"}).Draw(t, "speaker")
			}
			if got, want := index.Known(fact), known(&e, fact); got != want {
				t.Fatalf("%+v is fact %d of %+v, want %d", fact, got, e.Claims, want)
			}
			edit := codex.Edit{Facts: []codex.Fact{fact}, Index: index}
			if id := index.Known(fact); id != 0 && rapid.Bool().Draw(t, "close") {
				edit = codex.Edit{Close: []codex.Closing{{Fact: id}}, At: 1}
			}
			revisions, err := codex.Revise(&e, edit)
			if err != nil {
				t.Fatal(err)
			}
			for i := range revisions {
				if err := codex.Apply(&e, &revisions[i]); err != nil {
					t.Fatal(err)
				}
				index.Apply(&revisions[i])
			}
		}
	})
}

// TestConfirmedByAFact: a guess or a saying is confirmed by a newer fact that is no guess and says something of it. A
// guess that replaces another one is a better wording of it. A state may be over by what another entry tells.
func TestConfirmedByAFact(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		closing codex.Closing
		want    annotator.Ending // empty: refused
		code    string           // of the refusal
	}{
		{codex.Closing{Fact: 2, By: 3}, annotator.EndConfirmed, ""},
		{codex.Closing{Fact: 2, By: 5}, annotator.EndConfirmed, ""}, // told by somebody
		{codex.Closing{Fact: 2, By: 4}, annotator.EndReworded, ""},
		{codex.Closing{Fact: 2, By: 4, Ended: annotator.EndConfirmed}, annotator.EndReworded, ""},
		{codex.Closing{Fact: 2, By: 4, Unrelated: true}, "", "UNSETTLED"},
		{codex.Closing{Fact: 5, By: 8, Ended: annotator.EndConfirmed}, "", "UNSETTLED"},
		{codex.Closing{Fact: 7, By: 3, Ended: annotator.EndConfirmed}, "", "UNSETTLED"},
		{codex.Closing{Fact: 5, By: 7, Ended: annotator.EndConfirmed}, annotator.EndConfirmed, ""},
		{codex.Closing{Fact: 2, By: 1}, "", "UNSETTLED"},
		{codex.Closing{Fact: 2, By: 1, Ended: annotator.EndRefuted}, annotator.EndRefuted, ""},
		{codex.Closing{Fact: 2, By: 3, Unrelated: true}, "", "UNSETTLED"},
		{codex.Closing{Fact: 2, By: 3, Unrelated: true, Ended: annotator.EndRefuted}, annotator.EndRefuted, ""},
		{codex.Closing{Fact: 2, Elsewhere: true}, annotator.EndConfirmed, ""},
		{codex.Closing{Fact: 6, Elsewhere: true}, annotator.EndOver, ""},
		{codex.Closing{Fact: 6, Elsewhere: true, Ended: annotator.EndWrong}, "", "ENDING"},
		{codex.Closing{Fact: 3, Elsewhere: true}, "", "ENDING"},
	} {
		e := &annotator.Entry{ID: 1, Term: "Mira", Status: annotator.Confirmed, Claimed: 8}
		for i, kind := range []annotator.ClaimKind{
			annotator.Narrated, annotator.Inferred, annotator.Narrated, annotator.Inferred, annotator.Claimed,
			annotator.Narrated, annotator.Claimed, annotator.Inferred,
		} {
			e.Claims = append(e.Claims, annotator.Claim{
				ID: int64(i + 1), Ord: i, Text: "She is.", Kind: kind, State: i == 5, From: annotator.PlaceAt(1, 0),
			})
		}
		revisions, err := codex.Revise(e, codex.Edit{
			Actor: annotator.ActorModel, At: annotator.PlaceAt(2, 0), Close: []codex.Closing{test.closing},
		})
		var refusal *codex.Refusal
		if test.want == "" {
			if !errors.As(err, &refusal) || refusal.Code != test.code {
				t.Errorf("%+v: %v, %+v", test.closing, err, revisions)
			}
			continue
		}
		if err != nil || codex.Apply(e, &revisions[0]) != nil || e.Claims[test.closing.Fact-1].Ended != test.want {
			t.Errorf("%+v: %v, %+v", test.closing, err, e.Claims)
		}
	}
}
