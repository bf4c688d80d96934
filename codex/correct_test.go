package codex_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
)

// like ignores what a claim that took another one's place has of its own.
var like = cmpopts.IgnoreFields(annotator.Claim{}, "ID", "Ord", "Revision", "Evidence")

// told returns facts of all sorts: by their numbers, in the entry that entryOf makes of them.
func told() codex.Edit {
	return codex.Edit{
		Name: new("Dawn"), At: annotator.PlaceAt(3, 1), Facts: []codex.Fact{
			{Text: "Dawn is a ship.", Identity: true, Quotes: quoted(5, "the ship Dawn")},
			{
				Text: "Mik wrote that she sank.", Speaker: "Mik", Document: "the letter", Earlier: true,
				Quotes: quoted(6, "she sank"),
			},
			{Text: "She is at the quay.", State: true, Relation: "is at", Object: "the quay"},
		},
	}
}

func TestReword(t *testing.T) {
	t.Parallel()
	for id := int64(1); id <= 3; id++ {
		e := entryOf(t, 1, told())
		old := e.Claims[id-1]
		revisions, err := codex.Reword(e, id, " It is said\notherwise. ", annotator.ActorModel, annotator.PlaceAt(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		for i := range revisions {
			if !codex.Follows(e, &revisions[i]) {
				t.Errorf("%+v does not follow", revisions[i])
			}
			applyAll(t, revisions[i:i+1], e)
		}
		want := old
		want.Text = "It is said otherwise."
		now := e.Claims[slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == 4 })]
		diff := cmp.Diff(want, now, like)
		if diff != "" || now.Ord != old.Ord || len(now.Evidence) != len(old.Evidence) {
			t.Errorf("fact %d: %+v\n%s", id, now, diff)
		}
		was := e.Claims[slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == id })]
		if was.Text != old.Text || was.Ended != annotator.EndReworded || was.ReplacedBy != 4 || was.Until != old.From {
			t.Errorf("fact %d was %+v", id, was)
		}
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	for id := int64(1); id <= 3; id++ {
		source := entryOf(t, 1, told())
		target := entryOf(t, 2, codex.Edit{Name: new("Dusk"), Facts: factsOf("It is late.")})
		old := source.Claims[id-1]
		revisions, err := codex.Move(source, target, id, annotator.ActorModel, annotator.PlaceAt(7, 2))
		if err != nil {
			t.Fatal(err)
		}
		applyAll(t, revisions, source, target)
		now := target.Claims[1]
		if diff := cmp.Diff(old, now, like); diff != "" || now.ID != 2 || len(now.Evidence) != len(old.Evidence) {
			t.Errorf("fact %d: %+v\n%s", id, now, diff)
		}
		was := source.Claims[id-1]
		if was.Ended != annotator.EndMoved || was.MovedTo != 2 || was.Until != annotator.PlaceAt(7, 2) ||
			was.ReplacedBy != 0 {
			t.Errorf("fact %d was %+v", id, was)
		}
	}
}

// TestRelationsOfMovedFacts: a relation stays with its fact, but is none of an entry to itself. A dropped entry's
// relations are not those of the entry that gets its facts.
func TestRelationsOfMovedFacts(t *testing.T) {
	t.Parallel()
	tied := codex.Edit{Name: new("Dawn"), Facts: []codex.Fact{
		{Text: "Dawn lies at the quay.", Relation: "lies at", Object: "the quay"},
		{Text: "Mik owns Dawn.", Relation: "owned by", Object: "Mik"},
	}}
	for test, want := range map[string][]string{"move": {"lies at the quay", ""}, "drop": {"", ""}} {
		source := entryOf(t, 1, tied)
		target := entryOf(t, 2, codex.Edit{Name: new("Mik Ferrow"), Aliases: []string{"Mik"}})
		at := annotator.PlaceAt(7, 2)
		if test == "drop" {
			revisions, err := codex.Drop(source, target, []int64{1, 2}, "a part", annotator.ActorCurator, at)
			if err != nil {
				t.Fatal(err)
			}
			applyAll(t, revisions, source, target)
		} else {
			for id := int64(1); id <= 2; id++ {
				revisions, err := codex.Move(source, target, id, annotator.ActorModel, at)
				if err != nil {
					t.Fatal(err)
				}
				applyAll(t, revisions, source, target)
			}
		}
		var got []string
		for i := range target.Claims {
			got = append(got, codex.RelationWords(&target.Claims[i]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test, diff)
		}
	}
}

// TestMoveToOneThatHasIt: the entry keeps its claim, and gets the evidence.
func TestMoveToOneThatHasIt(t *testing.T) {
	t.Parallel()
	source := entryOf(t, 1, told())
	target := entryOf(t, 2, codex.Edit{Name: new("Dusk"), Facts: factsOf("Dawn is a SHIP.")})
	revisions, err := codex.Move(source, target, 1, annotator.ActorModel, annotator.PlaceAt(7, 2))
	if err != nil {
		t.Fatal(err)
	}
	applyAll(t, revisions, source, target)
	if len(target.Claims) != 1 || len(target.Claims[0].Evidence) != 1 || source.Claims[0].MovedTo != 2 {
		t.Errorf("%+v, %+v", source.Claims, target.Claims)
	}
}

func TestCorrectionsAreRefused(t *testing.T) {
	t.Parallel()
	plain := func(id int64) *annotator.Entry { return entryOf(t, id, told()) }
	locked, gone, full := plain(2), plain(2), entryOf(t, 2, codex.Edit{Name: new("Dusk")})
	locked.Locked, gone.Status = true, annotator.Retired
	for len(full.Definition()) < codex.MaxFacts-20 {
		n := min(codex.MaxFact, codex.MaxFacts-20-len(full.Definition()))
		long := annotator.Claim{ID: int64(len(full.Claims) + 1), Text: strings.Repeat("a", n)}
		full.Claims = append(full.Claims, long)
	}
	reword := func(e *annotator.Entry, fact int64, text string) error {
		_, err := codex.Reword(e, fact, text, annotator.ActorModel, annotator.PlaceAt(9, 0))
		return err
	}
	move := func(source, target *annotator.Entry, fact int64) error {
		_, err := codex.Move(source, target, fact, annotator.ActorModel, annotator.PlaceAt(9, 0))
		return err
	}
	for name, test := range map[string]struct {
		err  error
		code string
	}{
		"no such fact":                  {reword(plain(1), 9, "A word."), "NOT_FOUND"},
		"no words":                      {reword(plain(1), 1, " … "), "EMPTY"},
		"the same words":                {reword(plain(1), 1, "Dawn  is a ship."), "SAME"},
		"words of another fact":         {reword(plain(1), 1, "she is at the QUAY."), "SAME"},
		"too long a wording":            {reword(plain(1), 1, strings.Repeat("a", codex.MaxFact+1)), "TOO_LONG"},
		"too long with the others":      {reword(full, 1, strings.Repeat("b", codex.MaxFact)+"."), "TOO_LONG"},
		"a locked entry":                {reword(locked, 1, "A word."), "LOCKED"},
		"a retired entry":               {reword(gone, 1, "A word."), "RETIRED"},
		"to where it is":                {move(plain(1), plain(1), 1), "SAME"},
		"no such fact to move":          {move(plain(1), plain(2), 9), "NOT_FOUND"},
		"to a locked entry":             {move(plain(1), locked, 1), "LOCKED"},
		"out of a locked entry":         {move(locked, plain(1), 1), "LOCKED"},
		"to a retired entry":            {move(plain(1), gone, 1), "RETIRED"},
		"to one that would be too long": {move(plain(1), full, 2), "TOO_LONG"},
	} {
		if code(test.err) != test.code {
			t.Errorf("%s: %v, want %s", name, test.err, test.code)
		}
	}
}

// TestCorrectionsKeepWhatWasSaid: after any corrections every text and quotation is still there. Each open claim was
// told, reworded or moved.
func TestCorrectionsKeepWhatWasSaid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := []*annotator.Entry{entryOf(t, 1, told()), entryOf(t, 2, codex.Edit{Name: new("Dusk")})}
		open := 3
		for range rapid.IntRange(1, 8).Draw(t, "corrections") {
			from := rapid.IntRange(0, 1).Draw(t, "from")
			fact := rapid.Int64Range(1, 6).Draw(t, "fact")
			text := rapid.SampledFrom([]string{"It is a barque.", "It is grey.", "It sank."}).Draw(t, "text")
			place := annotator.PlaceAt(annotator.Order(rapid.IntRange(1, 9).Draw(t, "scene")), 0)
			revisions, err := codex.Reword(entries[from], fact, text, annotator.ActorModel, place)
			if rapid.Bool().Draw(t, "move") {
				revisions, err = codex.Move(entries[from], entries[1-from], fact, annotator.ActorModel, place)
			}
			if err != nil {
				continue
			}
			isNew := func(r annotator.Revision) bool { return r.Field == annotator.FieldClaim && r.Old == "" }
			if !slices.ContainsFunc(revisions, isNew) { // the other one has it
				open--
			}
			applyAll(t, revisions, entries...)
		}
		held, quotes := 0, map[string]bool{}
		for _, e := range entries {
			for _, c := range e.Claims {
				if c.Until == 0 {
					held++
					for _, v := range c.Evidence {
						quotes[v.Quote] = true
					}
				} else if c.Settled() == (c.ReplacedBy == 0 && c.MovedTo == 0) {
					t.Fatalf("%+v ended, and nothing has its place", c)
				}
			}
		}
		if held != open || len(quotes) != 2 {
			t.Fatalf("%d claims hold, %d should; quotations %v", held, open, quotes)
		}
	})
}

// TestDrop: the other entry gets the facts that are named, with their quotations, and none says who or what it is. The
// dropped one keeps the others, and its name is free.
func TestDrop(t *testing.T) {
	t.Parallel()
	source := entryOf(t, 1, told())
	target := entryOf(t, 2, codex.Edit{Name: new("Dusk"), Facts: factsOf("It is late.")})
	at := annotator.PlaceAt(7, 2)
	revisions, err := codex.Drop(source, target, []int64{1, 2}, "So.", annotator.ActorCurator, at)
	if err != nil {
		t.Fatal(err)
	}
	applyAll(t, revisions, source, target)
	if len(target.Claims) != 3 || target.Claims[1].Identity || len(target.Claims[1].Evidence) != 1 ||
		source.Status != annotator.Retired || source.Claims[0].MovedTo != 2 || source.Claims[2].Until != 0 {
		t.Errorf("%+v, %+v", source, target)
	}
	for _, e := range []*annotator.Entry{source, target} { // that one is retired, and this one is the same
		if _, err := codex.Drop(e, target, nil, "So.", annotator.ActorCurator, at); err == nil {
			t.Errorf("entry %d was dropped", e.ID)
		}
	}
}
