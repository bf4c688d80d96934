package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/internal/scripted"
	"annotator/policy"
	"annotator/storage"
	"annotator/view"
)

// told is a story with the calls of a model for each scene, in one reply.
type told []struct {
	scene string
	calls []annotator.ToolCall
}

// read reads the story and returns the results of the calls, in order.
func (story told) read(t *testing.T, change func(*stage)) (*stage, []*storage.Audited) {
	t.Helper()
	var scenes []string
	for _, part := range story {
		scenes = append(scenes, part.scene)
	}
	script := func(r scripted.Request) scripted.Reply {
		at := last(r, "<scene ")
		for n, part := range story {
			if len(part.calls) > 0 && strings.Contains(at, fmt.Sprintf(`<scene number="%d"`, n+1)) {
				return saying(calls(part.calls...))(r)
			}
		}
		return scripted.Reply{Text: "Nothing."}
	}
	s := governed(t, policy.Off, script, scenes...)
	if change != nil {
		change(s)
	}
	if err := s.run("told"); err != nil {
		t.Fatal(err)
	}
	s.lawful("told")
	var all []*storage.Audited
	for call, err := range s.open("told").Journal.Audit(context.Background(), storage.AuditFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		copied := *call
		all = append(all, &copied)
	}
	return s, all
}

func (s *stage) entry(t *testing.T, id int64) *annotator.Entry {
	t.Helper()
	e, err := s.open("told").Glossary.WholeEntry(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func makes(term, tag, facts string, more ...string) annotator.ToolCall {
	return annotator.ToolCall{
		Name:      "glossary_create",
		Arguments: fmt.Sprintf(`{"term":%q,"tags":[%q],"facts":%s%s}`, term, tag, facts, strings.Join(more, "")),
	}
}

// TestARevealedNameIsTaken reveals the names of two entries, one of them part by part, and promotes the person who is
// addressed. Nothing of it is refused.
func TestARevealedNameIsTaken(t *testing.T) {
	t.Parallel()
	s, all := told{
		{"You are Wren Tallow, a wick of the Guild. You saw a child with a brass thimble. Brother Caul let you in. " +
			"A man in a hood stood by.", []annotator.ToolCall{
			makes("Wren Tallow", "person",
				`[{"text":"Wren Tallow is a wick.","quote":"You are Wren Tallow, a wick of the Guild.","state":true}]`),
			makes("child with the brass thimble", "person",
				`[{"text":"A child wears a brass thimble.","quote":"a child with a brass thimble"}]`),
			makes("Brother Caul", "person", `[{"text":"Brother Caul is let in.","quote":"Brother Caul let you in."}]`),
			makes("man in a hood", "person", `[{"text":"A man stood by.","quote":"A man in a hood stood by."}]`),
		}},
		{"“They call me Thimble because of my thimble,” she says.", []annotator.ToolCall{
			updates(2, `"term":"Thimble","facts":[{"text":"She is called Thimble because of her thimble.","quote":"They call me … my thimble","kind":"claimed","speaker":"Thimble"}]`),
		}},
		{"Brother Anselm Caul was chaplain here.", []annotator.ToolCall{
			updates(3, `"term":"Anselm Caul","aliases":["Brother Anselm Caul"],"facts":["Anselm Caul was a chaplain."],"close":[1]`),
		}},
		{"The Lampmaster pins on your collar the copper flame of a trimmer.", []annotator.ToolCall{
			updates(1, `"facts":[{"text":"Wren Tallow is a trimmer.","quote":"pins on your collar the copper flame of a trimmer","state":true}],"close":[{"fact":1,"by":1}]`),
		}},
		{"Out of the fog came Hadrian Thesk.", []annotator.ToolCall{
			updates(4, `"term":"Hadrian Thesk","facts":["He came out of the fog."]`),
		}},
	}.read(t, nil)
	for _, call := range all {
		if call.Error != "" || strings.Contains(call.Result, "not_taken") {
			t.Errorf("%s answers %s", call.Arguments, call.Result)
		}
	}
	for id, name := range map[int64]string{2: "Thimble", 3: "Anselm Caul", 4: "Hadrian Thesk"} {
		if e := s.entry(t, id); e.Name() != name {
			t.Errorf("entry %d is called %s", id, e.Name())
		}
	}
	wren := s.entry(t, 1)
	if got := codex.FactLines(wren); !slices.Equal(got, []string{"2 (state): Wren Tallow is a trimmer."}) ||
		wren.Claims[0].ReplacedBy != 2 && wren.Claims[1].ReplacedBy != 2 {
		t.Errorf("%q of %+v", got, wren.Claims)
	}
}

// TestRenamedIsNotErased: a scene that gives an entry a name, or a quotation that addresses somebody, names it no more
// than before.
func TestRenamedIsNotErased(t *testing.T) {
	t.Parallel()
	s, all := told{
		{"A man in a hood stood by the Lamp.", []annotator.ToolCall{
			makes("man in a hood", "person", `[{"text":"A man stood by."},{"text":"He wore a cap."}]`),
			makes("Lamp", "object", `["It stood."]`),
		}},
		{"Out of the fog came Thesk, and you know Thesk. Everybody the better.", []annotator.ToolCall{
			updates(1, `"term":"Thesk","close":[1],"facts":["He came out of the fog."]`),
			updates(1, `"close":[1,{"fact":2,"by":3}],"facts":[{"text":"You know him.","quote":"you know Thesk"}]`),
			updates(1, `"tags":[]`),
			deletes(1),
			updates(2, `"close":[1]`),
			updates(1, `"aliases":["Everybody"],"close":[1]`),
		}},
	}.read(t, nil)
	e := s.entry(t, 1)
	if e.Name() != "Thesk" || !e.Status.Live() || len(codex.FactLines(e)) != 4 ||
		!slices.Equal(e.Tags, []string{"person"}) {
		t.Errorf("%q of %+v", codex.FactLines(e), e)
	}
	for n, want := range []string{
		"", "", // made
		`"not_taken":[{"close":1,"code":"NOT_MENTIONED"`, `"not_taken":[{"close":1,"code":"NOT_MENTIONED"`,
		`"error":{"code":"NOT_MENTIONED"`, `"error":{"code":"NOT_MENTIONED"`, `"error":{"code":"NOT_MENTIONED"`,
		`"not_taken":[{"close":1,"code":"NOT_MENTIONED"`,
	} {
		if !strings.Contains(all[n].Result, want) {
			t.Errorf("%s answers %s", all[n].Arguments, all[n].Result)
		}
	}
}

// TestOneWhoIsRevealedIsRenamed tests a scene that names an entry and shows that it is another one with a name. It may
// rename the other one, to a name that it has.
func TestOneWhoIsRevealedIsRenamed(t *testing.T) {
	t.Parallel()
	s, all := told{
		{"The Ferryman rowed. The wickwarden of the Ninth slept. Vane stood by the Gate.", []annotator.ToolCall{
			makes("Ferryman", "person", `["The Ferryman rowed."]`),
			makes("wickwarden of the Ninth", "person", `["She slept."]`),
			makes("Vane", "person", `["Vane stood by."]`),
		}},
		{"“Isaura Tallow, wickwarden of the Ninth!” The woman in the boat takes a breath.", []annotator.ToolCall{
			merges(3, 1),
			updates(1, `"term":"Isaura Tallow"`),
			merges(2, 1),
			updates(1, `"term":"Nobody"`),
			updates(1, `"term":"Isaura Tallow"`),
			updates(3, `"term":"Isaura"`),
		}},
	}.read(t, nil)
	for n, want := range []string{
		"", "", "", "nor of those of entry 1",
		`"error":{"code":"NOT_MENTIONED"`, `"status":"merged"`, `"error":{"code":"NOT_MENTIONED"`,
		`"ok":true,"entry":{"id":1,"term":"Isaura Tallow"}`, `"error":{"code":"NOT_MENTIONED"`,
	} {
		if !strings.Contains(all[n].Result, want) {
			t.Errorf("%s answers %s", all[n].Arguments, all[n].Result)
		}
	}
	if names := s.entry(t, 1).Names(); !slices.Contains(names, "Ferryman") {
		t.Errorf("it is called %q", names)
	}
}

// TestWhatCannotReplaceIsAdded: a scene that does not name an entry adds tags to those that it has, in one reply. It
// takes none away.
func TestWhatCannotReplaceIsAdded(t *testing.T) {
	t.Parallel()
	s, all := told{
		{"The Ferryman rowed.", []annotator.ToolCall{makes("Ferryman", "creature", `["The Ferryman rowed."]`)}},
		{"“Isaura Tallow!” The woman in the boat takes a breath.", []annotator.ToolCall{
			updates(1, `"tags":["person"],"aliases":["Isaura Tallow","🕯️"],"done":true`),
		}},
	}.read(t, nil)
	e := s.entry(t, 1)
	if e.Name() != "Ferryman" || !slices.Contains(e.Names(), "Isaura Tallow") ||
		!slices.Equal(e.Tags, []string{"creature", "person"}) {
		t.Errorf("%s, %q, %q: %s", e.Name(), e.Names(), e.Tags, all[1].Result)
	}
	if strings.Contains(all[1].Result, "stays open") {
		t.Errorf("another reply is asked for: %s", all[1].Result)
	}
}

// TestAGuessThatIsSettledMerges: a scene that confirms a guess about an entry by its own words may merge the entry into
// one that it names. A guess that it has made itself gives no such right.
func TestAGuessThatIsSettledMerges(t *testing.T) {
	t.Parallel()
	const guess = `[{"text":"The huge book is perhaps the [[Ledger]].","kind":"inferred"}]`
	lies := updates(2,
		`"facts":[{"text":"The [[Ledger]] is a huge book on slate.","quote":"The Ledger lies on slate"}]`)
	for _, test := range []struct {
		settles []annotator.ToolCall
		status  annotator.Status
	}{
		{nil, annotator.Tentative},
		{
			[]annotator.ToolCall{updates(1, `"close":[{"fact":1,"by_entry":"Ledger","ended":"confirmed"}]`)},
			annotator.Merged,
		},
		{[]annotator.ToolCall{
			updates(1, `"facts":[{"text":"It is perhaps the [[Ledger]] on slate.","kind":"inferred"}]`),
			updates(1, `"close":[{"fact":2,"by_entry":"Ledger","ended":"confirmed"}]`),
		}, annotator.Tentative},
	} {
		s, all := told{
			{"A huge book. Vane has a Ledger.", []annotator.ToolCall{
				makes("huge book", "object", guess), makes("Ledger", "object", `["Vane has it."]`),
			}},
			{"The Ledger lies on slate.", append(append([]annotator.ToolCall{lies}, test.settles...), merges(1, 2))},
		}.read(t, nil)
		if e := s.entry(t, 1); e.Status != test.status {
			t.Errorf("after %v it is %s: %s", test.settles, e.Status, all[len(all)-1].Result)
		}
	}
}

// TestStatesAreReplacedWithoutAName tests a scene that calls a thing by another word. It replaces its states by facts
// that it supports, and removes what it has added itself. It removes nothing else.
func TestStatesAreReplacedWithoutAName(t *testing.T) {
	t.Parallel()
	facts := `[{"text":"Its flame is a blue bead.","state":true},{"text":"It is tall.","quote":"It was tall."},{"text":"It is cold.","state":true},{"text":"It is old.","state":true}]`
	stands := `"facts":[{"text":"Its flame stands at half its height.","quote":"half its proper height","state":true},{"text":"It is warm.","quote":"nobody wrote this","state":true}],`
	story := told{
		{
			"Ketterling burned. It was tall. Marrow burned.",
			[]annotator.ToolCall{makes("Ketterling", "object", facts), makes("Marrow", "object", facts)},
		},
		{"It is half its proper height, but it stands.", []annotator.ToolCall{
			updates(1, stands+`"close":[{"fact":1,"by":1},{"fact":2,"by":1},{"fact":3,"by":2},4]`),
			updates(1, `"close":[5]`), // or two calls would erase a state
			updates(1, `"facts":["It is a mistake."]`),
			updates(1, `"close":[7]`),
			updates(2, `"aliases":["proper height"],"facts":[{"text":"It stands.","quote":"it stands"}],"close":[{"fact":1,"by":1}]`),
			updates(2, `"facts":[{"text":"It was tall then.","quote":"It was tall.","post_id":100}],`+
				`"aliases":["height"]`),
			updates(2, `"close":[2]`),
			updates(1, `"facts":[{"text":"Tobin lit it.","quote":"it stands","kind":"claimed","speaker":"Tobin"}]`),
		}},
		{"It is a blue bead again. Nobody lit it.", []annotator.ToolCall{
			updates(1, `"facts":[{"text":"Its flame is small.","quote":"a blue bead","state":true}],"close":[{"fact":5,"by":1}]`),
			updates(1, `"facts":[{"text":"Nobody lit it.","quote":"Nobody lit it."}],"close":[{"fact":8,"by":1}]`),
		}},
	}
	s, all := story.read(t, nil)
	for n, want := range []string{
		"", "",
		`"closed":["1: Its flame is a blue bead."],"not_taken":[{"close":2,"code":"NOT_MENTIONED","why":"`,
		`"error":{"code":"NOT_MENTIONED"`,
		`"added":[7]`,
		`"closed":["7: It is a mistake."]`,
		`"added":[5],"closed":["1: Its flame is a blue bead."]`,
		`"ok":true`,
		`"error":{"code":"NOT_MENTIONED"`,
		`"added":[8]`, `"closed":["5: Its flame stands at half its height."]`, `"closed":["8: Tobin lit it."]`,
	} {
		if !strings.Contains(all[n].Result, want) {
			t.Errorf("%s answers %s", all[n].Arguments, all[n].Result)
		}
	}
	if got := codex.FactLines(s.entry(t, 1)); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

// TestWhatIsOpenIsSettled tests a thing that the model has named itself, in a scene without a word of that name. Facts
// that the scene supports replace its states, claims and guesses, however old. What was narrated stays. So does what
// such a fact does not replace.
func TestWhatIsOpenIsSettled(t *testing.T) {
	t.Parallel()
	story := told{{"Marrow asked Tobin to stay.", []annotator.ToolCall{
		makes("farewell at the gate", "event", `["Marrow asked Tobin to stay.",
			{"text":"Tobin stays.","state":true},{"text":"Tobin will stay.","kind":"claimed"},
			{"text":"Tobin may stay.","kind":"inferred"},{"text":"Marrow waits.","state":true}]`),
		makes("Marrow", "person", `["She asked."]`),
	}}}
	for range 4 {
		story = append(story, told{{"Marrow slept.", []annotator.ToolCall{updates(2, `"facts":["She slept."]`)}}}...)
	}
	story = append(story, told{{"Then Tobin rode away.", []annotator.ToolCall{
		updates(1, `"facts":[{"text":"Tobin rode away.","quote":"Tobin rode away"},"Marrow left."],"close":[
			{"fact":1,"by":1},{"fact":2,"by":1},{"fact":3,"by":1},{"fact":4,"by":1},{"fact":5,"by":2},5]`),
		updates(1, `"close":[{"fact":5,"by":6}]`), // by what an earlier call has quoted
	}}}...)
	s, all := story.read(t, nil)
	if got := all[6].Result; !strings.Contains(got, `"closed":["2: Tobin stays.","3: Tobin will stay.",`+
		`"4: Tobin may stay."],"not_taken":[{"close":1,"code":"NOT_MENTIONED"`) ||
		strings.Count(got, `"close":5,"code":"NOT_MENTIONED"`) != 2 {
		t.Error(got)
	}
	if got := codex.FactLines(s.entry(t, 1)); !slices.Equal(got, []string{
		"1: Marrow asked Tobin to stay.", "7: Marrow left.", "6: Tobin rode away.", // unquoted facts come first
	}) {
		t.Errorf("%q", got)
	}
}

// TestEndedByWhatAnotherEntryTells tests a state and a guess of a thing that the scene does not name. A fact of another
// entry ends them if this scene has its quotation and it says something of them. Nothing that was narrated ends so.
func TestEndedByWhatAnotherEntryTells(t *testing.T) {
	t.Parallel()
	var story told
	for range 4 {
		story = append(story, told{{"The off in to.", nil}}...) // so that these are common
	}
	s, all := append(story, told{
		{"The lamp hung in the chapel. Tobin slept in the chapel.", []annotator.ToolCall{
			makes("watch at the altar", "event", `["Tobin sleeps.",
				{"text":"The lamp hangs in the chapel.","state":true},{"text":"Somebody owns the lamp.","state":true},
				{"text":"Perhaps Tobin will carry the lamp away.","kind":"inferred"}]`),
			makes("Tobin", "person", `["Tobin sleeps."]`),
		}},
		{"Tobin ran off through the rain. He sold the lamp in the market.", []annotator.ToolCall{
			updates(2, `"facts":[{"text":"Tobin ran off.","quote":"Tobin ran off through the rain."}]`),
			updates(1, `"close":[{"fact":2,"by_entry":2},{"fact":4,"by_entry":2}]`), // nothing of the lamp
			updates(2, `"facts":[{"text":"Tobin sold the lamp, it is said.","quote":"nobody wrote this"}]`),
			updates(1, `"close":[{"fact":2,"by_entry":2}]`), // not quoted
			updates(2, `"facts":[{"text":"Tobin sold the lamp.","quote":"He sold the lamp in the market."}]`),
			updates(1, `"close":[{"fact":2,"by_entry":2},{"fact":4,"by_entry":2},{"fact":1,"by_entry":2},3]`),
		}},
	}...).read(t, nil)
	for n, want := range []string{
		"", "", `"added":[2]`, `"error":{"code":"UNSETTLED"`,
		`"added":[3]`, `"error":{"code":"NOT_MENTIONED"`, `"added":[4]`,
		`"closed":["2: The lamp hangs in the chapel.","4: Perhaps Tobin will carry the lamp away."],"not_taken":[{"close":1,"code":"ENDING"`,
	} {
		if !strings.Contains(all[n].Result, want) {
			t.Errorf("%s answers %s", all[n].Arguments, all[n].Result)
		}
	}
	if got := all[7].Result; !strings.Contains(got, `"close":3,"code":"NOT_MENTIONED"`) {
		t.Error(got)
	}
	if c := s.entry(t, 1).Claims[1]; c.Ended != annotator.EndOver || c.ReplacedBy != 0 {
		t.Errorf("%+v", c)
	}
}

// TestOneCallIsOneEdit tests that all removals of a call count once towards the cap. Beyond the cap, the additions of
// the call are applied.
func TestOneCallIsOneEdit(t *testing.T) {
	t.Parallel()
	facts := `["It is old.","It is tall.","It is cold.","It is dark."]`
	s, all := told{
		{"The Lamp stood by the Door.", []annotator.ToolCall{
			makes("Lamp", "object", facts),
			makes("Door", "object", facts),
		}},
		{"The Lamp stood by the Door again.", []annotator.ToolCall{
			updates(1, `"close":[1,2,3],"tags":["lamp"]`), updates(2, `"close":[4],"facts":["It is open."]`),
			updates(2, `"definition":"It is old. It is tall. It is cold. It is dark. It is open. It is new."`),
		}},
	}.read(t, func(s *stage) { s.config.EditCap = 1 })
	if got := codex.FactLines(s.entry(t, 1)); !slices.Equal(got, []string{"4: It is dark."}) {
		t.Errorf("%q: %s", got, all[2].Result)
	}
	if got := codex.FactLines(s.entry(t, 2)); len(got) != 6 ||
		!strings.Contains(all[3].Result, `"added":[5],"not_taken":[{"close":4,"code":"EDIT_CAP"`) ||
		all[4].Error != "" {
		t.Errorf("%q: %s, %s", got, all[3].Result, all[4].Result)
	}
}

func merges(entry, into int) annotator.ToolCall {
	return annotator.ToolCall{
		Name:      "glossary_delete",
		Arguments: fmt.Sprintf(`{"entry_id":%d,"reason":"it is the same","same_as":%d}`, entry, into),
	}
}

// TestOneThingIsOneEntry tests that a scene merges an entry that it names into any other. An entry that it only quotes
// is merged into one that it names. That one then counts as not named, so the scene takes nothing else from the two. A
// guess without a quotation does not count.
func TestOneThingIsOneEntry(t *testing.T) {
	t.Parallel()
	guess := `{"text":"It seems to be the [[Ledger of Names]].","kind":"inferred"}`
	s, all := told{
		{"The Ledger of Names lay under the Lamp.", []annotator.ToolCall{
			makes("Ledger of Names", "object", `["It lay there."]`),
			makes("Lamp", "object", `["It burned over the [[Ledger of Names]]."]`),
		}},
		{"A book as big as a door lay before the clerk, and a pen.", []annotator.ToolCall{
			makes("book as big as a door", "object",
				`[{"text":"The book is as big as a door.","quote":"A book as big as a door"},`+guess+`]`),
			makes("clerk's pen", "object", `["It lay there."]`),
		}},
		{"Out of the ledger of Names they read all night.", []annotator.ToolCall{
			merges(2, 1), // only mentioned in the same scene
			deletes(3),
			updates(4, `"facts":[`+guess+`]`),
			merges(4, 1), // guessed by this scene
			merges(3, 1), // guessed before
			updates(3, `"facts":[{"text":"They read the [[Ledger of Names]].","quote":"they read all night"}]`),
			merges(3, 1),
			updates(1, `"close":[2]`), // of the other
			deletes(1),
		}},
		{"Nobody came.", []annotator.ToolCall{
			updates(4, `"facts":[{"text":"It is the [[Ledger of Names]].","quote":"Nobody came."}]`),
			merges(4, 1), // not named either
			deletes(4),
		}},
		{"The clerk's pen was gone.", []annotator.ToolCall{merges(4, 2)}},
	}.read(t, nil)
	for n, want := range []string{
		"", "", "", "",
		`"error":{"code":"NOT_MENTIONED"`, `"error":{"code":"NOT_MENTIONED"`, `"ok":true`,
		`"error":{"code":"NOT_MENTIONED"`, `"error":{"code":"NOT_MENTIONED"`, `"ok":true`,
		`"status":"merged","into":{"id":1,"term":"Ledger of Names"},"added":[2,3,4]`,
		`"error":{"code":"NOT_MENTIONED"`, `"error":{"code":"NOT_MENTIONED"`,
		`"ok":true`, `"error":{"code":"NOT_MENTIONED"`, `"error":{"code":"NOT_MENTIONED"`,
		`"status":"merged","into":{"id":2,"term":"Lamp"}`,
	} {
		if !strings.Contains(all[n].Result, want) {
			t.Errorf("%s answers %s", all[n].Arguments, all[n].Result)
		}
	}
	if e := s.entry(t, 1); len(codex.FactLines(e)) != 4 || len(e.Claims[1].Evidence) != 1 || len(e.Aliases) != 2 {
		t.Errorf("%+v", e)
	}
	if e := s.entry(t, 3); e.Status != annotator.Merged || e.MergedInto != 1 {
		t.Errorf("%+v", e)
	}
}

// TestAWrongNameIsDropped tests that a scene that names an entry by a former name may remove a name from it. Any scene
// may remove the names that it has given.
func TestAWrongNameIsDropped(t *testing.T) {
	t.Parallel()
	s, all := told{
		{"Captain Marrow stood by the gate. Vane was there.", []annotator.ToolCall{
			makes("Captain Marrow", "person", `["She stood."]`, `,"aliases":["Vane","Gatekeeper"]`),
		}},
		{"Nobody came to the House.", []annotator.ToolCall{
			updates(1, `"drop_aliases":["Vane"]`),
			updates(1, `"aliases":["House","Nobody"]`),
			updates(1, `"drop_aliases":["vane","nobody"]`),
			updates(1, `"term":"House","drop_aliases":["Captain Marrow"]`),
		}},
		{"Orrin Vane is not Captain Marrow.", []annotator.ToolCall{updates(1, `"drop_aliases":["Vane"]`)}},
		{"Vane and Vane again.", []annotator.ToolCall{updates(1, `"aliases":["Vane"]`)}},
	}.read(t, nil)
	for n, want := range []string{
		"",
		`"error":{"code":"NOT_MENTIONED"`, `"ok":true`,
		`"ok":true,"entry":{"id":1,"term":"Captain Marrow"},"not_taken":[{"alias":"vane","code":"NOT_MENTIONED"`,
		`"not_taken":[{"term":"House","code":"NOT_MENTIONED"},{"alias":"Captain Marrow","code":"SAME"`,
		`"ok":true,"entry":{"id":1,"term":"Captain Marrow"}}`, `"ok":true,"entry":{"id":1,"term":"Captain Marrow"}}`,
	} {
		if !strings.Contains(all[n].Result, want) {
			t.Errorf("%s answers %s", all[n].Arguments, all[n].Result)
		}
	}
	var names []string
	for _, a := range s.entry(t, 1).Aliases {
		names = append(names, fmt.Sprint(a.Name, " ", int(a.From.Order()/annotator.OrderStep)))
	}
	if want := []string{"Captain Marrow 1", "Gatekeeper 1", "House 2", "Vane 4"}; !slices.Equal(names, want) {
		t.Errorf("the entry goes by %q", names)
	}
	for name, want := range map[string]int{"Nobody": 0, "House": 1} {
		if found, err := (view.Glossary{Glossary: s.open("told").Glossary}).Search(context.Background(),
			annotator.Query{Text: name}); err != nil || len(found) != want {
			t.Errorf("%s finds %d entries: %v", name, len(found), err)
		}
	}
}
