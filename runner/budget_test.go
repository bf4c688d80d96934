package runner_test

import (
	"testing"

	"annotator/internal/scripted"
)

// TestBudgetFollowsTheServer: where nobody sets the context budget, it is the model's context between two bounds, and a
// resumed run keeps it.
func TestBudgetFollowsTheServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                              string
		listed, configured, want, resumed int // tokens; resumed: with a server that takes 131,072 and no setting
	}{
		{"long", 131_072, 0, 65_536, 65_536},
		{"middle", 48_000, 0, 48_000, 48_000},
		{"short", 20_000, 0, 32_768, 32_768}, // which is lowered as long as the server takes less
		{"set", 131_072, 100_000, 100_000, 100_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			most := 0
			see := func(r scripted.Request) { most = max(most, r.Tokens+r.MaxTokens) }
			s := newStage(t, story{threads: 2, scenes: 2, words: 200},
				scripted.Options{MaxModelLen: test.listed, OnRequest: see})
			s.config.ContextBudget, s.config.Limit, s.config.Preflight = test.configured, 2, true
			if err := s.run("run"); err != nil {
				t.Fatal(err)
			}
			if got := s.state("run").Budget; got != test.want {
				t.Errorf("a context of %d gives a budget of %d, not %d", test.listed, got, test.want)
			}
			if most > min(test.want, test.listed) {
				t.Errorf("a request may have %d tokens", most)
			}
			s.serve(scripted.Options{})
			s.config.ContextBudget, s.config.Limit = 0, 0
			if err := s.run("run"); err != nil {
				t.Fatal(err)
			}
			if got := s.state("run").Budget; got != test.resumed {
				t.Errorf("the run goes on with a budget of %d, not %d", got, test.resumed)
			}
			s.verify("run")
		})
	}
}
