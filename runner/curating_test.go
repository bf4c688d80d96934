package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/curator"
	"annotator/model/scripted"
	"annotator/storage"
)

var entryID = regexp.MustCompile(`<entry id="(\d+)"`)

// shownTo returns the ids of the entries that the curator is shown, the candidate first; none where the request is for
// something else.
func shownTo(r scripted.Request) (ids []int64) {
	_, shown, ok := strings.Cut(r.Messages[len(r.Messages)-1].Content, "\n<candidate>\n")
	if !ok {
		return nil
	}
	for _, match := range entryID.FindAllStringSubmatch(shown, -1) {
		var id int64
		_, _ = fmt.Sscan(match[1], &id)
		ids = append(ids, id)
	}
	return ids
}

// askedAgain reports whether the curator is asked a second time.
func askedAgain(r scripted.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Content, "could not be used")
}

// judging is the ordinary script, but for a curator who decides in every way there is, going by the entry's id.
func judging(r scripted.Request) scripted.Reply {
	shown := shownTo(r)
	if shown == nil {
		return scripted.Annotate(r)
	}
	switch id := shown[0]; {
	case id%7 == 1:
		return scripted.Reply{Text: `{"decision":"REJECT","reason":"A {passing} word."}`}
	case id%7 == 2 && len(shown) > 1:
		return scripted.Reply{Text: fmt.Sprintf(`{"decision":"MERGE","target":%d,"reason":"The same."}`, shown[1])}
	case id%7 == 3:
		return scripted.Reply{Text: fmt.Sprintf(`{"decision":"REVISE","definition":"Number %d, put in other words.","reason":"Unclear."}`, id)}
	case id%7 == 4 && !askedAgain(r):
		return scripted.Reply{Text: "I would confirm it."}
	case id%7 == 5:
		return scripted.Reply{Text: `{"decision":"MERGE","target":999999}`}
	}
	return scripted.Reply{Text: `{"decision":"CONFIRM","reason":"It is named in the story."}`}
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

// decisions returns what was decided on each entry, in order.
func (s *stage) decisions(name string) map[int64][]curator.Decision {
	s.t.Helper()
	all := map[int64][]curator.Decision{}
	g := s.open(name).Glossary()
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
			all[e.ID] = append(all[e.ID], d)
		}
	}
	return all
}

// TestCuratorDecidesOnEveryEntry once, in every way that there is.
func TestCuratorDecidesOnEveryEntry(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 3, scenes: 5}, scripted.Options{Strict: true, Script: judging})
	if err := s.run("judged"); err != nil {
		t.Fatal(err)
	}
	s.verify("judged")
	s.noViolations()
	made := map[curator.Verdict]int{}
	all := s.decisions("judged")
	g := s.open("judged").Glossary()
	for e, err := range g.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(all[e.ID]) != 1 {
			t.Errorf("entry %d (%s): %d decisions", e.ID, e.Name(), len(all[e.ID]))
			continue
		}
		d := all[e.ID][0]
		made[d.Verdict]++
		want := map[curator.Verdict]annotator.Status{
			curator.Confirm: annotator.Confirmed, curator.Reject: annotator.Retired, curator.Merge: annotator.Merged,
			curator.Revise: annotator.Tentative, curator.None: annotator.Tentative,
		}[d.Verdict]
		if e.Status != want {
			t.Errorf("entry %d is %s after %s", e.ID, e.Status, d.Verdict)
		}
	}
	for _, verdict := range []curator.Verdict{curator.Confirm, curator.Reject, curator.Merge, curator.Revise, curator.None} {
		if made[verdict] == 0 {
			t.Errorf("nothing was decided by %s: %v", verdict, made)
		}
	}
	// An answer that cannot be used is kept, with the question put again once.
	if n := s.count("judged", `SELECT count(*) FROM call WHERE purpose = 'curate' AND outcome = 'malformed' AND raw IS NOT NULL`); n <= 2*made[curator.None] {
		t.Errorf("%d unusable answers, %d entries left as they were", n, made[curator.None])
	}
}

// TestCuratorNeverConfirmsByDefault whatever it is answered with.
func TestCuratorNeverConfirmsByDefault(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]scripted.Script{
		"empty": answers(""), "thought": answers(`<think>{"decision":"CONFIRM","reason":"yes"}`), "cut": answers(`{"decision":"CONFIRM","reason":"ye`),
		"two": answers(`{"decision":"CONFIRM"}{"decision":"REJECT","reason":"no"}`),
		"calls": func(r scripted.Request) scripted.Reply {
			reply := answers(`{"decision":"CONFIRM"}`)(r)
			if shownTo(r) != nil {
				reply.ToolCalls = []annotator.ToolCall{{Name: "glossary_update", Arguments: `{"entry_id":1,"status":"confirmed"}`}}
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
				if len(made) != 1 || made[0].Verdict != curator.None || made[0].Reason == "" {
					t.Errorf("entry %d: %+v", id, made)
				}
			}
			entries := s.count("asked", `SELECT count(*) FROM glossary_entry`)
			each := 2 // the question, and its correction
			if name == "empty" || name == "thought" {
				each = s.config.Retry.Attempts // of the question: there is nothing to correct
			}
			if n := s.count("asked", `SELECT count(*) FROM call WHERE purpose = 'curate'`); entries == 0 || n != each*entries {
				t.Errorf("%d questions about %d entries", n, entries)
			}
		})
	}
}

// TestCuratorThatIsRefused: a question that the server will never answer leaves the entry as it is, and the story goes on.
func TestCuratorThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 2}, scripted.Options{Strict: true, Fault: func(_ int, r scripted.Request) *scripted.Fault {
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
		if len(made) != 1 || made[0].Verdict != curator.None || !strings.Contains(made[0].Reason, "not nice") {
			t.Errorf("entry %d: %+v", id, made)
		}
	}
}

// TestCuratorHalts where the endpoint is of no use, and goes on with the next entry when it is.
func TestCuratorHalts(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Script: judging})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm := dump(t, s.db("calm"))
	asked := 0
	s.serve(scripted.Options{Strict: true, Script: judging, Fault: func(_ int, r scripted.Request) *scripted.Fault {
		if shownTo(r) == nil {
			return nil
		}
		if asked++; asked < 4 {
			return nil
		}
		return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
	}})
	if err := s.run("halted"); !errors.Is(err, annotator.Halted) {
		t.Fatalf("err = %v", err)
	}
	s.verify("halted")
	s.serve(scripted.Options{Strict: true, Script: judging})
	if err := s.run("halted"); err != nil {
		t.Fatal(err)
	}
	s.compareBut("halted", calm, "run_state ")
}

// TestCuratorStops between two entries, and goes on with the next.
func TestCuratorStops(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Script: judging})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm := dump(t, s.db("calm"))
	stops, decided := 0, 0
	for {
		var watched bus
		r, end, err := prepare(job{Corpus: s.corpus, DB: s.db("stopped"), Base: s.base, Config: s.config}, &watched, nil)
		if err != nil {
			t.Fatal(err)
		}
		watched.Subscribe(func(n annotator.Notice) {
			if n.Kind == annotator.NoticeDecision {
				decided++
				r.Stop()
			}
		})
		err = r.Run(context.Background())
		end()
		if err == nil {
			break
		}
		if stops++; !errors.Is(err, annotator.Interrupted) || stops > 100 {
			t.Fatalf("stop %d: %v", stops, err)
		}
		s.verify("stopped")
	}
	if n := len(s.decisions("calm")); stops == 0 || decided != n {
		t.Errorf("%d stops, %d decisions, undisturbed %d", stops, decided, n)
	}
	s.compareBut("stopped", calm, "run_state ")
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

// TestCuratorFitsBesideAFullWindow: the question follows the window, and is asked alone where that leaves no room for it.
func TestCuratorFitsBesideAFullWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []int{5_000, 60_000} {
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
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Script: judging})
	if err := s.run("merged"); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	g := s.open("merged").Glossary()
	merged := 0
	for e, err := range g.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Status != annotator.Merged {
			continue
		}
		merged++
		found, err := g.Lookup(ctx, e.Term)
		if err != nil || found.ID != e.MergedInto && !leadsTo(t, g, e.MergedInto, found.ID) {
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
