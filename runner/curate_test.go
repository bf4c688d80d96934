package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/curator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/runner"
	"annotator/runner/notify"
)

// TestCurateByHand curates the tentative entries of a run in any state, and can be limited to a thread.
func TestCurateByHand(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 3, scenes: 3}, scripted.Options{Strict: true, Script: judging})
	s.config.Curator.Off, s.config.Limit = true, 7
	if err := s.run("hand"); err != nil {
		t.Fatal(err)
	}
	threads, err := s.open("hand").Threads.All(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	before := s.count("hand", `SELECT count(*) FROM glossary_entry`)
	inThread := s.count("hand", `SELECT count(*) FROM glossary_entry WHERE first_scene BETWEEN 4 AND 6`)
	at := slices.IndexFunc(threads, func(t annotator.Thread) bool { return t.Order >= 7*annotator.OrderStep })
	if told := s.curate("hand", threads[at-1].ID); inThread == 0 || len(told) != inThread {
		t.Errorf("%d entries of the thread, %d decisions", inThread, len(told))
	}
	s.verify("hand")
	s.curate("hand")
	if n := len(s.decisions("hand")); n != before {
		t.Errorf("%d of %d entries are decided on", n, before)
	}
	// The question is behind the scenes that have been read, and shows nothing of those that have not.
	s.config.Limit = 0
	if err := s.run("hand"); err != nil {
		t.Fatal(err)
	}
	s.verify("hand")
	s.noViolations()
}

// curate curates by hand, and returns the decisions.
func (s *stage) curate(name string, threads ...int64) (told []curator.Decision) {
	s.t.Helper()
	r, end, err := prepare(job{Corpus: s.corpus, DB: s.db(name), Base: s.base, Config: s.config}, &notify.Bus{}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer end()
	err = r.Curate(context.Background(), threads, func(_ *annotator.Entry, d curator.Decision) {
		told = append(told, d)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return told
}

// TestCurateByHandInAnOpenScene tests that the curator is not shown the turn of a scene that was interrupted.
func TestCurateByHandInAnOpenScene(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3},
		scripted.Options{Strict: true, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if shownTo(r) == nil && len(r.Messages) > 12 {
				return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
			}
			return nil
		}})
	s.config.Curator.Off = true
	if err := s.run("open"); !errors.Is(err, annotator.Halted) {
		t.Fatal(err)
	}
	if open := s.state("open").OpenScene; open == 0 {
		t.Fatal("no scene is open")
	}
	var bodies []string
	s.serve(scripted.Options{Strict: true, OnRequest: func(r scripted.Request) {
		bodies = append(bodies, string(r.Body))
	}})
	if len(s.curate("open")) == 0 || s.state("open").OpenScene == 0 {
		t.Error("nothing was curated, or the scene is not open any more")
	}
	s.noViolations()
	open := fmt.Sprintf(`scene number=\"%d\"`, s.state("open").OpenScene)
	if slices.ContainsFunc(bodies, func(body string) bool { return strings.Contains(body, open) }) {
		t.Error("the curator was shown the scene that is still being read")
	}
	s.verify("open")
}

// TestCuratorCost measures what the curator's questions cost in tokens, about one entry or several, under both prompts;
// docs/curator.md has the figures.
func TestCuratorCost(t *testing.T) {
	t.Parallel()
	told := story{threads: 4, scenes: 8, words: 1_100}
	windows := []int{16_384, 32_768, 65_536}
	if !longtest.Enabled() {
		told, windows = story{threads: 3, scenes: 4, words: 300}, windows[:1]
	}
	several := runner.Defaults().Curator.Batch
	for _, window := range windows {
		one := costOfCurator(t, told, window, curator.Shared, 1)
		shared := costOfCurator(t, told, window, curator.Shared, several)
		replaced := costOfCurator(t, told, window, curator.Replaced, several)
		if shared == 0 || 10*shared > 9*one || 5*shared > 4*replaced {
			t.Errorf("window %d: %d uncached tokens for several at a time under the shared prompt, %d one by one, "+
				"%d under its own prompt",
				window, shared, one, replaced)
		}
	}
}

// costOfCurator returns the uncached tokens of all questions of a run, and logs a row of the table.
func costOfCurator(t *testing.T, told story, window int, prompt curator.Prompt, batch int) int {
	s := newStage(t, told, scripted.Options{Strict: true})
	s.config.ContextBudget, s.config.Curator.Prompt, s.config.Curator.Batch = window, prompt, batch
	if err := s.run("cost"); err != nil {
		t.Fatal(err)
	}
	const of = ` FROM call WHERE outcome = 'ok' AND purpose = 'curate'`
	questions, entries := s.count("cost", `SELECT count(*)`+of), s.count("cost", `SELECT count(*) FROM glossary_entry`)
	tokens, uncached := s.count("cost", `SELECT sum(prompt_tokens)`+of),
		s.count("cost", `SELECT sum(prompt_tokens - cached_tokens)`+of)
	others := s.count("cost", `SELECT sum(prompt_tokens - cached_tokens) FROM call WHERE outcome = 'ok' AND purpose `+
		`<> 'curate'`)
	t.Logf("| %d | %s | %d | %d | %d | %d | %d | %d |", window, prompt, batch, questions, tokens/entries,
		uncached/entries, uncached, others)
	return uncached
}

// TestCuratorQuestionsAreBounded tests that questions are bounded in tokens, too, and are about as many entries as that
// allows. Without room even for one question alone, the entries stay as they are, and no question is asked.
func TestCuratorQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	longest, most := 0, 0
	s := newStage(t, story{threads: 1, scenes: 40, words: 300},
		scripted.Options{Strict: true, OnRequest: func(r scripted.Request) {
			mu.Lock()
			defer mu.Unlock()
			if shown := shownTo(r); shown != nil {
				longest, most = max(longest, len(r.Messages[len(r.Messages)-1].Content)), max(most, len(shown))
			}
		}})
	s.config.ContextBudget, s.config.Curator.Batch = 65_536, 1_000
	if err := s.run("long"); err != nil {
		t.Fatal(err)
	}
	s.verify("long")
	if entries := s.count("long", `SELECT count(*) FROM glossary_entry`); most < 9 || most >= entries ||
		longest > 36_000 {
		t.Errorf("a question is about %d of %d entries, and one has %d characters", most, entries, longest)
	}
	most, s.config.Curator.MaxTokens = 0, s.config.ContextBudget
	if err := s.run("none"); err != nil {
		t.Fatal(err)
	}
	s.verify("none")
	for id, made := range s.decisions("none") {
		if len(made) != 1 || made[0].Action != curator.Keep || !strings.Contains(made[0].Reason, "no room") {
			t.Errorf("entry %d: %+v", id, made)
		}
	}
	if most > 0 {
		t.Error("a question was put for the answer to which there is no room")
	}
}
