package curator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
)

// sailor is an entry with the states 1 to 3, of which 1 has ended, and with facts that are none.
func sailor() *annotator.Entry {
	at := annotator.PlaceAt(1, 0)
	e := &annotator.Entry{ID: 1, Status: annotator.Confirmed, Term: "Anna", First: at, Last: at}
	e.Aliases = []annotator.Alias{{Name: e.Term, From: at}}
	for i, text := range []string{
		"She is poor.", "She has a coat.", "She is at sea.", "She is tall.",
		"She drowned once.",
	} {
		e.Claims = append(e.Claims, annotator.Claim{
			ID: int64(i + 1), Ord: i, Text: text, Kind: annotator.Narrated,
			State: i < 3, From: at,
		})
	}
	e.Claims[0].Until = at
	return e
}

// ended returns the facts that an answer ends, and the statement that it leaves.
func ended(t *testing.T, answer string) (closed []int64, present string) {
	t.Helper()
	e, at := sailor(), annotator.PlaceAt(2, 0)
	asked := statements{{Entry: e}}
	told, _ := asked.read(answer)
	for i, r := range asked.revisions(told, nil, nil, at, 7) {
		r.ID = int64(i + 1)
		if err := codex.Apply(e, &r); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
	}
	for i := range e.Claims {
		if c := &e.Claims[i]; c.Until == at {
			closed = append(closed, c.ID)
		}
	}
	return closed, codex.Present(e)
}

// TestEndedStates: a statement ends the states that it names, and nothing else; none if it names most of an entry's.
func TestEndedStates(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]int64{
		`<present id="1">She is home.</present>`:                            nil,
		`<present id="1" ended="">She is home.</present>`:                   nil,
		`<present id="1" ended="none">She is home.</present>`:               nil,
		`<present id="1" ended="3">She is home.</present>`:                  {3},
		`<present id="1" ended="3, 4 and 99">She is home.</present>`:        {3},
		`<present id="1" ended="1 3 3">She is home.</present>`:              {3},
		`<present id="1" ended="2, 3">She is home.</present>`:               nil,
		`<present id=1 ended="99999999999999999999">She is home.</present>`: nil,
	} {
		closed, present := ended(t, answer)
		if !slices.Equal(closed, want) || present != "She is home." {
			t.Errorf("%s ends %v, and says %q", answer, closed, present)
		}
	}
	if closed, _ := ended(t, `<present id="1" ended="3"> - </present>`); closed != nil {
		t.Errorf("without a statement, %v has ended", closed)
	}
}

// TestEndedWhereItIsTold: a state that a statement ends by a fact ends where the story tells that fact. Without a fact
// that can have ended it, it ends where the question is asked.
func TestEndedWhereItIsTold(t *testing.T) {
	t.Parallel()
	told, asked := annotator.PlaceAt(3, 1), annotator.PlaceAt(9, 0)
	for answer, want := range map[string]string{
		"3 by 4":    fmt.Sprint(told, 4),
		"3:4":       fmt.Sprint(told, 4),
		"3":         fmt.Sprint(asked, 0),
		"3 by 5":    fmt.Sprint(asked, 0), // a guess
		"3 by 1":    fmt.Sprint(asked, 0), // over
		"3 by 99":   fmt.Sprint(asked, 0),
		"3 by 3":    fmt.Sprint(asked, 0),
		"99 by 4":   "0 0",
		"by 4 or 5": "0 0",
	} {
		e := sailor()
		e.Claims[3].From, e.Claims[4].Kind = told, annotator.Inferred
		list := statements{{Entry: e}}
		said, _ := list.read(`<present id="1" ended="` + answer + `">She is home.</present>`)
		for i, r := range list.revisions(said, nil, nil, asked, 7) {
			r.ID = int64(i + 1)
			if err := codex.Apply(e, &r); err != nil {
				t.Fatalf("%s: %v", answer, err)
			}
		}
		if got := fmt.Sprint(e.Claims[2].Until, e.Claims[2].ReplacedBy); got != want || e.Present != "She is home." {
			t.Errorf("%s: it ended at %s, want %s; %q", answer, got, want, e.Present)
		}
	}
}

// TestLengthOfAStatement: whole sentences are kept, as many as the question asks for at most.
func TestLengthOfAStatement(t *testing.T) {
	t.Parallel()
	const four = "He has come to the island as a guest. He loves the singer. He waits for a letter. " +
		"He is to become a great man."
	long := strings.Repeat("He waits for the ship that never comes. ", 20)
	for statement, want := range map[string]string{
		four:                        four,
		strings.TrimSpace(long):     strings.TrimSpace(long[:statementLength]),
		strings.Repeat("wait ", 90): strings.TrimSpace(strings.Repeat("wait ", 90)),
	} {
		if _, present := ended(t, `<present id="1">`+statement+`</present>`); present != want {
			t.Errorf("%q is kept as %q", statement, present)
		}
	}
}

// TestSettledGuesses: a statement confirms guesses by newer narrated facts that hold and say something of them, and
// refutes others. Nothing else is settled so.
func TestSettledGuesses(t *testing.T) {
	t.Parallel()
	for attributes, want := range map[string]string{
		`confirmed="6 by 4"`:                       "6 confirmed 4",
		`confirmed="6 by 4, 7 by 4" refuted="8"`:   "6 confirmed 4 7 confirmed 4 8 refuted 0",
		`ended="3" confirmed="6 by 3"`:             "3 over 0",
		`confirmed="6"`:                            "",
		`confirmed="6 by 7"`:                       "",
		`confirmed="6 by 1"`:                       "",
		`confirmed="6 by 6" refuted="4 5 99"`:      "",
		`refuted="6 and 6" confirmed="6 by 4"`:     "6 refuted 0",
		`confirmed="4 by 5" ended="" refuted="2"`:  "",
		`refuted="6" note="x" confirmed="7 by \4"`: "6 refuted 0 7 confirmed 4",
		`confirmed="6 by 2"`:                       "", // known before
		`confirmed="8 by 4"`:                       "", // of something else
	} {
		e, at := sailor(), annotator.PlaceAt(2, 0)
		e.Claims[3].From = annotator.PlaceAt(2, 1)
		for id := int64(6); id <= 8; id++ {
			e.Claims = append(e.Claims, annotator.Claim{
				ID: id, Ord: int(id), Text: fmt.Sprintf("Guess %d.", id), Kind: annotator.Inferred, From: at,
			})
		}
		asked := statements{{Entry: e, settles: func(guess, _ *annotator.Claim) bool { return guess.ID != 8 }}}
		told, _ := asked.read(`<present id="1" ` + attributes + `>She is home.</present>`)
		revisions := asked.revisions(told, nil, nil, at, 7)
		for i := range revisions {
			revisions[i].ID = int64(i + 1)
			if err := codex.Apply(e, &revisions[i]); err != nil {
				t.Fatalf("%s: %v", attributes, err)
			}
		}
		var got []string
		for _, c := range e.Claims {
			if c.Ended != "" {
				got = append(got, fmt.Sprintf("%d %s %d", c.ID, c.Ended, c.ReplacedBy))
			}
		}
		if text := strings.Join(got, " "); text != want || codex.Present(e) != "She is home." {
			t.Errorf("%s: %q, not %q; now %q", attributes, text, want, codex.Present(e))
		}
	}
}

// TestNoLongerWhatItIs: a statement ends what the entry is no longer, unless that is most of what it is. Then the
// newest of its states opens it.
func TestNoLongerWhatItIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		identity []int64 // the facts that say who she is
		answer   string
		ended    []int64
		opens    int64 // 0: the statement
	}{
		{[]int64{4}, "4", []int64{4}, 0},
		{[]int64{4}, "4 3", []int64{3, 4}, 0},
		{[]int64{4}, "5", nil, 4},
		{[]int64{4, 5}, "4 5", nil, 5},
		{[]int64{4, 5}, "5", []int64{5}, 4},
	} {
		e, at := sailor(), annotator.PlaceAt(2, 0)
		for _, id := range test.identity {
			e.Claims[id-1].Identity = true
		}
		asked := statements{{Entry: e}}
		told, _ := asked.read(`<present id="1" ended="` + test.answer + `">She is home.</present>`)
		revisions := asked.revisions(told, nil, nil, at, 7)
		for i := range revisions {
			revisions[i].ID = int64(i + 1)
			if err := codex.Apply(e, &revisions[i]); err != nil {
				t.Fatal(err)
			}
		}
		var ended []int64
		for _, c := range e.Claims {
			if c.Ended == annotator.EndOver {
				ended = append(ended, c.ID)
			}
		}
		opens := int64(0)
		if ordered, opening := codex.InOrder(e); opening > 0 {
			opens = ordered[0].ID
		}
		if !slices.Equal(ended, test.ended) || opens != test.opens {
			t.Errorf("%q of %d ends %d, and %d opens", test.answer, test.identity, ended, opens)
		}
	}
}

// TestRestatedWithAState: a statement that says the same again, while a state has ended, is of the new date, and is
// shown.
func TestRestatedWithAState(t *testing.T) {
	t.Parallel()
	e := sailor()
	asked := statements{{Entry: e}}
	for n, answer := range []string{
		`<present id="1">She sails.</present>`,
		`<present id="1" ended="3">She sails.</present>`,
	} {
		told, _ := asked.read(answer)
		for i, r := range asked.revisions(told, nil, nil, annotator.PlaceAt(annotator.Order(2+n), 0), 7) {
			r.ID = int64(10*n + i + 1)
			if err := codex.Apply(e, &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if codex.Present(e) != "She sails." {
		t.Errorf("the entry shows %q", codex.Present(e))
	}
}

// FuzzReadStatements: whatever an answer holds, it changes an entry by a statement and the end of states, or not at
// all.
func FuzzReadStatements(f *testing.F) {
	f.Add(`<present id="1" ended="2">She is home.</present><cumulative>x</cumulative>`)
	f.Add(`<present id="1" ended="2 3"><present id="1">It.</present>`)
	f.Add("<present id=\"2\">\x00</present>")
	f.Fuzz(func(t *testing.T, answer string) {
		closed, present := ended(t, answer)
		if len(closed) > 1 || len(closed) > 0 && present == "" {
			t.Errorf("%q ends %v, and says %q", answer, closed, present)
		}
	})
}
