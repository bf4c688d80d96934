package runner_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/policy"
)

// Elements of a block of codex updates, as a model writes one that cannot call tools.
const (
	proposes  = `{"intent":"PROPOSE","justification":"a new name"}`
	revises   = `{"intent":"REVISE","justification":"there is news"}`
	newBell   = `{"term":"Bell","definition":"It rings.","status":"new"}`
	newerBell = `{"term":"Bell","definition":"It rings. It is old.","status":"update"}`
	newLamp   = `{"term":"Lamp","definition":"It burns.","status":"new"}`
)

func block(elements ...string) scripted.Reply {
	return scripted.Reply{Text: "So:\n<codex_updates>[" + strings.Join(elements, ",\n") + "]</codex_updates>"}
}

// TestBlockDeclares tests that a block says what its elements are for. Each declaration is a separate decision, and
// elements before the first are denied. What was denied is asked for again, once, and then nothing is declared any
// more.
func TestBlockDeclares(t *testing.T) {
	t.Parallel()
	script := saying(
		block(newLamp, proposes, newBell, newerBell, `{"intent":"ADMIN","justification":"I may"}`,
			`{"intent":"REVISE","justification":"-"}`,
			`{"intent":"REVISE","justification":"`+strings.Repeat("because ", 100)+`"}`, newerBell, revises, newerBell),
		block(newLamp, proposes, newLamp),
		block(proposes, newLamp),
	)
	s := governed(t, policy.Enforce, script, "The lamp burned, the bell rang.")
	if err := s.run("enforce"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	s.wantAudit("enforce",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
		"1 glossary_update [PROPOSE] deny NOT_PERMITTED NOT_PERMITTED",
		"1 select_active_intent [PROPOSE] allow INVALID_ARGUMENTS",
		"1 select_active_intent [PROPOSE] allow EMPTY",
		"1 select_active_intent [PROPOSE] allow TOO_LONG",
		"1 glossary_update [PROPOSE] deny NOT_PERMITTED NOT_PERMITTED",
		"1 select_active_intent [PROPOSE] allow",
		"1 glossary_update [REVISE] allow",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED", // the correction began anew
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
	)
	if n := len(s.server.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	s = governed(t, policy.Observe, script, "The lamp burned, the bell rang.")
	if err := s.run("observe"); err != nil {
		t.Fatal(err)
	}
	audit := s.audited("observe")
	if want := "1 glossary_create [] would_deny INTENT_REQUIRED"; audit[0] != want ||
		slices.ContainsFunc(audit, func(line string) bool { return strings.Contains(line, " deny ") }) {
		t.Errorf("%q", audit)
	}
}

// TestBlockOfADiligentModel tests a model that can only write text, and follows the prompt: its story is annotated. A
// model that forgets to declare gets one correction, and then declares.
func TestBlockOfADiligentModel(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]scripted.Script{
		"declares":           saying(block(proposes, newBell, revises, newerBell)),
		"declares when told": saying(block(newBell, newerBell), block(proposes, newBell, revises, newerBell)),
	} {
		s := governed(t, policy.Enforce, script, "The bell rang.")
		if err := s.run("text"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.lawful("text")
		if n := s.count("text",
			`SELECT count(*) FROM glossary_entry WHERE definition = 'It rings. It is old.'`); n != 1 {
			t.Errorf("%s: %q", name, s.audited("text"))
		}
		system := s.server.Requests()[0].Messages[0].Content
		if !strings.Contains(system, `PROPOSE before those with the status "new", REVISE before those with "update"`) {
			t.Errorf("the system prompt says %s", system)
		}
	}
}

// TestBlockWithoutIntents: where nothing is governed, there is nothing to declare.
func TestBlockWithoutIntents(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Off, saying(block(proposes, newBell), block()), "The bell rang.")
	if err := s.run("off"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("off", "1 select_active_intent UNKNOWN_TOOL", "1 glossary_create")
}

// TestSilentModelIsNotReadToTheEnd tests a model that never declares anything, and would read a whole story and write
// nothing. The run halts.
func TestSilentModelIsNotReadToTheEnd(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Enforce, saying(block(newBell), block(newBell)), evenScenes(8)...)
	if err := s.run("mute"); !errors.Is(err, annotator.Halted) ||
		!strings.Contains(err.Error(), policy.IntentRequired) {
		t.Fatal(err)
	}
	if run := s.state("mute"); run.Quarantined != 3 || run.Recorded != 0 {
		t.Errorf("%d scenes are quarantined, %d recorded", run.Quarantined, run.Recorded)
	}
}

// TestBlockResumes stops a run behind each item of its blocks, and goes on: what was declared, and what was denied, is
// on record.
func TestBlockResumes(t *testing.T) {
	t.Parallel()
	for _, level := range []policy.Level{policy.Observe, policy.Enforce} {
		s := governed(t, level, saying(block(proposes, newBell, newerBell, revises, newerBell),
			block(proposes, newLamp)), "The bell rang.", "It rang again.")
		if err := s.run("calm"); err != nil {
			t.Fatal(err)
		}
		calm := dump(t, s.db("calm"))
		at := 1
		for ; s.interrupted(annotator.NoticeTool, at); at++ {
			name := fmt.Sprintf("interrupted at %s %d", annotator.NoticeTool, at)
			s.bus = nil
			if err := s.run(name); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s.compareBut(name, calm, "run_state ")
		}
		if at < 10 {
			t.Errorf("%s: there are only %d items", level, at)
		}
	}
}

// TestSpokenDeclaration: a call in the text declares as any other call does. A call next to a block would leave the
// block unread, so the reply is asked for again.
func TestSpokenDeclaration(t *testing.T) {
	t.Parallel()
	speaks := func(calls ...annotator.ToolCall) scripted.Reply {
		return scripted.Reply{Text: families["Hermes"](calls)}
	}
	beside := speaks(declares("PROPOSE"))
	beside.Text += "\n" + block(newBell).Text
	s := governed(t, policy.Enforce, saying(
		speaks(creates("Lamp"), declares("PROPOSE"), creates("Door")), // in order: what comes before is denied
		beside,
		block(proposes, newBell),
	), "The bell rang.")
	if err := s.run("spoken"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("spoken",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
	)
	note := s.server.Requests()[2].Messages
	if said := note[len(note)-1].Content; !strings.Contains(said, "is declared in their block") {
		t.Errorf("the correction says %q", said)
	}
}

// TestBlockMeetsTheDemand tests that a model that called a tool without an intent, and is asked to declare, may do so
// in a block.
func TestBlockMeetsTheDemand(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Enforce, saying(calls(creates("Lamp")), block(proposes, newLamp)), "The lamp burned.")
	if err := s.run("demand"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("demand",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
	)
	if choice := s.server.Requests()[1].ToolChoice; !strings.Contains(choice, policy.SelectIntent) {
		t.Errorf("tool_choice is %s", choice)
	}
}

// TestQuotedBlock tests that a block in the story is text, at any level, and also in a reply with one of the model's
// own.
func TestQuotedBlock(t *testing.T) {
	t.Parallel()
	for _, level := range policy.Levels() {
		quoted := block(proposes, newLamp).Text
		own := block(proposes, newBell)
		if level == policy.Off {
			own = block(newBell)
		}
		s := governed(t, level, saying(scripted.Reply{Text: own.Text + " It said: " + quoted}),
			"It was written: "+quoted)
		if err := s.run("quoted"); err != nil {
			t.Fatal(err)
		}
		s.lawful("quoted")
		if n := s.count("quoted", `SELECT count(*) FROM glossary_entry WHERE term = 'Bell'`); n != 1 {
			t.Errorf("%s: the model's own block was not read: %q", level, s.audited("quoted"))
		}
		if n := s.count("quoted", `SELECT count(*) FROM glossary_entry WHERE term = 'Lamp'`); n != 0 {
			t.Errorf("%s: the story's block was read: %q", level, s.audited("quoted"))
		}
	}
}

// TestLongBlock: of a block no more runs than of the calls of a reply, and the rest is asked for once.
func TestLongBlock(t *testing.T) {
	t.Parallel()
	var all []string
	for n := range 40 {
		all = append(all, fmt.Sprintf(`{"term":"Lamp %d","definition":"It burns.","status":"new"}`, n))
	}
	s := governed(t, policy.Off, saying(block(all...), block(all[32:]...)), "The lamps burned.")
	if err := s.run("long"); err != nil {
		t.Fatal(err)
	}
	s.lawful("long")
	if n := s.count("long", `SELECT count(*) FROM trace WHERE error = 'CALL_LIMIT'`); n != 8 {
		t.Errorf("%d items were refused", n)
	}
	if n := s.count("long", `SELECT count(*) FROM glossary_entry`); n != 40 {
		t.Errorf("%d entries", n)
	}
}
