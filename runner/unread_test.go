package runner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/policy"
)

// TestBlockBesideCallsIsNotLostInSilence tests a reply with calls and a block. The calls run, the block does not, and
// the answer to the last call says so to the model. What it does then is carried out.
func TestBlockBesideCallsIsNotLostInSilence(t *testing.T) {
	t.Parallel()
	beside := func(text scripted.Reply, calls ...annotator.ToolCall) scripted.Reply {
		text.ToolCalls = calls
		return text
	}
	inText := families["Hermes"]([]annotator.ToolCall{creates("Oil")})
	for name, test := range map[string]struct {
		first scripted.Reply
		notes int
		level policy.Level
	}{
		"calls":             {beside(block(newBell), creates("Lamp"), creates("Oil")), 1, policy.Off},
		"calls in the text": {scripted.Reply{Text: inText + "\n" + block(newBell).Text}, 1, policy.Off},
		"an unsound block": {
			beside(scripted.Reply{Text: `<codex_updates>[{"term":</codex_updates>`}, creates("Oil")),
			1, policy.Off,
		},
		"an empty block": {beside(block(), creates("Oil")), 0, policy.Off},
		"a failing call": {beside(block(newBell), toolCall("glossary_lookup", `{}`)), 1, policy.Off},
		// which is valid for the block that follows
		"a declaration": {beside(block(newBell), toolCall(policy.SelectIntent, proposes)), 1, policy.Enforce},
	} {
		s := governed(t, test.level, saying(test.first, block(newBell)), "The bell rang.")
		if err := s.run("run"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.verify("run")
		_, results := s.results("run", 1)
		notes := 0
		for i, result := range results {
			if !json.Valid([]byte(result)) {
				t.Errorf("%s: no JSON: %s", name, result)
			}
			if strings.Contains(result, `"note":"the codex_updates`) {
				notes++
			} else if i == len(results)-2 && test.notes > 0 {
				t.Errorf("%s: the last call was answered %s", name, result)
			}
		}
		if notes != test.notes || s.count("run", `SELECT count(*) FROM glossary_entry WHERE term = 'Bell'`) != 1 {
			t.Errorf("%s: %d notes, %q", name, notes, results)
		}
	}
}
