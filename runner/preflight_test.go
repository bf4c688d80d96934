package runner_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

var promptTokens = regexp.MustCompile(`"prompt_tokens":\d+`)

// longTokens has a server count like a tokenizer with longer tokens.
var longTokens = rewriting(func(body []byte) []byte {
	return promptTokens.ReplaceAllFunc(body, func(field []byte) []byte {
		_, n, _ := strings.Cut(string(field), ":")
		counted, _ := strconv.Atoi(n)
		return fmt.Appendf(nil, `"prompt_tokens":%d`, counted*7/10)
	})
})

// TestEstimatesAfterAnotherModel: the first prompt for another model is estimated by what the preflight counted with
// that one, not by what the former model counted.
func TestEstimatesAfterAnotherModel(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 30}, scripted.Options{Strict: true})
	s.config.Limit = 25
	if err := s.run("changed"); err != nil {
		t.Fatal(err)
	}
	former := s.count("changed", `SELECT max(id) FROM call`)
	s.serve(scripted.Options{Strict: true, Model: "another"})
	s.transport, s.config.Model, s.config.Accept, s.config.Preflight = longTokens, "another",
		map[string]bool{"model": true}, true
	if err := s.run("changed"); err != nil {
		t.Fatal(err)
	}
	s.verify("changed")
	off := s.count("changed", fmt.Sprintf(`SELECT 100 * abs(estimate - prompt_tokens) / prompt_tokens FROM call
		WHERE purpose = 'annotate' AND id > %d ORDER BY id LIMIT 1`, former))
	if off > 10 { // 43 % by the former model's tokens
		t.Errorf("the first estimate is %d %% off", off)
	}
}

// TestPreflightTeachesEstimates: the first prompt for a scene is estimated by what the server counted of the preflight,
// which a resumed run does not learn twice.
func TestPreflightTeachesEstimates(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 3}, scripted.Options{Strict: true})
	s.config.Limit = 1
	s.transport = longTokens
	shareOff := func(name string) int {
		return s.count(name, `SELECT 100 * abs(estimate - prompt_tokens) / prompt_tokens FROM call WHERE purpose = 'annotate' ORDER BY id LIMIT 1`)
	}
	for name, preflight := range map[string]bool{"guessed": false, "learned": true} {
		if s.config.Preflight = preflight; s.run(name) != nil {
			t.Fatal("the run does not end well")
		}
		s.verify(name)
	}
	if guessed, learned := shareOff("guessed"), shareOff("learned"); guessed < 15 || learned > 3 {
		t.Errorf("the first estimate is %d %% off without a preflight, %d %% with one", guessed, learned)
	}
	if err := s.run("learned"); err != nil {
		t.Fatal(err)
	}
	if n := s.count("learned", `SELECT count(*) FROM call WHERE purpose = 'probe' AND characters <> ''`); n != 1 {
		t.Errorf("%d probes are learned from", n)
	}
}
