package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// TestQuestionsWithoutAnswers tests a server that answers only requests for scenes. It gets three questions of a kind,
// in any number of processes. For the curator the run halts before the fourth, and continues to its end after a user
// has restarted it. Optional questions are left out, and the run ends by itself.
func TestQuestionsWithoutAnswers(t *testing.T) {
	t.Parallel()
	var summons []annotator.ToolCall
	for n := range 6 {
		summons = append(summons, toolCall("summon_snapshot", fmt.Sprintf(`{"snapshot_id":1,"query":"Who is number `+
			`%d?"}`, n)))
	}
	for purpose, test := range map[string]struct {
		script scripted.Script
		asks   func(r scripted.Request) bool
		scenes int // a thread
	}{
		"curate":    {judging, func(r scripted.Request) bool { return shownTo(r) != nil }, 4},
		"summarise": {summarised, asksSummary, 9},
		"ask":       {summoning(5, summons...), asksSnapshot, 3},
	} {
		t.Run(purpose, func(t *testing.T) {
			t.Parallel()
			var well atomic.Bool
			s := newStage(t, story{threads: 2, scenes: test.scenes, words: 300}, scripted.Options{
				Strict: true, Script: test.script,
				Fault: func(_ int, r scripted.Request) *scripted.Fault {
					if well.Load() || !test.asks(r) {
						return nil
					}
					return &scripted.Fault{Status: 502, Body: "no"}
				},
			})
			s.snapshots, s.config.Curator.Off, s.config.Curator.Batch = purpose == "ask", purpose != "curate", 2
			if purpose == "summarise" {
				s.config.ContextBudget, s.config.MaxTokens = 6_050, 400
			}
			s.dieAt("run", purpose)
			s.dieAt("run", purpose)
			given := func(want int) {
				t.Helper()
				s.verify("run")
				if n := s.count("run", `SELECT count(*) FROM call WHERE decision = 'quarantine' AND purpose = '`+
					purpose+`'`); n != want {
					t.Errorf("%d questions were given up, want %d", n, want)
				}
			}
			for _, want := range []int{3, 6} {
				if purpose != "curate" {
					break
				}
				if err := s.run("run"); !errors.Is(err, annotator.Halted) ||
					!strings.Contains(err.Error(), "3 times in a row to "+purpose) {
					t.Fatal(err)
				}
				given(want)
				well.Store(want == 6)
			}
			if err := s.run("run"); err != nil {
				t.Fatal(err)
			}
			if purpose != "curate" {
				given(3)
			}
		})
	}
}

// asksSnapshot reports whether a request asks a snapshot.
func asksSnapshot(r scripted.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Content, "<question>")
}

// dieAt runs a story until a question of a purpose is given up, and leaves it there as a killed process would.
func (s *stage) dieAt(name, purpose string) {
	s.t.Helper()
	watched := bus{func(n annotator.Notice) {
		if n.Kind == annotator.NoticeCall && string(n.Purpose) == purpose &&
			strings.HasPrefix(n.Decision, "quarantine: ") {
			panic(purpose)
		}
	}}
	r, end, err := prepare(s.job(name), &watched, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer end()
	defer func() {
		if recover() != purpose {
			s.t.Error("no question was given up")
		}
	}()
	err = r.Run(context.Background())
	s.t.Errorf("the run came to its end: %v", err)
}
