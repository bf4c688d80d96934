package runner_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/policy"
)

// TestARefusalKeepsTheSceneOpen tests that a refusal in a reply that calls the scene finished brings one more reply.
// It does so whatever its code, and the answer says so. Only the first does.
func TestARefusalKeepsTheSceneOpen(t *testing.T) {
	t.Parallel()
	done := func(c annotator.ToolCall) annotator.ToolCall {
		c.Arguments = strings.TrimSuffix(c.Arguments, "}") + `,"done":true}`
		return c
	}
	for code, refused := range map[string]annotator.ToolCall{
		"NOT_MENTIONED": deletes(1), "DUPLICATE": makes("Lamp", "object", `["It is."]`),
		"NOT_FOUND": updates(1, `"facts":["It is old."],"close":[9]`),
	} {
		first := calls(makes("Lamp", "object", `["It burns."]`), done(creates("Door")))
		stubborn := calls(creates("Stair"), done(refused))
		s := governed(t, policy.Off, func(r scripted.Request) scripted.Reply {
			if strings.Contains(last(r, "<scene "), "Lamp") {
				return first
			}
			return stubborn
		}, "The Lamp burned.", "Nobody came.")
		if err := s.run("run"); err != nil {
			t.Fatal(err)
		}
		requests := s.count("run", `SELECT count(*) FROM call WHERE purpose = 'annotate'`)
		open := s.count("run", `SELECT count(*) FROM trace WHERE kind = 'tool_result' AND content LIKE '%"`+code+
			`"%"scene":"it stays open for one more reply%'`)
		if requests != 3 || open != 1 {
			t.Errorf("%s: %d requests, %d answers say that the scene stays open", code, requests, open)
		}
	}
}
