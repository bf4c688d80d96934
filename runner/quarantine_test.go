package runner_test

import (
	"errors"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// TestContextTooSmallForTheScenes: a context in which a run can begin may still be too small for the scenes of a story.
// Then the run halts after some of them, rather than have the whole story quarantined in no time; with more context
// they are read.
func TestContextTooSmallForTheScenes(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 6, words: 3000}, scripted.Options{})
	enough := s.config.ContextBudget
	s.config.MaxTokens, s.config.ContextBudget = 500, 6_000
	s.config.Advise = withReason
	err := s.run("small")
	if !errors.Is(err, annotator.Halted) || !strings.Contains(err.Error(), string(annotator.ReasonSceneTooLong)) {
		t.Fatal(err)
	}
	s.verify("small")
	if run := s.state("small"); run.Quarantined != 3 {
		t.Errorf("%d scenes are quarantined", run.Quarantined)
	}
	s.config.ContextBudget = enough
	s.putBack("small")
	if err := s.run("small"); err != nil {
		t.Fatal(err)
	}
	s.verify("small")
}
