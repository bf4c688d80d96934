package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestGrownAnswerFits: an answer that is all thought is asked for once more with more room, but with no more than the
// context has.
func TestGrownAnswerFits(t *testing.T) {
	t.Parallel()
	const context, most = 10_000, 800
	var thought strings.Builder
	for n := range most {
		fmt.Fprintf(&thought, "What was it that they said of number %d? ", n)
	}
	s := newStage(t, story{threads: 2, scenes: 14, words: 500},
		scripted.Options{MaxModelLen: context, Script: func(r scripted.Request) scripted.Reply {
			if asksSummary(r) && r.MaxTokens <= most {
				return scripted.Reply{Reasoning: thought.String(), FinishReason: "length"}
			}
			return summarised(r)
		}})
	s.config.ContextBudget, s.config.MaxTokens, s.config.SummaryTokens = context, 2_000, most
	if err := s.run("run"); err != nil {
		t.Fatal(err)
	}
	s.verify("run")
	if n := s.count("run", `SELECT count(*) FROM call WHERE decision = 'grow reply'`); n == 0 {
		t.Error("no answer was all thought")
	}
	if n := s.count("run", `SELECT count(*) FROM call WHERE outcome = 'prompt too long'`); n > 0 {
		t.Errorf("%d answers had more room than the context", n)
	}
	if n := s.count("run", `SELECT count(*) FROM episode WHERE author = 'rule'`); n > 0 {
		t.Errorf("%d summaries are by rule", n)
	}
}
