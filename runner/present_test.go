package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/curator"
	"annotator/internal/scripted"
)

// lanterns are three threads of three scenes about a lantern.
func lanterns() (threads [][]string) {
	for n := range 3 {
		var scenes []string
		for i := range 3 {
			scenes = append(scenes, fmt.Sprintf("The Lantern burned for %d nights.", 3*n+i+1))
		}
		threads = append(threads, scenes)
	}
	return threads
}

// presenting is a run over lanterns, in each scene of which the model adds one state.
func presenting(t *testing.T, answer func(r scripted.Request) string) (s *stage, questions *int) {
	t.Helper()
	return presentingIn(t, lanterns(), 1, answer)
}

// presentingIn is a run over a story about a lantern, in each scene of which the model adds a number of facts. A single
// one is a state. It counts the questions outside of scenes, and answers those for present statements by a rule.
func presentingIn(
	t *testing.T, threads [][]string, facts int, answer func(r scripted.Request) string,
) (s *stage, questions *int) {
	t.Helper()
	asked := 0
	s = newTale(t, threads, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		question := r.Messages[len(r.Messages)-1].Content
		var n int
		if _, err := fmt.Sscanf(question, `<scene number="%d"`, &n); err == nil {
			var told []string
			for i := range facts {
				told = append(told, fmt.Sprintf(`{"text":"It burned for %d nights, and %d.","state":%t}`, n, i+1,
					facts == 1))
			}
			added := `"facts":[` + strings.Join(told, ",") + `]`
			if n == 1 {
				return calls(toolCall("glossary_create", `{"term":"Lantern","tags":["object"],`+added+`}`))
			}
			return calls(updates(1, added))
		}
		if r.MayCall() {
			return scripted.Reply{Text: "Read."}
		}
		asked++
		if strings.Contains(question, "<outdated>") && answer != nil {
			return scripted.Reply{Text: scripted.Recap(question) + answer(r)}
		}
		return scripted.Annotate(r)
	}})
	s.config.Curator.Batch = 1
	return s, &asked
}

// TestPresentStatements tests the question at a thread's end for the present statements of entries whose facts have
// changed, and that have enough facts. An answer changes the statement and nothing else, and unchanged entries are not
// asked about again.
func TestPresentStatements(t *testing.T) {
	t.Parallel()
	s, asked := presenting(t, nil)
	if err := s.run("present"); err != nil {
		t.Fatal(err)
	}
	s.lawful("present")
	restated := s.column("present", `SELECT at / 1000000000000 FROM revision WHERE field = 'present' ORDER BY id`)
	if fmt.Sprint(restated) != "[6 9]" { // at the end of the first thread there are three facts
		t.Errorf("the statement was written in the scenes %v", restated)
	}
	if n := s.count("present",
		`SELECT count(*) FROM glossary_entry WHERE present LIKE 'It is as its % lines say.' AND present_scene = 9`); n != 1 {
		t.Error("the entry has no statement of the end")
	}
	if n := s.count("present", `SELECT count(*) FROM claim WHERE until_at > 0`); n > 0 {
		t.Errorf("%d facts were closed", n)
	}
	if *asked > 4 { // the summaries of three threads and the curator's question share them
		t.Errorf("%d questions", *asked)
	}
}

// TestPresentStatementsWhereTheyChange: a few events are no reason to ask again what an entry is now. Many are, and so
// is the end of the story.
func TestPresentStatementsWhereTheyChange(t *testing.T) {
	t.Parallel()
	var threads [][]string
	for n := range 7 {
		threads = append(threads, []string{fmt.Sprintf("The Lantern burned for %d nights.", n+1)})
	}
	s, _ := presentingIn(t, threads, 2, nil)
	if err := s.run("events"); err != nil {
		t.Fatal(err)
	}
	s.lawful("events")
	restated := s.column("events", `SELECT at / 1000000000000 FROM revision WHERE field = 'present' ORDER BY id`)
	if fmt.Sprint(restated) != "[3 6 7]" {
		t.Errorf("the statement was written in the scenes %v", restated)
	}
}

// TestPresentStatementsOfALongThread: what entries are now is asked after each part of a thread, and before a part
// leaves the window that the thread fills alone.
func TestPresentStatementsOfALongThread(t *testing.T) {
	t.Parallel()
	var scenes []string
	for n := range 40 {
		scenes = append(scenes, prose("Latin", 4_000, uint64(n))+" The Lantern burned.")
	}
	s, _ := presentingIn(t, [][]string{scenes}, 1, nil)
	if err := s.run("long"); err != nil {
		t.Fatal(err)
	}
	s.lawful("long")
	stated := s.column("long", `SELECT at / 1000000000000 FROM revision WHERE field = 'present' ORDER BY id`)
	compacted := s.count("long", `SELECT count(*) FROM trace WHERE kind = 'compaction'`)
	if n := len(stated); n < 2 || n > compacted+1+len(scenes)/curator.PartScenes {
		t.Errorf("%d compactions, and statements in the scenes %v", compacted, stated)
	}
}

// TestPresentStatementOfASparseStory: one entry does not wait until many have changed.
func TestPresentStatementOfASparseStory(t *testing.T) {
	t.Parallel()
	var scenes []string
	for n := range 80 {
		scenes = append(scenes, prose("Latin", 4_000, uint64(n))+" The Lantern burned.")
	}
	for _, threads := range [][][]string{{scenes}, {scenes[:30], scenes[30:50], scenes[50:70], scenes[70:]}} {
		s, _ := presentingIn(t, threads, 1, nil)
		s.config.Curator.Batch, s.config.NoThreadSummaries = 16, true
		if err := s.run("sparse"); err != nil {
			t.Fatal(err)
		}
		s.lawful("sparse")
		stated := s.column("sparse", `SELECT at / 1000000000000 FROM revision WHERE field = 'present' ORDER BY id`)
		if n := len(stated); n < 2 || n > len(scenes)/curator.PartScenes+1 {
			t.Errorf("%d threads: statements in the scenes %v", len(threads), stated)
		}
		if n := s.count("sparse", `SELECT count(*) FROM call WHERE purpose IN ('curate', 'summarise')`) - s.count(
			"sparse", `SELECT count(*) FROM compaction`); n > 2*len(stated) {
			t.Errorf("%d threads: %d questions for %d statements", len(threads), n, len(stated))
		}
	}
}

// TestPresentStatementOfALongEntry tests an entry with more facts than a question shows of one. It gets a statement,
// too, from its former one, its states and its newest facts.
func TestPresentStatementOfALongEntry(t *testing.T) {
	t.Parallel()
	asked := 0
	s, _ := presentingIn(t, lanterns(), 50, func(r scripted.Request) string {
		_, shown, _ := strings.Cut(r.Messages[len(r.Messages)-1].Content, "<outdated>")
		question, _, _ := strings.Cut(shown, "</outdated>")
		if asked++; !strings.Contains(question, fmt.Sprintf("%d nights, and 50.", 3*asked)) {
			t.Errorf("question %d does not show the newest fact", asked)
		}
		if asked > 1 && (strings.Contains(question, " 1 nights, and") ||
			!strings.Contains(question, "It burned for long.")) {
			t.Errorf("question %d does not show the former statement in place of what it sums up", asked)
		}
		return `<present id="1">It burned for long.</present>`
	})
	if err := s.run("long"); err != nil {
		t.Fatal(err)
	}
	s.lawful("long")
	if n := s.count("long", `SELECT count(*) FROM glossary_entry WHERE present <> ''`); n != 1 || asked != 3 {
		t.Errorf("%d statements after %d questions", n, asked)
	}
}

// TestStatesEndInAStatement: the statement of what an entry is now ends the states that it names, and the entry shows
// it.
func TestStatesEndInAStatement(t *testing.T) {
	t.Parallel()
	s, _ := presenting(t, func(scripted.Request) string {
		return `<present id="1" ended="1, 2">It burned for long.</present>`
	})
	if err := s.run("ended"); err != nil {
		t.Fatal(err)
	}
	s.lawful("ended")
	if n := s.count("ended", `SELECT count(*) FROM claim WHERE id IN (1, 2) AND until_scene = 6`); n != 2 {
		t.Errorf("%d states have ended", n)
	}
	// the third thread's answer has nothing left to end
	if n := s.count("ended", `SELECT count(*) FROM claim WHERE until_at > 0`); n != 2 {
		t.Errorf("%d facts were closed", n)
	}
	if n := s.count("ended", `SELECT count(*) FROM glossary_entry WHERE present_scene = 9`); n != 1 {
		t.Error("the statement is not of the end")
	}
}

// TestPresentStatementsByHand: annotator curate has the statements written that a run without a curator left out,
// unless it is kept to a thread.
func TestPresentStatementsByHand(t *testing.T) {
	t.Parallel()
	s, _ := presenting(t, nil)
	s.config.Curator.Off = true
	if err := s.run("present"); err != nil {
		t.Fatal(err)
	}
	stated := func() int { return s.count("present", `SELECT count(*) FROM glossary_entry WHERE present <> ''`) }
	if s.curate("present", 300); stated() != 0 {
		t.Error("a statement was written for a thread")
	}
	if s.curate("present"); stated() != 1 {
		t.Errorf("%d statements", stated())
	}
	s.verify("present")
}

// TestStatesEndInAStatementAlone tests that an answer to a question for statements alone also ends states, without any
// tentative entry.
func TestStatesEndInAStatementAlone(t *testing.T) {
	t.Parallel()
	asked := 0
	s, _ := presenting(t, func(scripted.Request) string {
		if asked++; asked == 1 { // the entry is tentative
			return `<present id="1">It burned.</present>`
		}
		return `<present id="1" ended="1, 2">It burned for long.</present>`
	})
	if err := s.run("ended"); err != nil {
		t.Fatal(err)
	}
	s.lawful("ended")
	if n := s.count("ended", `SELECT count(*) FROM revision v JOIN call c USING (trace_id) WHERE v.field = 'claim' AND c.purpose = 'summarise'`); n != 2 {
		t.Errorf("%d states have ended by a question for statements alone", n)
	}
}

// TestPresentStatementsWithoutAnswer: what is asked in vain is not asked again before the facts change, and the run
// ends.
func TestPresentStatementsWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing":        "",
		"another entry":  `<present id="99">It burns.</present>`,
		"not closed":     `<present id="1">It burns.`,
		"no words":       `<present id="1"> - </present>`,
		"too many words": `<present id="1">` + strings.Repeat("word ", 2_000) + `</present>`,
	} {
		s, _ := presenting(t, func(r scripted.Request) string { return answer })
		if err := s.run("none"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.lawful("none")
		if n := s.count("none", `SELECT count(*) FROM revision WHERE field = 'present'`); n != 0 {
			t.Errorf("%s: %d statements", name, n)
		}
		asked := s.count("none",
			`SELECT count(*) FROM history WHERE field = 'curator_decision' AND new_value ->> '$.decision' = 'UNSTATED'`)
		if asked != 2 {
			t.Errorf("%s: asked in vain %d times", name, asked)
		}
	}
}

// TestPresentStatementsAfterKills: a run that is killed after any of its transitions asks what the undisturbed one
// asks.
func TestPresentStatementsAfterKills(t *testing.T) {
	t.Parallel()
	s, _ := presenting(t, nil)
	s.killThroughout(1, 3)
}
