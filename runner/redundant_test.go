package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"annotator/internal/scripted"
	"annotator/view"
)

// collars is a story of two threads, with an entry for a person and some for things. It names one once and one under
// two names, and it comes back to another. It asks about such entries at the end, and gets an answer.
func collars(t *testing.T, answer string) (s *stage, questions *[]string) {
	t.Helper()
	questions = &[]string{}
	threads := [][]string{
		{"Wren wore a collar of fur. She hid the brass box, a coffer with nine locks, in the well."},
		{"The well was dry, and Wren laughed."},
	}
	quote := func(words string) string { return `","quote":"` + words + `"}` }
	updates := map[string]string{
		`<scene number="1"`: `{"term":"Wren","status":"new","tags":["person"],"facts":[
				{"text":"Wren wore a collar of fur.` + quote("Wren wore a collar of fur.") + `,
				{"text":"Wren hid the [[brass box]] in the [[well]].` + quote("She hid the brass box") + `]},
			{"term":"fur collar","status":"new","facts":[
				{"text":"The fur collar is of the fur of a fox, it seems.","identity":true,"kind":"inferred` +
			quote("a collar of fur") + `]},
			{"term":"brass box","status":"new","facts":[
				{"text":"The brass box was hidden in the [[well]] by [[Wren]].` + quote("She hid the brass box") + `]},
			{"term":"coffer","status":"new","facts":[
				{"text":"The coffer with nine locks was hidden in the [[well]] by [[Wren]].` +
			quote("She hid the brass box, a coffer with nine locks, in the well.") + `]},
			{"term":"well","status":"new","facts":[{"text":"The well is deep.` + quote("in the well") + `]}`,
		`<scene number="2"`: `{"term":"Wren","status":"update","facts":[{"text":"Wren laughed at the [[well]]."}]}`,
	}
	s = newTale(t, threads, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		question := r.Messages[len(r.Messages)-1].Content
		for scene, update := range updates {
			if strings.HasPrefix(question, scene) {
				return scripted.Reply{Text: "<codex_updates>[" + update + "]</codex_updates>"}
			}
		}
		reply := scripted.Annotate(r)
		if _, shown, found := strings.Cut(question, "\n<redundant>\n"); found {
			shown, _, _ = strings.Cut(shown, "</redundant>")
			*questions = append(*questions, shown)
			reply.Text = answer + reply.Text
		}
		return reply
	}})
	return s, questions
}

// TestRedundantEntries: the entries of a thing named once and of one under two names are asked about, once. What the
// story comes back to is not. An entry is dropped into another one that gets its fact, or is merged into it.
func TestRedundantEntries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer          string
		dropped, merged int
	}{
		{`<drop entry="2" into="Wren"/><same entry="4" as="3"/>`, 1, 1},
		{`<drop entry="2" into="1"></drop>`, 1, 0},
		{`<drop entry="2" into="Nobody"/><same entry="4" as="4"/>`, 0, 0},
		{`<drop entry="2" into="2"/><drop entry="4"/>`, 0, 0},
		{`<drop entry="5" into="1"/>`, 0, 0}, // not asked about
		{`<drop entry="2" into="1"/><drop entry="3" into="1"/><drop entry="4" into="1"/>`, 0, 0},
		{`<drop/>`, 0, 0},
		{``, 0, 0},
	} {
		s, questions := collars(t, test.answer)
		if err := s.run("collars"); err != nil {
			t.Fatal(err)
		}
		s.lawful("collars")
		dropped := s.count("collars", `SELECT count(*) FROM glossary_entry e JOIN claim c ON c.entry_id = 1
			WHERE e.id = 2 AND e.status = 'retired' AND c.text LIKE 'The fur collar%' AND c.until_at = 0
			AND EXISTS (SELECT 1 FROM evidence v WHERE v.entry_id = 1 AND v.claim_id = c.id)
			AND NOT EXISTS (SELECT 1 FROM value WHERE entry_id = 1 AND json ->> 'identity')`)
		merged := s.count("collars", `SELECT count(*) FROM glossary_entry WHERE id = 4 AND merged_into = 3`)
		if dropped != test.dropped || merged != test.merged {
			t.Errorf("%s: %d dropped, %d merged", test.answer, dropped, merged)
		}
		if n := s.count("collars", `SELECT count(*) FROM entry WHERE name IS NULL`); n != test.dropped+test.merged {
			t.Errorf("%s: %d entries are gone", test.answer, n)
		}
		asked := strings.Join(*questions, "")
		if len(*questions) != 1 || strings.Count(asked, "<entry ") != 3 ||
			!strings.Contains(asked, `<entry id="4" term="coffer" near="3 brass box">`) {
			t.Errorf("%s: asked %q", test.answer, *questions)
		}
		if n := s.count("collars", `SELECT count(*) FROM history WHERE field = 'curator_decision'
			AND new_value ->> '$.decision' = 'REDUNDANT'`); n != 3 {
			t.Errorf("%s: %d entries were asked about", test.answer, n)
		}
	}
}

// TestDroppedFactsThatAreTold: what the other entry says by the same words goes with the entry that is dropped.
func TestDroppedFactsThatAreTold(t *testing.T) {
	t.Parallel()
	s, _ := collars(t, `<drop entry="3" into="Wren"/><drop entry="2" into="Wren"/>`)
	if err := s.run("told"); err != nil {
		t.Fatal(err)
	}
	s.lawful("told")
	const retired = `SELECT count(*) FROM glossary_entry WHERE id IN (2, 3) AND status = 'retired'`
	const moved = `SELECT count(*) FROM claim WHERE entry_id = 1 AND until_at = 0 AND text LIKE `
	if s.count("told", retired) != 2 || s.count("told", moved+`'The brass box%'`) != 0 ||
		s.count("told", moved+`'The fur collar%'`) != 1 {
		t.Error("the facts of what was dropped are not where they belong")
	}
}

// TestNamesOfWhatWasDropped: the name of an entry that was dropped or merged leads to the one that took its place, and
// to itself before that.
func TestNamesOfWhatWasDropped(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, _ := collars(t, `<drop entry="2" into="Wren"/><same entry="4" as="3"/>`)
	if err := s.run("led"); err != nil {
		t.Fatal(err)
	}
	first, err := view.MomentAt(ctx, s.open("led"), view.Point{Kind: view.PointScene, ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	for moment, want := range map[view.Moment]map[string]int64{
		{}:    {"fur collar": 1, "Wren": 1, "coffer": 3, "lantern": 0},
		first: {"fur collar": 2, "Wren": 1, "coffer": 4, "lantern": 0},
	} {
		for name, id := range want {
			var got int64
			e, err := view.At(s.open("led"), moment).LedTo(ctx, name)
			if e != nil {
				got = e.ID
			}
			if err != nil || got != id {
				t.Errorf("%s leads to entry %d, %v; want %d", name, got, err, id)
			}
		}
	}
}

// TestSlightEntriesAtTheEnd: at the end of the story questions go on until each slight entry was asked about, once. An
// event and an entry with many facts are not slight.
func TestSlightEntriesAtTheEnd(t *testing.T) {
	t.Parallel()
	const things = 60 // of which a question is about 40 at most
	entry := func(term, tag string, facts int) string {
		var texts []string
		for n := range facts {
			texts = append(texts, fmt.Sprintf(`{"text":"The %s is fact %d.","quote":"the %s"}`, term, n, term))
		}
		return fmt.Sprintf(`{"term":%q,"status":"new","tags":[%q],"facts":[%s]}`, term, tag, strings.Join(texts, ","))
	}
	scenes := []string{"The duel and the tower,", "And then"}
	updates := [][]string{{entry("duel", "event", 1), entry("tower", "place", 5)}, {}}
	for n := range things { // a reply has a bounded number of entries
		scenes[n%2] += fmt.Sprintf(" the thing%d,", n)
		updates[n%2] = append(updates[n%2], entry(fmt.Sprintf("thing%d", n), "object", 1+n%4))
	}
	var asked []string
	s := newTale(t, [][]string{scenes}, 32_768,
		scripted.Options{Script: func(r scripted.Request) scripted.Reply {
			question := r.Messages[len(r.Messages)-1].Content
			var scene int
			if _, err := fmt.Sscanf(question, `<scene number="%d"`, &scene); err == nil {
				list := strings.Join(updates[scene-1], ",")
				return scripted.Reply{Text: "<codex_updates>[" + list + "]</codex_updates>"}
			}
			if _, shown, found := strings.Cut(question, "\n<redundant>\n"); found {
				shown, _, _ = strings.Cut(shown, "</redundant>")
				asked = append(asked, shown)
				return scripted.Reply{Text: "<drop/>"}
			}
			return scripted.Annotate(r)
		}})
	if err := s.run("slight"); err != nil {
		t.Fatal(err)
	}
	s.lawful("slight")
	all := strings.Join(asked, "")
	if len(asked) < 2 || strings.Count(all, "<entry ") != things || strings.Contains(all, "duel") ||
		strings.Contains(all, "tower") {
		t.Errorf("%d questions: %s", len(asked), all)
	}
}

// TestOneQuestionEndsAStory: the end of a short story asks for all that is due in one question, if the window has room.
// These are summaries, statements, states and slight entries. No state is asked about twice. What is left are entries
// that the answer has kept, and those that have got facts.
func TestOneQuestionEndsAStory(t *testing.T) {
	t.Parallel()
	fact := func(text, more string) string { return fmt.Sprintf(`{"text":%q%s}`, text, more) }
	var wren, things []string
	for i := range 5 {
		wren = append(wren, fact(fmt.Sprintf("Wren owns %d coats of wool.", i+2), `,"state":true`))
	}
	for i := range 3 {
		things = append(things, fmt.Sprintf(`{"term":"thing%d","status":"new","tags":["object"],"facts":[%s]}`, i,
			fact(fmt.Sprintf("The thing%d lay on the quay.", i), fmt.Sprintf(`,"quote":"the thing%d lay"`, i))))
	}
	updates := map[string]string{
		`<scene number="1"`: `{"term":"Wren","status":"new","tags":["person"],"facts":[` +
			strings.Join(wren, ",") + "]}",
		`<scene number="2"`: strings.Join(things, ",") + `,{"term":"Wren","status":"update","facts":[` +
			fact("Wren sold coats of wool.", "") + `]}`,
	}
	states, questions := map[string]int{}, []string{}
	s := newTale(t, [][]string{{"Wren had coats.", "Wren sold them; the thing0 lay, the thing1 lay, the thing2 lay."}},
		32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
			question := r.Messages[len(r.Messages)-1].Content
			for scene, update := range updates {
				if strings.HasPrefix(question, scene) {
					return scripted.Reply{Text: "<codex_updates>[" + update + "]</codex_updates>"}
				}
			}
			questions = append(questions, question)
			if _, shown, found := strings.Cut(question, "<states now="); found {
				shown, _, _ = strings.Cut(shown, "<since>")
				for line := range strings.Lines(shown) {
					if strings.Contains(line, "(state)") {
						states[line]++
					}
				}
			}
			reply := scripted.Annotate(r)
			if strings.Contains(question, "<redundant>") {
				reply.Text = `<drop entry="2" into="Wren"/>` + reply.Text
			}
			return reply
		}})
	if err := s.run("ended"); err != nil {
		t.Fatal(err)
	}
	s.lawful("ended")
	first := questions[0]
	for _, part := range []string{"<cumulative>", "<states now=", "<redundant>", "<outdated>"} {
		if !strings.Contains(first, part) {
			t.Errorf("the first question asks for no %s", part)
		}
	}
	if len(questions) > 2 {
		t.Errorf("%d questions: %s", len(questions), strings.Join(questions[1:], "\n---\n"))
	}
	for line, n := range states {
		if n > 1 {
			t.Errorf("%d questions are about %s", n, line)
		}
	}
	if len(states) != 5 {
		t.Errorf("asked about %d states of 5", len(states))
	}
}

// TestDroppedEntriesAreNoCandidates: an entry that one answer drops is in no question after it, also where the answer
// leaves others undecided.
func TestDroppedEntriesAreNoCandidates(t *testing.T) {
	t.Parallel()
	s, _ := collars(t, `<drop entry="2" into="Wren"/><same entry="4" as="3"/>`)
	s.config.Curator.Batch = 1
	if err := s.run("collars"); err != nil {
		t.Fatal(err)
	}
	s.lawful("collars")
	decided := `SELECT count(*) FROM history WHERE field = 'curator_decision' AND entry_id IN (2, 4)
		AND new_value ->> '$.decision' `
	if n := s.count("collars", decided+`IN ('DROP', 'MERGE')`); n != 2 {
		t.Errorf("%d entries are dropped or merged", n)
	}
	if n := s.count("collars", decided+`NOT IN ('DROP', 'MERGE', 'REDUNDANT')`); n != 0 {
		t.Errorf("%d decisions more on what was dropped", n)
	}
}

// TestRedundantEntriesAfterKills: a run that is killed after any of its transitions drops what the undisturbed one
// drops.
func TestRedundantEntriesAfterKills(t *testing.T) {
	t.Parallel()
	s, _ := collars(t, `<drop entry="2" into="Wren"/><same entry="4" as="3"/>`)
	s.sameAfterKills(6)
}
