package runner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/policy"
)

// TestNamesAreTakenToTheLetter tests that a tool has one name, apart from the text that servers leave around it. A
// similar name is no tool, at any level, and declares nothing.
func TestNamesAreTakenToTheLetter(t *testing.T) {
	t.Parallel()
	names := []string{
		"Select_Active_Intent", "functions_select_active_intent", "select_active_intent:x", "select_active_intents",
		"sеlect_active_intent", "select_active_intent\u200b", "select-active-intent", // the first with a Cyrillic е
	}
	for _, level := range policy.Levels()[1:] {
		var all []annotator.ToolCall
		for _, name := range names {
			call := declares("RETIRE")
			call.Name = name
			other := deletes(1)
			other.Name = strings.ReplaceAll(strings.ReplaceAll(name, "select_active_intent", "glossary_delete"),
				"intent", "delete")
			all = append(all, call, other)
		}
		s := governed(t, level, saying(calls(declares("PROPOSE"), creates("Lamp")), calls(all...)), "The lamp burned.")
		if err := s.run("names"); err != nil {
			t.Fatal(err)
		}
		for _, line := range s.audited("names")[2:] {
			if !strings.HasSuffix(line, " UNKNOWN_TOOL") || !strings.Contains(line, "[PROPOSE]") {
				t.Errorf("%s: %s", level, line)
			}
		}
		if n := s.count("names", `SELECT count(*) FROM glossary_entry WHERE status = 'tentative'`); n != 1 {
			t.Errorf("%s: the entry is gone", level)
		}
	}
}

// TestDeclarationsDoNotReachBack: a declaration is for the calls behind it, not for those before it in the same reply.
func TestDeclarationsDoNotReachBack(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Enforce,
		saying(calls(creates("Lamp"), declares("PROPOSE"), updates(1, `"tags":["x"]`), declares("REVISE"))),
		"The lamp burned.")
	if err := s.run("back"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("back",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"1 select_active_intent [] allow",
		"1 glossary_update [PROPOSE] deny NOT_PERMITTED NOT_PERMITTED",
		"1 select_active_intent [PROPOSE] allow",
	)
}

// TestDeclaringInCircles tests that a model that declares before each call and repeats itself is stopped like any
// other. A model that declares for a call that was denied is not.
func TestDeclaringInCircles(t *testing.T) {
	t.Parallel()
	search := annotator.ToolCall{Name: "glossary_search", Arguments: `{"query":"lamp"}`}
	again := calls(declares("SEARCH"), search)
	s := governed(t, policy.Enforce, saying(again, again, again, again, again, again), "The lamp burned.")
	if err := s.run("circles"); !errors.Is(err, annotator.Quarantined) {
		t.Errorf("err = %v", err)
	}
	if n := s.count("circles", `SELECT count(*) FROM trace WHERE error = 'REPEATED'`); n != 2 {
		t.Errorf("%d calls were told so", n)
	}
	s = governed(t, policy.Enforce, saying(
		calls(creates("Lamp"), creates("Lamp")), calls(declares("REVISE"), creates("Lamp")),
		calls(declares("PROPOSE"), creates("Lamp")),
	), "The lamp burned.")
	if err := s.run("denied"); err != nil {
		t.Fatal(err)
	}
	if n := s.count("denied", `SELECT count(*) FROM glossary_entry`); n != 1 {
		t.Errorf("%q", s.audited("denied"))
	}
}

// TestEditCapHoldsWhenReadAgain: what a scene took away before it was refused counts when it is read again.
func TestEditCapHoldsWhenReadAgain(t *testing.T) {
	t.Parallel()
	script := func(r scripted.Request) scripted.Reply {
		if strings.Contains(last(r, "<scene "), "There stood") {
			return saying(calls(creates("Lamp 1"), creates("Lamp 2"), creates("Lamp 3"), creates("Lamp 4")))(r)
		}
		torn := scripted.Reply{Text: "<codex_updates>[{]</codex_updates>"}
		return saying(calls(deletes(1), deletes(2), deletes(3), deletes(4)), torn, torn)(r)
	}
	const names = "Lamp 1, Lamp 2, Lamp 3, Lamp 4."
	s := governed(t, policy.Off, script, "There stood "+names, "Out went "+names)
	s.config.EditCap = 2
	for n := range 3 {
		if err := s.run("again"); !errors.Is(err, annotator.Quarantined) {
			t.Fatal(err)
		}
		s.lawful("again")
		if left := s.count("again", `SELECT count(*) FROM glossary_entry WHERE status = 'tentative'`); left != 2 {
			t.Errorf("read for the %d. time, the scene left %d entries: %q", n+1, left, s.audited("again"))
		}
		s.putBack("again")
	}
}

// TestIntentIsNotCarriedOver: a scene that is read again begins without the intent that it had declared.
func TestIntentIsNotCarriedOver(t *testing.T) {
	t.Parallel()
	reads := 0
	torn := scripted.Reply{Text: "<codex_updates>[{]</codex_updates>"}
	s := governed(t, policy.Enforce, func(r scripted.Request) scripted.Reply {
		if len(r.Messages) == 2 {
			reads++
		}
		if reads == 1 {
			return saying(calls(declares("PROPOSE"), creates("Lamp")), torn, torn)(r)
		}
		return saying(calls(creates("Door")), calls(declares("NONE")))(r)
	}, "The lamp burned.")
	for range 2 {
		if err := s.run("anew"); err != nil && !errors.Is(err, annotator.Quarantined) {
			t.Fatal(err)
		}
		s.putBack("anew")
	}
	s.wantAudit("anew",
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"1 select_active_intent [] allow",
	)
}

// TestLocksHoldInText: a person's lock holds for a block of updates as it does for calls.
func TestLocksHoldInText(t *testing.T) {
	t.Parallel()
	for _, level := range policy.Levels() {
		script := func(r scripted.Request) scripted.Reply {
			if strings.Contains(last(r, "<scene "), "There stood") {
				return declaring(saying(calls(creates("Lamp"))))(r)
			}
			entry := func(fields string) string { return fmt.Sprintf(`{"term":"Lamp",%s,"status":"update"}`, fields) }
			edits := []string{
				entry(`"definition":"It is told of. It is there. More."`),
				entry(`"definition":"It is told of. It is there.","aliases":["the light"]`),
			}
			if level != policy.Off {
				edits = append([]string{revises}, edits...)
			}
			return saying(block(edits...), block())(r)
		}
		s := governed(t, level, script, "There stood a lamp.", "The lamp went out.")
		s.config.Limit = 1
		if err := s.run("attacked"); err != nil {
			t.Fatal(err)
		}
		s.file("attacked", annotator.Operation{Do: annotator.DeedLock, Entry: 1})
		s.config.Limit = 0
		if err := s.run("attacked"); err != nil {
			t.Fatal(err)
		}
		s.lawful("attacked")
		if n := s.count("attacked", `SELECT count(*) FROM trace t JOIN tool_decision d ON d.trace_id = t.id
			WHERE kind = 'update' AND error = 'LOCKED' AND verdict = 'deny' AND rule = error`); n != 2 {
			t.Errorf("%s: %q", level, s.audited("attacked"))
		}
	}
}
