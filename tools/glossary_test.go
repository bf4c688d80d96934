package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/codex"
	"annotator/internal/longtest"
	"annotator/tools"
)

const createDawn = `{"term":"Dawn","definition":"Dawn is a ship. She sails at night.","tags":["Ship","item","ship "],` +
	`"aliases":["the Dawn","The  dawn","Dawn"]}`

func TestCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	result, a := w.run("glossary_create", createDawn)
	if diff := cmp.Diff(entry{ID: 1, Term: "Dawn"}, a.Entry); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{1, 2}, a.Added); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]annotator.Shown{{Entry: 1, Revision: 7}}, result.Shows); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{1}, result.Changed); diff != "" {
		t.Error(diff)
	}
	if got := w.glossary.entries[0]; got.Definition() != "Dawn is a ship. She sails at night." ||
		!slices.Equal(got.Tags, []string{"item", "ship"}) {
		t.Errorf("%+v", got)
	}
	if got := w.glossary.entries[0]; got.First != w.env.Scene.End() || got.Claims[0].Kind != annotator.Narrated {
		t.Errorf("%+v", got)
	}
}

// TestQuotedIsSaid: the answer says which facts that were known got a quotation.
func TestQuotedIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", `{"term":"Dawn","facts":[{"text":"She sails at night."},{"text":"She is grey."}],"tags":[]}`)
	const again = `{"entry_id":1,"facts":[{"text":"She sails at night.","quote":"She sails at night."},{"text":"She is grey."}]}`
	for _, want := range []string{`"known":[1,2],"quoted":[1]}`, `"known":[1,2]}`} {
		if result, _ := w.run("glossary_update", again); !strings.HasSuffix(result.Content, want) {
			t.Errorf("%s does not end with %s", result.Content, want)
		}
	}
}

// The model reads the answers as text: their form is stable, and a change of it shows here.
func TestAnswerForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct{ tool, arguments, want string }{
		{
			"glossary_create", `{"term":"Vys & <Sons>","definition":"A firm.","tags":[]}`,
			`{"ok":true,"entry":{"id":1,"term":"Vys & <Sons>"},"added":[1]}`,
		},
		{
			"glossary_create",
			`{"term":"Ann","facts":[{"text":"Ann saw it.","quote":"said Bob"},{"text":"Ann is old.","speaker":"Mik","state":true}],"tags":[]}`,
			`{"ok":true,"entry":{"id":2,"term":"Ann"},"added":[1,2],"not_taken":[{"quote":1,"code":"QUOTE_NOT_FOUND","why":"no post of this scene holds the quote"}]}`,
		},
		{
			"glossary_update",
			`{"entry_id":2,"facts":[{"text":"ann saw it."},{"text":"Ann is dead."}],"close":[{"fact":2,"by":2},{"fact":9}]}`,
			`{"ok":true,"entry":{"id":2,"term":"Ann"},"added":[3],"known":[1],"closed":["2: Ann is old."],"not_taken":[{"close":9,"code":"NOT_FOUND","why":"entry 2 has no fact 9 that holds"}]}`,
		},
		{
			"glossary_update",
			`{"entry_id":2,"aliases":["Annie"],"drop_aliases":["ann","Bob"],"close":[1],"facts":[{"text":"Ann saw it all from the window of the tower, they say."}]}`,
			`{"ok":true,"entry":{"id":2,"term":"Ann"},"added":[4],"closed":["1: Ann saw it."],"not_taken":[{"alias":"ann","code":"SAME","why":"\"ann\" is the term of entry 2; give it another one first"},` +
				`{"alias":"Bob","code":"NOT_FOUND","why":"entry 2 has no name \"Bob\""}]}`,
		},
		{
			"glossary_update", `{"entry_id":2,"drop_aliases":["ANNIE"],"close":[4]}`,
			`{"ok":true,"entry":{"id":2,"term":"Ann"},"closed":["4: Ann saw it all from the window of the…"]}`,
		},
		{
			"glossary_search", `{"query":"firm"}`,
			`{"ok":true,"count":1,"entries":[{"id":1,"term":"Vys & <Sons>","status":"tentative","tags":[],"aliases":[],"facts":["1: A firm."]}]}`,
		},
		{"glossary_search", `{"query":"nothing"}`, `{"ok":true,"count":0,"entries":[]}`},
		{
			"read_post", `{"post_id":11}`,
			`{"ok":true,"posts":[{"id":11,"thread":1,"author":"Reader","subject":"","body":"Go on!","story":false}]}`,
		},
		{
			"glossary_update", `{"entry_id":9,"tags":[]}`,
			`{"ok":false,"error":{"code":"NOT_FOUND","message":"there is no entry 9; glossary_search tells the ids"}}`,
		},
	} {
		if result, _ := w.run(test.tool, test.arguments); result.Content != test.want {
			t.Errorf("%s(%s) answers\n%s\nwant\n%s", test.tool, test.arguments, result.Content, test.want)
		}
	}
}

func TestCreateGroundsTheQuote(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		quote, post string
		evidence    annotator.Evidence
		at          annotator.Place
	}{
		{`the dawn's a grey`, ``, annotator.Evidence{}, 0},
		// of another post
		{`a grey ship`, `,"post_id":31`, annotator.Evidence{
			Claim: 1, Post: 30, Start: 11, End: 22,
			Quote: "a grey ship",
		}, annotator.PlaceAt(3, 0)},
		{`The Dawn's … sails`, ``, annotator.Evidence{
			Claim: 1, Post: 30, End: 33,
			Quote: "The Dawn’s a grey ship.\nShe sails",
		}, annotator.PlaceAt(3, 0)},
		{`Dawn's a grey ship.`, ``, annotator.Evidence{
			Claim: 1, Post: 30, Start: 4, End: 23,
			Quote: "Dawn’s a grey ship.",
		}, annotator.PlaceAt(3, 0)},
		{
			`\"Mik stole her,\"`, `,"post_id":31`,
			annotator.Evidence{Claim: 1, Post: 31, End: 16, Quote: "“Mik stole her,”"},
			annotator.PlaceAt(3, 1),
		},
		{
			`Mik the smith`, `,"post_id":"10"`,
			annotator.Evidence{Claim: 1, Post: 10, End: 13, Quote: "Mik the smith"},
			annotator.PlaceAt(3, 1),
		},
	} {
		w := newWorld(t)
		arguments := fmt.Sprintf(`{"term":"Dawn","definition":"A ship.","tags":[],"kind":"claimed","quote":"%s"%s}`,
			test.quote, test.post)
		a := w.do("glossary_create", arguments)
		e := w.glossary.entries[0]
		if test.at == 0 {
			if len(a.NotTaken) != 1 || a.NotTaken[0].Code != "QUOTE_NOT_FOUND" || e.Claims[0].Evidence != nil {
				t.Errorf("%s: %+v", test.quote, a.NotTaken)
			}
			continue
		}
		if diff := cmp.Diff([]annotator.Evidence{test.evidence}, e.Claims[0].Evidence); diff != "" {
			t.Errorf("%s: %s", test.quote, diff)
		}
		if e.First != test.at || e.Claims[0].From != test.at || e.Claims[0].Kind != annotator.Claimed {
			t.Errorf("%s: at %d, %+v", test.quote, e.First, e.Claims[0])
		}
	}
}

// TestQuotesThatFail: a quotation that is not there leaves its fact without evidence, and the answer says why.
func TestQuotesThatFail(t *testing.T) {
	t.Parallel()
	for given, says := range map[string]string{
		`"quote":"a green ship"`:              "no post of this scene",
		`"quote":"a green ship","post_id":30`: "no post of this scene",
		`"quote":"..."`:                       "no post",
		`"quote":"Ann burned","post_id":40`:   "not read yet",
		`"post_id":99`:                        "no post 99",
		`"post_id":-1`:                        "no post -1",
		`"quote":"e … s"`:                     "no post of this scene",
		`"quote":"rey ship"`:                  "whole words",
		`"quote":"ship"`:                      "whole words",
		`"quote":"Go on!","post_id":11`:       "post 11 is a reader's",
		// another is between them
		`"quote":"lives in Vys. The Dawn’s a grey ship","post_id":10`: "no post of this scene",
		`"quote":"` + strings.Repeat("é", codex.MaxQuote+1) + `"`:     "1001 characters",
		`"quote":"a green ship` + strings.Repeat(" x", 400) + `"`:     "no post",
	} {
		for _, form := range []string{
			`{"term":"Dawn","definition":"A ship.","tags":[],%s}`,
			`{"term":"Dawn","facts":[{"text":"A ship.",%s}],"tags":[]}`,
		} {
			w := newWorld(t)
			a := w.do("glossary_create", fmt.Sprintf(form, given))
			if len(a.NotTaken) != 1 || !strings.Contains(a.NotTaken[0].Why, says) ||
				a.NotTaken[0].Code != "QUOTE_NOT_FOUND" || a.NotTaken[0].Quote != 1 {
				t.Errorf("%.60s: %+v", given, a.NotTaken)
			}
			if claims := w.glossary.entries[0].Claims; len(claims) != 1 || claims[0].Evidence != nil ||
				claims[0].Text != "A ship." {
				t.Errorf("%.60s: %+v", given, claims)
			}
		}
	}
	w := newWorld(t)
	if a := w.do("glossary_create", `{"term":"Dawn","definition":"A ship.","tags":[],"quote":" "}`); a.NotTaken != nil {
		t.Error("a blank quote is none")
	}
}

// TestWeakQuotes: a quotation that lacks words of its fact is kept, marked, and named in the answer with the words.
func TestWeakQuotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var judged []string
	w.env.Support = func(_ context.Context, f *codex.Fact, e *annotator.Entry, posts []annotator.Post) (
		[]annotator.Evidence, []string, error,
	) {
		judged = append(judged, fmt.Sprintf("%s: %s %s %s", e.Name(), f.Text, f.Speaker, f.Quotes[0].Quote))
		if strings.Contains(f.Text, "ship") {
			return f.Quotes, nil, nil
		}
		return f.Quotes, []string{"old", "and", "new", "and", "red", "too"}, nil
	}
	facts := `"facts":[{"text":"A ship.","quote":"a grey ship"},{"text":"Ann's.","speaker":"Ann","quote":"a grey ship"},{"text":"Old.","quote":"a green ship"},{"text":"New."}]`
	if a := w.do("glossary_create", `{"term":"Dawn","tags":[],`+facts+`}`); fmt.Sprint(a.Weak, a.Added,
		len(a.NotTaken)) != "[{2 [old and new and red]}] [1 2 3 4] 1" {
		t.Errorf("%+v", a)
	}
	if want := []string{"Dawn: A ship.  a grey ship", "Dawn: Ann's. Ann a grey ship"}; !slices.Equal(judged, want) {
		t.Errorf("%q were judged", judged)
	}
	if a := w.do("glossary_update", `{"entry_id":1,`+facts+`}`); a.Weak != nil {
		t.Errorf("a quotation that is there is not added: %+v", a)
	}
	if a := w.do("glossary_update",
		`{"entry_id":1,"definition":"Old. New.","narrow":true,"quote":"Mik stole her"}`); len(a.Weak) != 1 ||
		a.Weak[0].Fact != 4 {
		t.Errorf("%+v", a)
	}
	marks := map[int64]bool{1: false, 2: true, 4: true}
	for _, c := range w.glossary.entries[0].Claims {
		if weak, quoted := marks[c.ID]; quoted != (len(c.Evidence) == 1) || quoted && c.Evidence[0].Weak != weak {
			t.Errorf("%+v", c)
		}
	}
	w.env.Support = func(context.Context, *codex.Fact, *annotator.Entry, []annotator.Post) (
		[]annotator.Evidence, []string, error,
	) {
		return nil, nil, errors.New("broken")
	}
	call := annotator.ToolCall{
		Name:      "glossary_update",
		Arguments: `{"entry_id":1,"facts":[{"text":"It is red.","quote":"Mik stole her"}]}`,
	}
	if _, err := w.registry.Run(t.Context(), w.env, w.registry.Parse(call)); err == nil {
		t.Error("the program's own failure is none of the model's")
	}
}

func TestDuplicate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ have, create, code string }{
		{"Dawn", "Dawn", "DUPLICATE"},
		{"Dawn", " dAWN\t", "DUPLICATE"},
		{"Dawn", "Da\u200bwn", "DUPLICATE"},
		{"Dawn", "Dawn (ship)", ""},
		{"Dawn (ship)", "Dawn", "DUPLICATE"},
		{"Dawn (ship)", "dawn (Ship)", "DUPLICATE"},
		{"Dawn (ship)", "Dawn (character)", ""},
		{"Dawn", "Dawns", ""},
		{"Aurora", "Grey Lady", "DUPLICATE"}, // the alias of every entry here
		{"Aurora (ship)", "Grey Lady (ghost)", ""},
		{"Aurora", "Grey Lady (ghost)", ""},
	} {
		w := newWorld(t)
		w.do("glossary_create", fmt.Sprintf(`{"term":%q,"definition":"One.","tags":[],"aliases":["Grey Lady"]}`,
			test.have))
		create := fmt.Sprintf(`{"term":%q,"definition":"Two.","tags":[]}`, test.create)
		if test.code == "" {
			w.do("glossary_create", create)
			continue
		}
		a := w.refused(test.code, "glossary_create", create)
		if a.Error.EntryID != 1 || a.Error.Entry == nil || !slices.Equal(a.Error.Entry.Facts, []string{"1: One."}) {
			t.Errorf("%s beside %s: %+v", test.create, test.have, a.Error)
		}
	}
}

// TestAnOfficeIsNotItsHolder: a further name of an entry may be the name of another one, if a fact of that links the
// entry by a name of its own. So it is of a new entry, and of one with a new name.
func TestAnOfficeIsNotItsHolder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ term, fact, code string }{
		{"Castellan", "The Castellan keeps the keep; [[Thesk]] is it.", ""},
		{"Castellan", "The Castellan keeps the keep.", "DUPLICATE"},
		{"Castellan", "The [[Castellan]] keeps the keep.", "DUPLICATE"},
		{"Castellan", "The Castellan keeps the keep of the [[Duke]].", "DUPLICATE"},
		{"Thesk", "House Thesk is that of [[Hadrian]].", "DUPLICATE"},
	} {
		w := newWorld(t)
		w.do("glossary_create",
			`{"term":"Thesk","tags":["person"],"facts":["He came."],"aliases":["Castellan","Hadrian"]}`)
		w.do("glossary_create", `{"term":"office","tags":["rank"],"facts":["It is old."]}`)
		create := fmt.Sprintf(`{"term":%q,"tags":["rank"],"facts":[%q]}`, test.term, test.fact)
		update := fmt.Sprintf(`{"entry_id":2,"term":%q,"facts":[%q]}`, test.term, test.fact)
		if test.code != "" {
			w.refused(test.code, "glossary_create", create)
			if _, a := w.run("glossary_update", update); len(a.NotTaken) != 1 || a.NotTaken[0].Code != test.code {
				t.Errorf("%s: %+v", update, a)
			}
			continue
		}
		w.do("glossary_update", update)
		found, err := w.env.Glossary.Named(t.Context(), test.term)
		if err != nil || len(found) != 1 || found[0].ID != 2 {
			t.Errorf("%s is %+v, %v", test.term, found, err)
		}
	}
}

func TestDuplicateShowsTheEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, _ := w.run("glossary_create", createDawn)
	again, a := w.run("glossary_create", createDawn)
	if diff := cmp.Diff(first.Shows, again.Shows); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(a.Error.Message, "in parentheses after its term") {
		t.Errorf("no word of a disambiguator: %s", a.Error.Message)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", createDawn)
	a := w.do("glossary_update",
		`{"entry_id":1,"term":"Dawn (ship)","status":"confirmed","tags":["vessel"],"aliases":["Grey Lady"],
		"definition":"Dawn is a ship. She sails at night. Mik stole her.","quote":"Mik stole her","kind":"claimed"}`)
	if diff := cmp.Diff(answer{
		OK: true, Entry: entry{ID: 1, Term: "Dawn (ship)"}, Added: []int64{3},
		Known: []int64{1, 2},
	}, a); diff != "" {
		t.Error(diff)
	}
	e := w.glossary.entries[0]
	if e.Definition() != "Dawn is a ship. She sails at night. Mik stole her." || e.Status != annotator.Confirmed ||
		!slices.Equal(e.Tags, []string{"vessel"}) ||
		len(e.Aliases) != 3 {
		t.Errorf("%+v", e)
	}
	claims := e.Claims
	if claims[0].Kind != annotator.Narrated || claims[2].Kind != annotator.Claimed || len(claims[2].Evidence) != 1 {
		t.Errorf("%+v", claims)
	}
	a = w.do("glossary_update",
		`{"entry_id":1,"definition":"Dawn is a wreck.","narrow":true,"close":[{"fact":1},{"fact":2},{"fact":3,"by":1}],"tags":[]}`)
	if e = w.glossary.entries[0]; e.Definition() != "Dawn is a wreck." || len(e.Tags) != 0 ||
		!slices.Equal(a.Closed, []string{"1: Dawn is a ship.", "2: She sails at night.", "3: Mik stole her."}) ||
		!slices.Equal(a.Added, []int64{4}) {
		t.Errorf("%+v: %+v", a, e)
	}
	result, _ := w.run("glossary_update", `{"entry_id":1,"term":"Dawn (ship)","definition":"Dawn is a wreck."}`)
	if result.Error != "" || result.Changed != nil {
		t.Errorf("nothing to change: %+v", result)
	}
}

// TestUpdateByName: an entry is named by its id, as a number or as text, or by one of its names.
func TestUpdateByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", createDawn)
	for n, ref := range []string{`1`, `"1"`, `"Dawn"`, `"the dawn"`} {
		arguments := fmt.Sprintf(`{"entry_id":%s,"facts":["It is sail %d."]}`, ref, n)
		if _, a := w.run("glossary_update", arguments); a.Entry.ID != 1 ||
			!slices.Equal(a.Added, []int64{int64(3 + n)}) {
			t.Errorf("%s: %+v", arguments, a)
		}
	}
	w.refused("NOT_FOUND", "glossary_update", `{"entry_id":"Dusk","facts":["It is night."]}`)
	w.do("glossary_create", `{"term":"Dusk (ship)","facts":["A ship."],"tags":[],"aliases":["wreck"]}`)
	w.do("glossary_update", `{"entry_id":1,"aliases":["Wreck"]}`)
	w.refused("AMBIGUOUS", "glossary_update", `{"entry_id":"wreck","facts":["It is night."]}`)
	w.refused("INVALID_ARGUMENTS", "glossary_update", `{"entry_id":["Dawn"],"facts":["It is night."]}`)
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", createDawn)
	w.do("glossary_create", `{"term":"Mik","definition":"A smith.","tags":[],"aliases":["the smith"]}`)
	w.do("glossary_create", `{"term":"Gone","definition":"A mistake.","tags":[]}`)
	w.do("glossary_delete", `{"entry_id":3,"reason":"a mistake"}`)
	w.glossary.entries = append(w.glossary.entries,
		&annotator.Entry{ID: 4, Term: "Own", Status: annotator.Confirmed, Locked: true})
	for _, test := range []struct{ code, arguments string }{
		{"UPDATE_FAILED", `{"entry_id":1}`},
		{"UPDATE_FAILED", `{"entry_id":1,"post_id":30,"kind":"inferred","narrow":true,"aliases":[]}`},
		{"NOT_FOUND", `{"entry_id":0,"tags":[]}`},
		{"NOT_FOUND", `{"entry_id":5,"tags":[]}`},
		{"DUPLICATE", `{"entry_id":1,"term":"mik"}`},
		{"DUPLICATE", `{"entry_id":1,"term":"The Smith"}`},
		{"UPDATE_FAILED", `{"entry_id":1,"definition":""}`},
		{"UPDATE_FAILED", `{"entry_id":1,"quote":"a green ship"}`},
		{"EMPTY", `{"entry_id":1,"term":"\u0000"}`},
		{"TOO_LONG", `{"entry_id":1,"definition":"` + strings.Repeat("a", codex.MaxFact+1) + `"}`},
		{"RETIRED", `{"entry_id":3,"tags":["x"]}`},
		{"LOCKED", `{"entry_id":4,"tags":["x"]}`},
		{"INVALID_ARGUMENTS", `{"entry_id":1,"status":"retired"}`},
	} {
		w.refused(test.code, "glossary_update", test.arguments)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", createDawn)
	w.refused("EMPTY", "glossary_delete", `{"entry_id":1,"reason":" "}`)
	w.refused("NOT_FOUND", "glossary_delete", `{"entry_id":2,"reason":"no such ship"}`)
	a := w.do("glossary_delete", `{"entry_id":1,"reason":"no such ship"}`)
	if a.Entry.ID != 1 || a.Entry.Status != "" || w.glossary.entries[0].Status != annotator.Retired {
		t.Errorf("%+v", a.Entry)
	}
	w.refused("RETIRED", "glossary_delete", `{"entry_id":1,"reason":"no such ship"}`)
	if a := w.do("glossary_create", createDawn); a.Entry.ID != 2 {
		t.Errorf("the name of a retired entry is not free: %+v", a.Entry)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, arguments := range []string{
		createDawn,
		`{"term":"Mik","definition":"The owner of the [[the dawn]].","tags":["character"],"status":"confirmed"}`,
		`{"term":"Ann","definition":"She saw the dawn.","tags":["character","witness"]}`,
		`{"term":"Dawn Street","definition":"A mistake.","tags":["place"]}`,
	} {
		w.do("glossary_create", arguments)
	}
	w.do("glossary_delete", `{"entry_id":4,"reason":"a mistake"}`)
	for _, test := range []struct {
		arguments string
		found     []string
		referring []string
	}{
		{`{"query":"dawn"}`, []string{"Dawn", "Mik", "Ann"}, nil},
		{`{"query":""}`, []string{"Dawn", "Mik", "Ann"}, nil},
		{`{"query":"dawn","limit":2}`, []string{"Dawn", "Mik"}, nil},
		{`{"query":"dawn","status":"confirmed"}`, []string{"Mik"}, nil},
		{`{"query":"dawn","status":"tentative"}`, []string{"Dawn", "Ann"}, nil},
		{`{"query":"dawn","status":"retired"}`, []string{"Dawn Street"}, nil},
		{`{"query":"dawn","tags":["Character"]}`, []string{"Mik", "Ann"}, nil},
		{`{"query":"dawn","tags":["character","witness"]}`, []string{"Ann"}, nil},
		{`{"query":"sails","include_references":true}`, []string{"Dawn"}, []string{"Mik"}},
		{`{"query":"dawn","include_references":true}`, []string{"Dawn", "Mik", "Ann"}, nil},
	} {
		a := w.do("glossary_search", test.arguments)
		if diff := cmp.Diff(test.found, terms(a.Entries)); diff != "" || a.Count != len(test.found) {
			t.Errorf("%s: count %d, %s", test.arguments, a.Count, diff)
		}
		if diff := cmp.Diff(test.referring, terms(a.References)); diff != "" {
			t.Errorf("%s: references: %s", test.arguments, diff)
		}
	}
	w.refused("EMPTY", "glossary_search", `{"query":"dawn","tags":[" "]}`)
}

func terms(entries []entry) (terms []string) {
	for _, e := range entries {
		terms = append(terms, e.Term)
	}
	return terms
}

// With entries of any length an answer has a bounded length, is JSON, and contains in full what Shows lists.
func TestLongEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, filler := range []string{"a", `"`, "\u2028", "中", "\n"} {
		var facts []string
		for i := range 16 {
			facts = append(facts, string(rune('a'+i))+strings.Repeat(filler, codex.MaxFact-2)+".")
		}
		var names, labels []string
		for i := range codex.MaxItems - 1 {
			names = append(names, fmt.Sprintf("%d %s", i, strings.Repeat("b", codex.MaxName-4)))
			labels = append(labels, fmt.Sprintf("%d %s", i, strings.Repeat("c", codex.MaxTag-4)))
		}
		arguments, err := json.Marshal(map[string]any{
			"term": "Long " + strconv.Itoa(len(w.glossary.entries)), "facts": facts, "tags": labels, "aliases": names,
		})
		if err != nil {
			t.Fatal(err)
		}
		w.bounded("glossary_create", string(arguments))
		a := w.bounded("glossary_create", string(arguments)) // DUPLICATE
		if a.Error.Entry == nil || a.Error.Entry.Truncated == "" {
			t.Errorf("%q: nothing is said of what is left out", filler)
		}
	}
	if a := w.bounded("glossary_search", `{"query":"long","limit":50}`); a.Count < 2 || a.Truncated == "" {
		t.Errorf("%d entries, %q", a.Count, a.Truncated)
	}
	for w.env.MaxAnswer = 800; w.env.MaxAnswer < 8000; w.env.MaxAnswer += 900 {
		w.bounded("glossary_search", `{"query":"long","limit":50}`)
		w.bounded("glossary_create", `{"term":"Long 1","definition":"It is short.","tags":[]}`) // DUPLICATE
	}
}

// TestSearchShowsWhatWasAskedFor: of an entry with many facts a search shows those with the words of the query, and says
// how many it leaves out. A long entry leaves room for the others that were found.
func TestSearchShowsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var facts []string
	for i := range 50 {
		facts = append(facts, fmt.Sprintf("Wren went to the house number %d in the long street by the harbour.", i))
	}
	facts[7] = "Wren hid the brass key under the stone."
	create := func(term string, facts ...string) {
		arguments, err := json.Marshal(map[string]any{"term": term, "facts": facts, "tags": []string{"person"}})
		if err != nil {
			t.Fatal(err)
		}
		w.do("glossary_create", string(arguments))
	}
	create("Wren", facts[:20]...)
	more, err := json.Marshal(map[string]any{"entry_id": 1, "facts": facts[20:40]})
	if err != nil {
		t.Fatal(err)
	}
	w.do("glossary_update", string(more))
	create("Pike", "He looked for the brass key.")
	result, a := w.run("glossary_search", `{"query":"brass key"}`)
	if n := len([]rune(result.Content)); n > 3000 || a.Count != 2 {
		t.Errorf("%d entries in %d characters", a.Count, n)
	}
	first := a.Entries[0]
	if w := strings.Join(first.Facts, " "); !strings.Contains(w, facts[7]) || !strings.Contains(w, facts[39]) ||
		strings.Contains(w, facts[0]) {
		t.Errorf("the facts %q", first.Facts)
	}
	if want := fmt.Sprintf("%d of 40 facts are left out", 40-len(first.Facts)); !strings.HasPrefix(first.Truncated, want) {
		t.Errorf("%q, not %q", first.Truncated, want)
	}
	if len(result.Shows) != 1 || result.Shows[0].Entry != 2 {
		t.Errorf("the answer shows %v in full", result.Shows)
	}
}

func (w *world) bounded(tool, arguments string) answer {
	w.t.Helper()
	result, a := w.run(tool, arguments)
	limit := 8000
	if w.env.MaxAnswer > 0 {
		limit = w.env.MaxAnswer
	}
	if n := len([]rune(result.Content)); n > limit {
		w.t.Errorf("an answer of %d characters: %.200s", n, result.Content)
	}
	for _, shown := range result.Shows {
		if a.OK && tool == "glossary_create" {
			continue // the call itself shows it
		}
		lines, err := json.Marshal(codex.FactLines(w.glossary.entries[shown.Entry-1]))
		if err != nil || !strings.Contains(result.Content, string(lines)) {
			w.t.Errorf("entry %d is not shown in full", shown.Entry)
		}
	}
	return a
}

// TestEscapedCopies: a model copies escaped text from its prompt.
func TestEscapedCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.Scene.Posts[0].Body = `Ashe & Sons sold <lamps>.`
	_, a := w.run("glossary_create",
		`{"term":"Ashe &amp; Sons","definition":"They sold &lt;lamps&gt;.","tags":[],"quote":"Ashe &amp; Sons sold &lt;lamps&gt;"}`)
	if got := w.glossary.entries[0]; a.Entry.Term != "Ashe & Sons" || got.Definition() != "They sold <lamps>." ||
		len(got.Claims[0].Evidence) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestMerge: an entry that is another one gives it all that it has, and goes by it from then on.
func TestMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("glossary_create", `{"term":"Dawn","facts":[{"text":"Dawn is a ship."}],"tags":["ship"]}`)
	w.do("glossary_create", `{"term":"grey ship","facts":[{"text":"dawn is a ship."},{"text":"It is grey.","quote":"a grey ship"}],"tags":["object"],"aliases":["the ship"]}`)
	w.do("glossary_create", `{"term":"Mik","facts":[{"text":"Mik stole her."}],"tags":["person"]}`)
	var checked []*tools.CheckedEdit
	w.env.CheckEdit = func(_ context.Context, edit *tools.CheckedEdit) error {
		checked = append(checked, edit)
		return nil
	}
	for arguments, code := range map[string]string{
		`{"entry_id":2,"reason":"It is Dawn.","same_as":2}`:      "SAME",
		`{"entry_id":2,"reason":"It is Dawn.","same_as":9}`:      "NOT_FOUND",
		`{"entry_id":2,"reason":"It is Dawn.","same_as":"Dusk"}`: "NOT_FOUND",
		`{"entry_id":2,"reason":"...","same_as":1}`:              "EMPTY",
	} {
		if result, _ := w.run("glossary_delete", arguments); result.Error != code {
			t.Errorf("%s answers %s", arguments, result.Content)
		}
	}
	result, _ := w.run("glossary_delete", `{"entry_id":2,"reason":"It is Dawn.","same_as":"Dawn"}`)
	want := `{"ok":true,"entry":{"id":2,"term":"grey ship"},"status":"merged","into":{"id":1,"term":"Dawn"},"added":[2]}`
	if result.Content != want || !slices.Equal(result.Changed, []int64{1, 2}) {
		t.Errorf("it answers %s, %v", result.Content, result.Changed)
	}
	if len(checked) != 1 || checked[0].Before.ID != 2 || checked[0].Into.ID != 1 ||
		!codex.Destructive(checked[0].Revisions) {
		t.Errorf("checked: %+v", checked)
	}
	e := w.glossary.entries[0]
	if e.Definition() != "Dawn is a ship. It is grey." || len(e.Aliases) != 3 || len(e.Tags) != 2 ||
		len(e.Claims[1].Evidence) != 1 {
		t.Errorf("%+v", e)
	}
	if result, _ := w.run("glossary_update", `{"entry_id":2,"tags":[]}`); result.Error != "RETIRED" ||
		!strings.Contains(result.Content, "merged into entry 1") {
		t.Errorf("a merged entry answers %s", result.Content)
	}
	if result, _ := w.run("glossary_delete",
		`{"entry_id":3,"reason":"It is Dawn.","same_as":2}`); result.Error != "RETIRED" {
		t.Errorf("a merge into one that is merged answers %s", result.Content)
	}
}

// TestManyParts: of a call's facts, names and closings the first 256 are taken, and the answer names the others. It
// costs what these cost, and what a fact beyond them was to replace is not closed.
func TestManyParts(t *testing.T) {
	t.Parallel()
	list := func(n int, item func(i int) any) (all []any) {
		for i := range n {
			all = append(all, item(i))
		}
		return all
	}
	// Texts of one letter in Han: an entry holds thousands of such facts.
	fact := func(i int) any { return map[string]any{"text": string(rune(0x4e00 + i)), "quote": "not there"} }
	w := newWorld(t)
	start := longtest.ProcessorTime(t)
	a := w.do("glossary_create",
		annotator.EncodeJSON(map[string]any{"term": "Dawn", "tags": []string{}, "facts": list(20_000, fact)}))
	if last := a.NotTaken[len(a.NotTaken)-1]; len(a.Added) != 256 || !strings.HasSuffix(last.Part, " more") ||
		last.Code == "" {
		t.Errorf("%d facts are added, the last that is not is %+v", len(a.Added), last)
	}
	update := func(arguments map[string]any) (tools.Result, answer) {
		arguments["entry_id"] = 1
		return w.run("glossary_update", annotator.EncodeJSON(arguments))
	}
	for range 20 { // an entry of many facts
		other := len(w.glossary.entries[0].Claims)
		if _, a := update(map[string]any{"facts": list(256, func(i int) any {
			return map[string]any{"text": string(rune(0x4e00 + other + i))}
		})}); len(a.Added) != 256 {
			t.Fatalf("%d facts are added behind %d", len(a.Added), other)
		}
	}
	_, a = update(map[string]any{"facts": list(300, func(i int) any {
		return map[string]any{"text": string(rune(0x4e00 + i))}
	}), "close": []any{map[string]any{"fact": 400, "by": 299}}})
	if len(a.Known) != 256 || len(a.NotTaken) != 2 || a.NotTaken[0].Part != "facts 257 to 300" ||
		a.NotTaken[0].Code != "TOO_LONG" || a.NotTaken[1].Close != 400 {
		t.Errorf("%d facts were known, %+v", len(a.Known), a.NotTaken)
	}
	result, a := update(map[string]any{
		"aliases": list(1000, func(i int) any {
			return fmt.Sprint("Dawn ", i)
		}), "drop_aliases": list(1000, func(i int) any { return fmt.Sprint("Dusk ", i) }),
		"close": list(1000, func(i int) any { return i + 1 }),
	})
	if !a.OK || len(result.Content) > 8000 {
		t.Errorf("an answer of %d characters: %s", len(result.Content), result.Content)
	}
	open := slices.DeleteFunc(slices.Clone(w.glossary.entries[0].Claims), func(c annotator.Claim) bool {
		return c.Until != 0
	})
	if got := len(w.glossary.entries[0].Claims) - len(open); got != 256 {
		t.Errorf("%d facts are closed", got)
	}
	if result, _ = update(map[string]any{"drop_aliases": list(1000, func(i int) any {
		return fmt.Sprint("Dusk ", i)
	})}); len(result.Content) > 8000 {
		t.Errorf("a refusal of %d characters", len(result.Content))
	}
	if took := longtest.ProcessorTime(t) - start; took > 30*time.Second {
		t.Errorf("it takes %s", took)
	}
}
