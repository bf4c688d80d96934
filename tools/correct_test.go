package tools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/tools"
)

// claim returns a claim of an entry.
func (w *world) claim(entry, id int64) annotator.Claim {
	w.t.Helper()
	claims := w.glossary.entries[entry-1].Claims
	at := slices.IndexFunc(claims, func(c annotator.Claim) bool { return c.ID == id })
	if at < 0 {
		w.t.Fatalf("entry %d has no claim %d: %+v", entry, id, claims)
	}
	return claims[at]
}

// threeFacts is an entry with a guess, a state and a saying.
func threeFacts(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.do("glossary_create", `{"term":"Dawn","tags":[],"facts":[{"text":"Dawn seems to be a ship.","kind":"inferred"},
		{"text":"Dawn is grey.","state":true},{"text":"Ann said that Mik stole her.","speaker":"Ann"}]}`)
	return w
}

// TestClosingsByNumber: by is a fact of the call, by_known one of the entry, and a number that can only be one of the
// entry is that.
func TestClosingsByNumber(t *testing.T) {
	t.Parallel()
	const two = `"facts":[{"text":"Dawn is a ship."},{"text":"Dawn is black."}],`
	for _, test := range []struct {
		arguments string
		fact, by  int64 // by -1: refused
		ended     annotator.Ending
		why       string
	}{
		{two + `"close":[{"fact":1,"by":1}]`, 1, 4, annotator.EndConfirmed, ""},
		{two + `"close":[{"fact":2,"by":2}]`, 2, 5, annotator.EndOver, ""},
		{two + `"close":[{"fact":1,"by":2,"ended":"refuted"}]`, 1, 5, annotator.EndRefuted, ""},
		{two + `"close":[{"fact":1,"by_known":2}]`, 1, 2, annotator.EndConfirmed, ""},
		{two + `"close":[{"fact":1,"by_known":"2","ended":""}]`, 1, 2, annotator.EndConfirmed, ""},
		{two + `"close":[{"fact":1,"by":0,"by_known":2}]`, 1, 2, annotator.EndConfirmed, ""},
		{two + `"close":[{"fact":1,"by":3}]`, 1, 3, annotator.EndConfirmed, ""},
		{`"close":[{"fact":1,"by":2}]`, 1, 2, annotator.EndConfirmed, ""},
		{`"close":[{"fact":2,"ended":"wrong"}]`, 2, 0, annotator.EndWrong, ""},
		{two + `"close":[{"fact":1,"by":7}]`, 1, -1, "", "by_known"},
		{two + `"close":[{"fact":1,"by_known":7}]`, 1, -1, "", "by_known"},
		{two + `"close":[{"fact":1,"ended":"confirmed"}]`, 1, -1, "", "name the fact"},
		{`"facts":[{"text":"Dawn was red once.","earlier":true}],"close":[{"fact":2,"by":1}]`, 2, -1, "", "earlier"},
		{`"facts":[{"text":"Dawn was a ship.","earlier":true}],"close":[{"fact":1,"by":1}]`, 1, 4, annotator.EndConfirmed, ""},
	} {
		w := threeFacts(t)
		result, a := w.run("glossary_update", `{"entry_id":1,`+test.arguments+`}`)
		c := w.claim(1, test.fact)
		if test.by < 0 {
			if c.Until != 0 || !strings.Contains(result.Content, test.why) {
				t.Errorf("%s: %+v\n%s", test.arguments, c, result.Content)
			}
			continue
		}
		if c.Until == 0 || c.ReplacedBy != test.by || c.Ended != test.ended || a.NotTaken != nil {
			t.Errorf("%s: %+v\n%s", test.arguments, c, result.Content)
		}
	}
	w := threeFacts(t)
	w.refused("INVALID_ARGUMENTS", "glossary_update", `{"entry_id":1,"close":[{"fact":1,"ended":"reworded"}]}`)
}

// TestFactsSayMore: identity, document, time and relation of a fact are kept, in a call and in a block.
func TestFactsSayMore(t *testing.T) {
	t.Parallel()
	const facts = `"facts":[{"text":"Dawn is a ship.","identity":true},
		{"text":"Ann wrote that Mik stole her.","speaker":"Ann","document":"the burnt letter"},
		{"text":"Long ago she was red.","earlier":true,"state":true},
		{"text":"She is Mik's.","relation":"owned by","object":1},{"text":"She lies at [[the quay]].","relation":"lies at"}]`
	called, written := newWorld(t), newWorld(t)
	for _, w := range []*world{called, written} {
		w.do("glossary_create", `{"term":"Mik (thief)","tags":[],"facts":[{"text":"Mik steals."}]}`)
	}
	called.do("glossary_create", `{"term":"Dawn","tags":[],`+facts+`}`)
	calls, err := written.registry.ParseUpdates([]string{`[{"term":"Dawn","status":"new",` + facts + `}]`})
	if err != nil || len(calls) != 1 {
		t.Fatal(calls, err)
	}
	written.update(calls[0])
	for _, w := range []*world{called, written} {
		if c := w.claim(2, 1); !c.Identity || c.Earlier || c.Document != "" {
			t.Errorf("%+v", c)
		}
		if c := w.claim(2, 2); c.Kind != annotator.Claimed || c.Speaker != "Ann" || c.Document != "the burnt letter" {
			t.Errorf("%+v", c)
		}
		if c := w.claim(2, 3); !c.Earlier || c.State || c.Relation != "" {
			t.Errorf("%+v", c)
		}
		if c := w.claim(2, 4); c.Relation != "owned by" || c.Object != "Mik (thief)" {
			t.Errorf("%+v", c)
		}
		if c := w.claim(2, 5); c.Relation != "lies at" || c.Object != "the quay" {
			t.Errorf("%+v", c)
		}
	}
}

// TestConfirmedByAnotherEntry: a guess is confirmed by another entry that has a narrated fact, and only a guess.
func TestConfirmedByAnotherEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", `{"term":"Dawn","tags":[],"facts":[{"text":"She is perhaps Mik's.","kind":"inferred"},{"text":"She sails."}]}`)
	w.do("glossary_create", `{"term":"Mik","tags":[],"facts":[{"text":"Mik owns the Dawn."}]}`)
	w.do("glossary_create", `{"term":"Ann","tags":[],"facts":[{"text":"Ann saw it.","speaker":"Bob"}]}`)
	for code, closing := range map[string]string{
		"ENDING":    `{"fact":1,"ended":"confirmed"},{"fact":2,"by_entry":2,"ended":"confirmed"},{"fact":1,"by_entry":2,"ended":"refuted"}`,
		"NOT_FOUND": `{"fact":1,"by_entry":1},{"fact":1,"by_entry":3},{"fact":1,"by_entry":"Nobody"}`,
	} {
		w.refused(code, "glossary_update", `{"entry_id":1,"close":[`+closing+`]}`)
	}
	w.do("glossary_update", `{"entry_id":1,"close":[{"fact":1,"by_entry":"Mik"}]}`)
	if c := w.claim(1, 1); c.Ended != annotator.EndConfirmed || c.ReplacedBy != 0 {
		t.Errorf("%+v", c)
	}
}

// TestEndedByAFactThatSaysSo: a guess is confirmed, and a state ends by another entry, only by a fact that says something
// of it and is not told before it.
func TestEndedByAFactThatSaysSo(t *testing.T) {
	t.Parallel()
	w := threeFacts(t)
	w.do("glossary_create", `{"term":"Mik","tags":[],"facts":["Mik is a smith.",
		{"text":"Dawn was black before.","earlier":true},{"text":"Mik perhaps painted it.","kind":"inferred"}]}`)
	w.env.Settles = func(
		_ context.Context, _ *annotator.Entry, claim *annotator.Claim, _ *annotator.Entry, fact *annotator.Claim,
	) (bool, error) {
		return strings.Contains(fact.Text, map[int64]string{1: "ship", 2: "black"}[claim.ID]), nil
	}
	for _, closing := range []string{
		`{"fact":1,"by_known":2,"ended":"confirmed"}`, `{"fact":1,"by_entry":2}`, `{"fact":2,"by_entry":2}`,
	} {
		w.refused("UNSETTLED", "glossary_update", `{"entry_id":1,"close":[`+closing+`]}`)
	}
	w.do("glossary_update", `{"entry_id":2,"facts":["Mik owns a ship.","Mik has painted the Dawn black."]}`)
	var told *annotator.Claim
	w.env.CheckEdit = func(_ context.Context, edit *tools.CheckedEdit) error {
		told = edit.Told
		return nil
	}
	for fact, want := range map[int64]struct {
		ended annotator.Ending
		told  int64
	}{1: {annotator.EndConfirmed, 4}, 2: {annotator.EndOver, 5}} {
		w.do("glossary_update", fmt.Sprintf(`{"entry_id":1,"close":[{"fact":%d,"by_entry":"Mik"}]}`, fact))
		if c := w.claim(1, fact); c.Ended != want.ended || c.ReplacedBy != 0 || told == nil || told.ID != want.told {
			t.Errorf("%+v by %+v", c, told)
		}
	}
	w.do("glossary_update", `{"entry_id":1,"close":[3]}`)
	if told != nil {
		t.Errorf("a later part of the call ends by %+v", told)
	}
	for _, closing := range []string{`{"fact":1,"by_known":4}`, `{"fact":1,"by_entry":"Mik"}`} {
		w := threeFacts(t)
		w.do("glossary_create", `{"term":"Mik","tags":[],"facts":["Mik is a smith."]}`)
		w.do("glossary_update", `{"entry_id":1,"facts":["Dawn is a ship."]}`)
		w.env.Settles = func(
			context.Context, *annotator.Entry, *annotator.Claim, *annotator.Entry, *annotator.Claim,
		) (bool, error) {
			return false, errors.New("broken")
		}
		call := annotator.ToolCall{Name: "glossary_update", Arguments: `{"entry_id":1,"close":[` + closing + `]}`}
		if _, err := w.registry.Run(t.Context(), w.env, w.registry.Parse(call)); err == nil {
			t.Error("the program's own failure is none of the model's")
		}
	}
}

// TestCorrections: facts are reworded and moved, in a call and in a block, and nothing is done that is refused.
func TestCorrections(t *testing.T) {
	t.Parallel()
	const corrections = `"reword":[{"fact":2,"text":"Dawn is a grey ship."},{"fact":9,"text":"No."},{"fact":1,"text":"…"}],
		"move":[{"fact":3,"to":"Mik"},{"fact":1,"to":2},{"fact":1,"to":"Nobody"},{"fact":2,"to":2}]`
	for _, written := range []bool{false, true} {
		w := threeFacts(t)
		w.do("glossary_create", `{"term":"Mik","tags":[],"facts":[{"text":"Mik is a smith."}]}`)
		var result tools.Result
		if written {
			calls, err := w.registry.ParseUpdates([]string{`[{"term":"Dawn","status":"update",` + corrections + `}]`})
			if err != nil {
				t.Fatal(err)
			}
			result = w.update(calls[0])
		} else {
			result, _ = w.run("glossary_update", `{"entry_id":1,`+corrections+`}`)
		}
		if c := w.claim(1, 2); c.Ended != annotator.EndReworded || c.ReplacedBy != 4 {
			t.Errorf("%+v", c)
		}
		if c := w.claim(1, 4); c.Text != "Dawn is a grey ship." || !c.State {
			t.Errorf("%+v", c)
		}
		for from, to := range map[int64]int64{3: 2, 1: 3} {
			old, now := w.claim(1, from), w.claim(2, to)
			if old.Ended != annotator.EndMoved || old.MovedTo != 2 || now.Text != old.Text || now.Speaker != old.Speaker ||
				now.Until != 0 {
				t.Errorf("%+v\n%+v", old, now)
			}
		}
		if !slices.Equal(result.Changed, []int64{2, 1}) {
			t.Errorf("changed %v", result.Changed)
		}
		for _, part := range []string{
			`"added":[4]`, `"2, now 4: `, `{"reword":9,"code":"NOT_FOUND"`, `{"reword":1,"code":"EMPTY"`, `{"move":1,"code":"NOT_FOUND"`,
			`{"move":2,"code":"NOT_FOUND"`,
		} {
			if !strings.Contains(result.Content, part) {
				t.Errorf("%s is not in %s", part, result.Content)
			}
		}
	}
}

// TestCorrectionsThatFail: a call of which nothing is taken changes no entry, the other one neither.
func TestCorrectionsThatFail(t *testing.T) {
	t.Parallel()
	w := threeFacts(t)
	w.do("glossary_create", `{"term":"Mik","tags":[],"facts":[{"text":"Mik is a smith."}]}`)
	w.refused("NOT_FOUND", "glossary_update", `{"entry_id":1,"move":[{"fact":9,"to":2}]}`)
	w.refused("SAME", "glossary_update", `{"entry_id":1,"move":[{"fact":1,"to":1}]}`)
	w.refused("SAME", "glossary_update", `{"entry_id":1,"reword":[{"fact":2,"text":"Dawn is grey."}]}`)
	w.env.CheckEdit = func(_ context.Context, edit *tools.CheckedEdit) error {
		if codex.Destructive(edit.Revisions) {
			return &tools.Failure{Code: tools.NotMentioned}
		}
		return nil
	}
	w.refused("NOT_MENTIONED", "glossary_update", `{"entry_id":1,"move":[{"fact":1,"to":2}]}`)
	w.refused("NOT_MENTIONED", "glossary_update", `{"entry_id":1,"reword":[{"fact":1,"text":"Dawn is a ship."}]}`)
	w.env.CheckEdit = nil
	w.glossary.entries[1].Locked = true
	w.refused("LOCKED", "glossary_update", `{"entry_id":1,"move":[{"fact":1,"to":2}]}`)
	many := strings.Repeat(`{"fact":9,"to":2},`, 300)
	a := w.refused("TOO_LONG", "glossary_update", fmt.Sprintf(`{"entry_id":1,"move":[%s]}`, strings.TrimSuffix(many, ",")))
	if a.Error.Message == "" {
		t.Error("no reason")
	}
	w.glossary.broken = errors.New("broken")
	call := annotator.ToolCall{Name: "glossary_update", Arguments: `{"entry_id":1,"move":[{"fact":1,"to":2}]}`}
	if _, err := w.registry.Run(t.Context(), w.env, w.registry.Parse(call)); err == nil {
		t.Error("the program's own failure is none of the model's")
	}
}

// TestRelationsAreAdded: reword gives a fact a relation that it lacks, with a new wording or without. One that it has
// stays.
func TestRelationsAreAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", `{"term":"Mik","tags":[],"facts":[{"text":"Mik sails for [[Ann]]."},{"text":"He has a boat."}]}`)
	w.do("glossary_create", `{"term":"Dawn","tags":[],"facts":[{"text":"She is a boat."}]}`)
	w.do("glossary_update", `{"entry_id":1,"reword":[{"fact":1,"relation":"serves"},`+
		`{"fact":2,"text":"Mik has a boat.","relation":"owner of","object":2}]}`)
	serves, owns := w.claim(1, 1), w.claim(1, 3)
	if codex.RelationWords(&serves) != "serves Ann" || serves.Until != 0 || codex.RelationWords(&owns) != "owner of Dawn" {
		t.Errorf("%+v, %+v", serves, owns)
	}
	w.do("glossary_update", `{"entry_id":1,"reword":[{"fact":1,"relation":"serves"}]}`)
	for _, test := range []struct{ code, reword string }{
		{"SAME", `{"fact":1,"relation":"fears"}`},
		{"NOT_FOUND", `{"fact":2,"relation":"owner of","object":"Dawn"}`}, // it was reworded
		{"EMPTY", `{"fact":3,"relation":"…"}`},
		{"TOO_LONG", `{"fact":3,"relation":"` + strings.Repeat("long ", codex.MaxName) + `"}`},
	} {
		w.refused(test.code, "glossary_update", `{"entry_id":1,"reword":[`+test.reword+`]}`)
	}
}
