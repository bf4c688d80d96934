package runner_test

import (
	"testing"

	"annotator/internal/scripted"
)

// TestFirstRequestIsTooLong: where nothing says that the server's context is smaller than the budget, the first request
// is refused for the length of its reply. The scene is asked about again with a shorter limit, and no turn leaves.
func TestFirstRequestIsTooLong(t *testing.T) {
	t.Parallel()
	const window = 10_000
	longest := 0
	s := newStage(t, story{threads: 1, scenes: 3, words: 100},
		scripted.Options{MaxModelLen: window, OnRequest: func(r scripted.Request) {
			if r.Tokens+r.MaxTokens <= window && len(r.Tools) > 0 {
				longest = max(longest, r.MaxTokens)
			}
		}})
	s.config.ContextBudget, s.config.MaxTokens, s.transport = 32_768, 0, unlisted{}
	s.config.Curator.Off, s.config.NoThreadSummaries = true, true
	if err := s.run("refused"); err != nil {
		t.Fatal(err)
	}
	s.verify("refused")
	for query, want := range map[string]int{
		`SELECT count(*) FROM call WHERE outcome = 'prompt too long'`: 1,
		`SELECT recorded FROM run_state`:                              3,
		`SELECT quarantined FROM run_state`:                           0,
		`SELECT count(*) FROM compaction`:                             0,
	} {
		if got := s.count("refused", query); got != want {
			t.Errorf("%s: %d, not %d", query, got, want)
		}
	}
	if longest != window/4 {
		t.Errorf("replies have at most %d tokens, not %d", longest, window/4)
	}
}
