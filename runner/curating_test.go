package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/curator"
	"annotator/internal/scripted"
	"annotator/storage"
)

// shownTo returns the entries that the curator is asked about; none where the request is for something else.
func shownTo(r scripted.Request) []scripted.Candidate {
	return scripted.Candidates(r.Messages[len(r.Messages)-1].Content)
}

// askedAgain reports whether the curator is asked a second time.
func askedAgain(r scripted.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Content, "could not be used")
}

// deciding is the ordinary script, but for a curator who decides by a rule.
func deciding(decide func(r scripted.Request, c scripted.Candidate) map[string]any) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if shownTo(r) == nil {
			return scripted.Annotate(r)
		}
		return scripted.Decide(r.Messages[len(r.Messages)-1].Content, func(c scripted.Candidate) map[string]any {
			return decide(r, c)
		})
	}
}

// judging is a curator who decides in every way there is, going by the ids of entries. Some are left out of the answer
// or get a decision that cannot be carried out, and some answers are of no use at all.
func judging(r scripted.Request) scripted.Reply {
	if shown := shownTo(r); shown != nil && shown[0].Entry%5 == 3 && !askedAgain(r) {
		return scripted.Reply{Text: "I would confirm all of them."}
	}
	return deciding(func(r scripted.Request, c scripted.Candidate) map[string]any {
		switch {
		case c.Entry%7 == 1:
			return map[string]any{"decision": "REJECT", "reason": "A {passing} word."}
		case c.Entry%7 == 2 && len(c.Similar) > 0:
			return map[string]any{"decision": "MERGE", "target": c.Similar[0], "reason": "The same."}
		case c.Entry%7 == 3:
			words := fmt.Sprintf("Number %d, put in other words.", c.Entry)
			return map[string]any{
				"decision": "REVISE", "facts": []map[string]any{{"text": words}},
				"close": []map[string]any{{"fact": 1, "by": 1}}, "reason": "Unclear.",
			}
		case c.Entry%7 == 4 && !askedAgain(r):
			return nil
		case c.Entry%7 == 5:
			return map[string]any{"decision": "MERGE", "target": 999999}
		}
		return map[string]any{"decision": "CONFIRM", "reason": "It is named in the story."}
	})(r)
}

// answers is a curator who gives the same answer to every question.
func answers(text string) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if shownTo(r) == nil {
			return scripted.Annotate(r)
		}
		return scripted.Reply{Text: text}
	}
}

// decisions returns what was decided on each entry, in order. That it is to be asked about again is no decision.
func (s *stage) decisions(name string) map[int64][]curator.Decision {
	s.t.Helper()
	all := map[int64][]curator.Decision{}
	g := s.open(name).Glossary
	for e, err := range g.All(context.Background()) {
		if err != nil {
			s.t.Fatal(err)
		}
		history, err := g.Revisions(context.Background(), e.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, r := range history {
			if r.Field != annotator.FieldCuratorDecision {
				continue
			}
			var d curator.Decision
			if err := json.Unmarshal([]byte(r.New), &d); err != nil {
				s.t.Fatal(err)
			}
			if d.Action != curator.AskAgain && d.Action != curator.AskRedundant { // these decide on no entry
				all[e.ID] = append(all[e.ID], d)
			}
		}
	}
	return all
}

// TestCuratorDecidesOnEveryEntry once, in every way that there is.
func TestCuratorDecidesOnEveryEntry(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 3, scenes: 5}, scripted.Options{Strict: true, Script: judging})
	if err := s.run("curated"); err != nil {
		t.Fatal(err)
	}
	s.verify("curated")
	s.noViolations()
	made := map[curator.Action]int{}
	all := s.decisions("curated")
	g := s.open("curated").Glossary
	for e, err := range g.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(all[e.ID]) != 1 {
			t.Errorf("entry %d (%s): %d decisions", e.ID, e.Name(), len(all[e.ID]))
			continue
		}
		d := all[e.ID][0]
		made[d.Action]++
		want := map[curator.Action]annotator.Status{
			curator.Confirm: annotator.Confirmed, curator.Reject: annotator.Retired, curator.Merge: annotator.Merged,
			curator.Revise: annotator.Confirmed, curator.Keep: annotator.Tentative,
		}[d.Action]
		if e.Status != want {
			t.Errorf("entry %d is %s after %s", e.ID, e.Status, d.Action)
		}
	}
	for _, action := range []curator.Action{
		curator.Confirm, curator.Reject, curator.Merge, curator.Revise,
		curator.Keep,
	} {
		if made[action] == 0 {
			t.Errorf("nothing was decided by %s: %v", action, made)
		}
	}
	// Who was asked about without a usable answer is asked about alone, once; and an answer that is of no use is kept.
	again := s.count("curated",
		`SELECT count(*) FROM history WHERE field = 'curator_decision' AND new_value LIKE '{"decision":"AGAIN"%'`)
	twice := s.count("curated",
		`SELECT count(*) - count(DISTINCT entry_id) FROM history WHERE new_value LIKE '{"decision":"AGAIN"%'`)
	if again <= made[curator.Keep] || twice > 0 {
		t.Errorf("%d entries were to be asked about again, %d of them twice, %d were left as they were", again, twice,
			made[curator.Keep])
	}
	if n := s.count("curated", `SELECT count(*) FROM call WHERE purpose = 'curate' AND outcome = 'malformed' AND `+
		`raw IS NOT NULL`); n < made[curator.Keep] {
		t.Errorf("%d unusable answers, %d entries left as they were", n, made[curator.Keep])
	}
}

// TestRevisedEntriesAreNotJudgedAgain: who revises an entry has judged it, so no question is asked for that alone.
func TestRevisedEntriesAreNotJudgedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 3}, scripted.Options{
		Strict: true, Script: deciding(func(scripted.Request, scripted.Candidate) map[string]any {
			return map[string]any{
				"decision": "REVISE", "facts": []string{"Put in other words."},
				"close": []map[string]any{{"fact": 1, "by": 1}}, "reason": "Unclear.",
			}
		}),
	})
	if err := s.run("run"); err != nil {
		t.Fatal(err)
	}
	s.verify("run")
	if n := s.count("run", `SELECT count(*) FROM glossary_entry WHERE status <> 'confirmed'`); n > 0 {
		t.Errorf("%d entries are not confirmed", n)
	}
	for id, made := range s.decisions("run") {
		if len(made) != 1 || made[0].Action != curator.Revise {
			t.Errorf("entry %d: %+v", id, made)
		}
	}
	if n := s.count("run", `SELECT count(*) FROM call WHERE purpose = 'curate'`); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// TestCuratorNeverConfirmsByDefault whatever it is answered with.
func TestCuratorNeverConfirmsByDefault(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]scripted.Script{
		"empty": answers(""), "thought": answers(`<think>{"decision":"CONFIRM","reason":"yes"}`),
		"cut": answers(`{"decision":"CONFIRM","reason":"ye`),
		"two": answers(`{"decision":"CONFIRM"}{"decision":"REJECT","reason":"no"}`),
		"calls": func(r scripted.Request) scripted.Reply {
			reply := answers(`{"decision":"CONFIRM"}`)(r)
			if shownTo(r) != nil {
				reply.ToolCalls = []annotator.ToolCall{{
					Name:      "glossary_update",
					Arguments: `{"entry_id":1,"status":"confirmed"}`,
				}}
			}
			return reply
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, story{threads: 1, scenes: 2}, scripted.Options{Strict: true, Script: script})
			if err := s.run("asked"); err != nil {
				t.Fatal(err)
			}
			s.verify("asked")
			if n := s.count("asked", `SELECT count(*) FROM glossary_entry WHERE status <> 'tentative'`); n > 0 {
				t.Errorf("%d entries are not tentative any more", n)
			}
			for id, made := range s.decisions("asked") {
				if len(made) != 1 || made[0].Action != curator.Keep || made[0].Reason == "" {
					t.Errorf("entry %d: %+v", id, made)
				}
			}
			entries := s.count("asked", `SELECT count(*) FROM glossary_entry`)
			questions := 1 + entries // about all of them, and about each alone
			if name == "empty" || name == "thought" {
				questions *= s.config.Retry.Attempts
			}
			if n := s.count("asked", `SELECT count(*) FROM call WHERE purpose = 'curate'`); entries < 2 ||
				n != questions {
				t.Errorf("%d questions about %d entries", n, entries)
			}
		})
	}
}

// TestCuratorThatIsRefused tests that a question that the server never answers leaves the entry as it is, and that the
// run continues.
func TestCuratorThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 2},
		scripted.Options{Strict: true, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if shownTo(r) == nil {
				return nil
			}
			return &scripted.Fault{Status: 400, Body: `{"error":{"message":"not nice","code":"content_filter"}}`}
		}})
	if err := s.run("refused"); err != nil {
		t.Fatal(err)
	}
	s.verify("refused")
	for id, made := range s.decisions("refused") {
		if len(made) != 1 || made[0].Action != curator.Keep || !strings.Contains(made[0].Reason, "not nice") {
			t.Errorf("entry %d: %+v", id, made)
		}
	}
}

// TestCuratorPassesOverThreadsWithoutScenes tests that the entries of the thread before them are decided on at the end
// of the one after.
func TestCuratorPassesOverThreadsWithoutScenes(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{}, scripted.Options{Strict: true})
	told := story{threads: 1, scenes: 2}
	s.corpus = filepath.Join(s.dir, "gap.corpus.db")
	w, err := corpus.Create(context.Background(), s.corpus)
	if err != nil {
		t.Fatal(err)
	}
	for thread := range int64(3) {
		first := 100 * (thread + 1)
		if err := w.Thread(context.Background(), first, ""); err != nil {
			t.Fatal(err)
		}
		post := annotator.Post{
			Thread: first, ID: first, Time: first, Name: "Storyteller",
			Body: told.body(int(thread), 0, 0),
		}
		if thread != 1 {
			post.Tags = []string{annotator.TagStory}
		}
		told.post(t, w, &post)
	}
	if err := w.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.run("gap"); err != nil {
		t.Fatal(err)
	}
	s.verify("gap")
	if n, made := s.count("gap", `SELECT count(*) FROM glossary_entry`), s.decisions("gap"); n < 3 || len(made) != n {
		t.Errorf("%d entries, %d of them decided on", n, len(made))
	}
}

// TestCuratorHalts tests that the curator halts if the endpoint has no usable answers, and continues with the next
// question when it has.
func TestCuratorHalts(t *testing.T) {
	t.Parallel()
	left := -1 // questions that are answered before the server denies them; below 0: all
	s := newStage(t, story{threads: 2, scenes: 3},
		scripted.Options{Strict: true, Script: judging, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if shownTo(r) == nil || left < 0 {
				return nil
			}
			if left > 0 {
				left--
				return nil
			}
			return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
		}})
	s.config.Curator.Batch = 3
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm, halts := dump(t, s.db("calm")), 0
	for err := errors.New("not run yet"); err != nil; halts++ {
		left = 1
		if err = s.run("halted"); err != nil && !errors.Is(err, annotator.Halted) {
			t.Fatal(err)
		}
		s.verify("halted")
	}
	if halts < 4 {
		t.Errorf("%d runs", halts)
	}
	s.compareBut("halted", calm, "run_state ")
}

// TestCuratorStops between two questions, and goes on with the next.
func TestCuratorStops(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Script: judging})
	s.config.Curator.Batch = 2
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm := dump(t, s.db("calm"))
	decided := 0
	stops := s.runStopped("stopped", func(n annotator.Notice) bool {
		if n.Kind == annotator.NoticeDecision {
			decided++
		}
		return n.Kind == annotator.NoticeDecision
	})
	n := 0
	for _, made := range s.decisions("calm") {
		n += len(made)
	}
	if stops == 0 || decided != n {
		t.Errorf("%d stops, %d decisions, undisturbed %d", stops, decided, n)
	}
	s.compareBut("stopped", calm, "run_state ")
}

// runStopped runs a story again and again until it is finished, and stops each run at a notice. It returns how often it
// did.
func (s *stage) runStopped(name string, at func(annotator.Notice) bool) (stops int) {
	s.t.Helper()
	for {
		var watched bus
		r, end, err := prepare(s.job(name), &watched, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		watched.Subscribe(func(n annotator.Notice) {
			if at(n) {
				r.Stop()
			}
		})
		err = r.Run(context.Background())
		end()
		s.verify(name)
		if err == nil {
			return stops
		}
		if stops++; !errors.Is(err, annotator.Interrupted) || stops > 100 {
			s.t.Fatalf("stop %d: %v", stops, err)
		}
	}
}

// TestCuratorIsOff on request.
func TestCuratorIsOff(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 2}, scripted.Options{})
	s.config.Curator.Off = true
	if err := s.run("off"); err != nil {
		t.Fatal(err)
	}
	if n := s.count("off", `SELECT count(*) FROM call WHERE purpose = 'curate'`); n > 0 {
		t.Errorf("%d questions", n)
	}
}

// TestCuratorFitsBesideAFullWindow tests that the question follows the window, and is asked alone where that leaves no
// room for it.
func TestCuratorFitsBesideAFullWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []int{5_900, 60_000} {
		var mu sync.Mutex
		alone, behind := 0, 0
		s := newStage(t, story{threads: 2, scenes: 6, words: 300}, scripted.Options{
			Strict: true, MaxModelLen: window, OnRequest: func(r scripted.Request) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case shownTo(r) == nil:
				case len(r.Messages) == 2:
					alone++
				default:
					behind++
				}
			},
		})
		s.config.ContextBudget, s.config.MaxTokens = window, 400
		if err := s.run("full"); err != nil {
			t.Fatal(err)
		}
		s.verify("full")
		if small := window < 10_000; alone+behind == 0 || small && alone == 0 || !small && alone > 0 {
			t.Errorf("window %d: %d questions alone, %d behind the window", window, alone, behind)
		}
		if n := s.count("full", `SELECT count(*) FROM call WHERE purpose = 'curate' AND outcome <> 'ok'`); n > 0 {
			t.Errorf("window %d: %d questions failed", window, n)
		}
	}
}

// TestMergedNameLeadsOn: a later scene that names a merged entry is shown the one that took its place.
func TestMergedNameLeadsOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 4, scenes: 4}, scripted.Options{Strict: true, Script: judging})
	if err := s.run("merged"); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	g := s.open("merged").Glossary
	merged := 0
	for e, err := range g.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Status != annotator.Merged {
			continue
		}
		merged++
		found, err := g.Named(ctx, e.Term)
		if err != nil || len(found) == 0 ||
			found[0].ID != e.MergedInto && !leadsTo(t, g, e.MergedInto, found[0].ID) {
			t.Errorf("%q leads to %v (%v), merged into %d", e.Term, found, err, e.MergedInto)
		}
	}
	if merged == 0 {
		t.Error("nothing was merged")
	}
}

// leadsTo follows entries that were merged in their turn.
func leadsTo(t *testing.T, g *storage.Glossary, from, to int64) bool {
	t.Helper()
	for from != 0 && from != to {
		e, err := g.Entry(context.Background(), from)
		if err != nil {
			t.Fatal(err)
		}
		from = e.MergedInto
	}
	return from == to
}
