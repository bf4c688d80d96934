package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/policy"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

// declaring makes a script declare its intents as required. It declares before each call that the intent in force does
// not permit, and at the beginning of a block of updates.
func declaring(script scripted.Script) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		reply, intent := script(r), intentOf(r)
		if !mayDeclare(r) {
			return reply
		}
		reply.ToolCalls = declared(intent, reply.ToolCalls)
		for status, declaration := range map[string]string{`"status":"new"`: proposes, `"status":"update"`: revises} {
			if strings.Contains(reply.Text, status) {
				reply.Text = strings.Replace(reply.Text, "<codex_updates>[", "<codex_updates>["+declaration+",", 1)
			}
		}
		return reply
	}
}

func mayDeclare(r scripted.Request) bool {
	return r.MayCall() && slices.ContainsFunc(r.Tools, func(t annotator.ToolDefinition) bool {
		return t.Name == policy.SelectIntent
	})
}

// intentOf returns the intent in force where a request ends.
func intentOf(r scripted.Request) string {
	for _, m := range slices.Backward(r.Messages) {
		var said policy.IntentAnswer
		switch {
		case m.Role == annotator.RoleUser:
			return ""
		case m.Role == annotator.RoleTool && json.Unmarshal([]byte(m.Content), &said) == nil && said.OK &&
			said.Intent != "":
			return said.Intent
		}
	}
	return ""
}

func declared(intent string, calls []annotator.ToolCall) []annotator.ToolCall {
	p := policy.Default()
	var all []annotator.ToolCall
	for _, call := range calls {
		for _, other := range p.Intents(policy.Annotate) {
			now, then := p.Decide(policy.Annotate, intent, call.Name), p.Decide(policy.Annotate, other.Name, call.Name)
			if !now.Permitted() && then.Permitted() {
				all = append(all, declares(other.Name))
				intent = other.Name
			}
		}
		all = append(all, call)
	}
	return all
}

func declares(intent string) annotator.ToolCall {
	return annotator.ToolCall{
		Name:      policy.SelectIntent,
		Arguments: fmt.Sprintf(`{"intent":%q,"justification":"the scene calls for it"}`, intent),
	}
}

// saying is a model that has one reply for each request of a scene, whatever it is asked, and then nothing more to say.
func saying(replies ...scripted.Reply) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		said := 0
		for _, m := range slices.Backward(r.Messages) {
			if strings.HasPrefix(m.Content, "<scene ") {
				break
			}
			if m.Role == annotator.RoleAssistant {
				said++
			}
		}
		if said < len(replies) && r.MayCall() {
			return replies[said]
		}
		return scripted.Reply{Text: "That is all."}
	}
}

func calls(all ...annotator.ToolCall) scripted.Reply { return scripted.Reply{ToolCalls: all} }

func creates(term string) annotator.ToolCall {
	return annotator.ToolCall{
		Name:      "glossary_create",
		Arguments: fmt.Sprintf(`{"term":%q,"definition":"It is told of. It is there.","tags":["object"]}`, term),
	}
}

func updates(entry int, fields string) annotator.ToolCall {
	return annotator.ToolCall{Name: "glossary_update", Arguments: fmt.Sprintf(`{"entry_id":%d,%s}`, entry, fields)}
}

func deletes(entry int) annotator.ToolCall {
	return annotator.ToolCall{
		Name:      "glossary_delete",
		Arguments: fmt.Sprintf(`{"entry_id":%d,"reason":"it is nothing"}`, entry),
	}
}

// governed is a stage at one level, with scenes that say so much.
func governed(t *testing.T, level policy.Level, script scripted.Script, scenes ...string) *stage {
	t.Helper()
	s := newTale(t, [][]string{scenes}, 32_768, scripted.Options{Script: script, Keep: true})
	s.config.Governance, s.config.Curator.Off = level, true
	return s
}

// audited returns what was decided of each call, a line each, and demands that the laws hold.
func (s *stage) audited(name string) []string {
	s.t.Helper()
	s.lawful(name)
	var lines []string
	for call, err := range s.open(name).Journal.Audit(context.Background(), storage.AuditFilter{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		line := fmt.Sprintf("%d %s", call.Scene, call.Tool)
		if d := call.Decision; d != nil {
			line += strings.TrimRight(fmt.Sprintf(" [%s] %s %s", d.Intent, d.Verdict, d.Rule), " ")
		}
		lines = append(lines, strings.TrimSpace(line+" "+call.Error))
	}
	return lines
}

func (s *stage) wantAudit(name string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.audited(name)); diff != "" {
		s.t.Errorf("audit of %s (-want +got):\n%s", name, diff)
	}
}

// TestEnforce tests that a call that the declared intent does not permit is denied before anything is done. The answer
// names what would permit it.
func TestEnforce(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Enforce, saying(
		calls(creates("Lamp"), annotator.ToolCall{Name: "drop_table", Arguments: `{}`}),
		calls(declares("PROPOSE"), creates("Lamp"), updates(1, `"tags":["x"]`),
			annotator.ToolCall{Name: policy.SelectIntent, Arguments: `{"intent":"ADMIN","justification":"I may"}`},
			declares("REVISE"), updates(1, `"tags":["x"]`)),
		calls(declares("NONE"), creates("Door")),
	), "The lamp burned.", "The lamp went out.")
	s.config.Limit = 1
	if err := s.run("enforce"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("enforce",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"1 drop_table [] deny UNKNOWN_TOOL UNKNOWN_TOOL",
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
		"1 glossary_update [PROPOSE] deny NOT_PERMITTED NOT_PERMITTED",
		"1 select_active_intent [PROPOSE] allow INVALID_ARGUMENTS",
		"1 select_active_intent [PROPOSE] allow",
		"1 glossary_update [REVISE] allow",
		"1 select_active_intent [REVISE] allow",
		"1 glossary_create [NONE] deny NOT_PERMITTED NOT_PERMITTED",
	)
	requests := s.server.Requests()
	if choice := requests[1].ToolChoice; !strings.Contains(choice, policy.SelectIntent) {
		t.Errorf("after a call without an intent, tool_choice is %s", choice)
	}
	if choice := requests[2].ToolChoice; choice != `"auto"` {
		t.Errorf("after the intent was declared, tool_choice is %s", choice)
	}
	if system := requests[0].Messages[0].Content; !strings.Contains(system, policy.SelectIntent) {
		t.Error("the system prompt does not tell of intents")
	}
	denial := requests[1].Messages[len(requests[1].Messages)-2].Content
	if !strings.Contains(denial, "INTENT_REQUIRED") || !strings.Contains(denial, "needs PROPOSE") {
		t.Errorf("the model is told %s", denial)
	}
	unknown := requests[1].Messages[len(requests[1].Messages)-1].Content
	if !strings.Contains(unknown, `"tools":["select_active_intent"`) {
		t.Errorf("the model is told %s", unknown)
	}
}

// TestIntentEndsWithItsRequest: the next scene begins without one, and so does what follows a correction. A block that
// is denied for that has its scene refused, because the model was corrected before.
func TestIntentEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	const block = `<codex_updates>[{"term":"Bell","definition":"It rings.","status":"new"}]</codex_updates>`
	s := governed(t, policy.Enforce, func(r scripted.Request) scripted.Reply {
		if scene := last(r, "<scene "); strings.Contains(scene, "The lamp went out.") {
			return saying(calls(creates("Door")), calls(declares("NONE")))(r)
		}
		return saying(
			calls(declares("PROPOSE"), creates("Lamp")),
			scripted.Reply{Text: "<codex_updates>[{]</codex_updates>"},
			scripted.Reply{Text: block},
		)(r)
	}, "The lamp burned.", "The lamp went out.")
	if err := s.run("ends"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	s.wantAudit("ends",
		"1 select_active_intent [] allow",
		"1 glossary_create [PROPOSE] allow",
		"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED", // out of the text
		"2 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"2 select_active_intent [] allow",
	)
	note := s.server.Requests()[2].Messages
	if said := note[len(note)-1].Content; !strings.HasSuffix(said,
		"declare your intent again, with select_active_intent or in the block.") {
		t.Errorf("the correction says %q", said)
	}
}

// last returns the newest message that begins so.
func last(r scripted.Request, prefix string) string {
	for _, m := range slices.Backward(r.Messages) {
		if strings.HasPrefix(m.Content, prefix) {
			return m.Content
		}
	}
	return ""
}

// TestUpdatesInText pass the gate that calls pass.
func TestUpdatesInText(t *testing.T) {
	t.Parallel()
	script := saying(
		calls(declares("PROPOSE")),
		scripted.Reply{Text: `<codex_updates>[{"term":"Bell","definition":"It rings.","status":"new"},{"term":"Bell","definition":"It rings. It is old.","status":"update"}]</codex_updates>`},
	)
	s := governed(t, policy.Enforce, script, "The bell rang.")
	if err := s.run("text"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("text", "1 select_active_intent [] allow", "1 glossary_create [PROPOSE] allow",
		"1 glossary_update [PROPOSE] deny NOT_PERMITTED NOT_PERMITTED")
	s = governed(t, policy.Observe, script, "The bell rang.")
	if err := s.run("text"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("text", "1 select_active_intent [] allow", "1 glossary_create [PROPOSE] allow",
		"1 glossary_update [PROPOSE] would_deny NOT_PERMITTED")
}

// TestObserve runs everything, and writes down what enforcement would have denied. With governance off nothing is asked
// and nothing written.
func TestObserve(t *testing.T) {
	t.Parallel()
	script := saying(calls(creates("Lamp"), creates("Door")), calls(updates(1, `"tags":["x","object"]`)))
	s := governed(t, policy.Observe, script, "The lamp burned.")
	if err := s.run("observe"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("observe", "1 glossary_create [] would_deny INTENT_REQUIRED",
		"1 glossary_create [] would_deny INTENT_REQUIRED",
		"1 glossary_update [] would_deny INTENT_REQUIRED")
	if choice := s.server.Requests()[1].ToolChoice; choice != `"auto"` {
		t.Errorf("tool_choice is %s", choice)
	}
	s = governed(t, policy.Off, script, "The lamp burned.")
	if err := s.run("off"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("off", "1 glossary_create", "1 glossary_create", "1 glossary_update")
	if r := s.server.Requests()[0]; mayDeclare(r) || strings.Contains(r.Messages[0].Content, policy.SelectIntent) {
		t.Error("the model is told of intents")
	}
}

// TestFailsClosed runs with a policy that breaks: every call is denied, and the story is read to its end. A level that
// nobody knows is no way around the policy.
func TestFailsClosed(t *testing.T) {
	t.Parallel()
	strange := governed(t, "lenient", saying(calls(creates("Lamp"))), "The lamp burned.")
	if err := strange.run("strange"); err != nil {
		t.Fatal(err)
	}
	strange.wantAudit("strange", "1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED")
	s := governed(t, policy.Enforce, declaring(saying(calls(creates("Lamp")))), "The lamp burned.")
	s.noPolicy = true
	if err := s.run("broken"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("broken", "1 select_active_intent [] deny POLICY_FAILED POLICY_FAILED",
		"1 glossary_create [] deny POLICY_FAILED POLICY_FAILED")
}

// TestScenesTakeAwayWhatTheyName tests that, under any policy, a scene may add to any entry, and removes only from
// those that it names.
func TestScenesTakeAwayWhatTheyName(t *testing.T) {
	t.Parallel()
	for _, level := range policy.Levels() {
		script := func(r scripted.Request) scripted.Reply {
			if !strings.Contains(last(r, "<scene "), "Nobody") {
				return declaring(saying(calls(creates("Lamp"), creates("Door"), creates("Stair"))))(r)
			}
			return declaring(saying(
				// it adds
				calls(updates(1, `"aliases":["the light"]`),
					updates(1, `"definition":"It is told of. It is there. It is old."`)),
				calls(deletes(1), updates(1, `"close":[1]`), updates(1, `"term":"Dark"`), updates(1, `"tags":[]`)),
				calls(updates(2, `"definition":"It is shut.","close":[1]`), deletes(2)), // the scene names it
				calls(creates("Key"), updates(4, `"definition":"It fits.","close":[1]`), deletes(4)),
			))(r)
		}
		s := governed(t, level, script, "The lamp burned at the door on the stair.",
			"Nobody saw the light. The door was shut.")
		if err := s.run(string(level)); err != nil {
			t.Fatal(err)
		}
		var refused, done []string
		for call, err := range s.open(string(level)).Journal.Audit(context.Background(), storage.AuditFilter{}) {
			switch {
			case err != nil:
				t.Fatal(err)
			case call.Error == "NOT_MENTIONED" && call.Decision.Verdict == storage.Deny &&
				call.Decision.Rule == call.Error:
				refused = append(refused, call.Arguments)
			case call.Scene == 2 && call.Error == "" && call.Tool != policy.SelectIntent:
				done = append(done, call.Arguments)
			}
		}
		if len(refused) != 4 || len(done) != 7 {
			t.Errorf("%s: refused %q, done %q", level, refused, done)
		}
		if n := s.count(string(level),
			`SELECT count(*) FROM glossary_entry WHERE id = 1 AND status = 'tentative' AND term = 'Lamp'
			AND definition = 'It is told of. It is there. It is old.'`); n != 1 {
			t.Errorf("%s: the entry that the scene did not name has changed", level)
		}
	}
}

// TestEditCap tests the bound on what a scene removes, also where the run was stopped in the middle of it. Each scene
// counts from zero.
func TestEditCap(t *testing.T) {
	t.Parallel()
	const entries = 6
	script := func(r scripted.Request) scripted.Reply {
		var all []annotator.ToolCall
		for n := range entries {
			if strings.Contains(last(r, "<scene "), "There stood") {
				all = append(all, creates(fmt.Sprintf("Lamp %d", n+1)))
			} else {
				all = append(all, deletes(n+1))
			}
		}
		return saying(calls(all[:1]...), calls(all[1:4]...), calls(all[4:]...))(r)
	}
	names := "Lamp 1, Lamp 2, Lamp 3, Lamp 4, Lamp 5, Lamp 6."
	want := []string{
		"2 glossary_delete", "2 glossary_delete", "2 glossary_delete [] deny EDIT_CAP EDIT_CAP",
		"2 glossary_delete [] deny EDIT_CAP EDIT_CAP",
		"2 glossary_delete [] deny EDIT_CAP EDIT_CAP", "2 glossary_delete [] deny EDIT_CAP EDIT_CAP",
		"3 glossary_delete RETIRED", "3 glossary_delete RETIRED", "3 glossary_delete", "3 glossary_delete",
		"3 glossary_delete [] deny EDIT_CAP EDIT_CAP", "3 glossary_delete [] deny EDIT_CAP EDIT_CAP",
	}
	for stopped := range 8 {
		s := governed(t, policy.Off, script, "There stood "+names, "Out went "+names, "Out went "+names)
		s.config.EditCap = 2
		if stopped > 0 {
			s.haltAt("cap", stopped, script)
		}
		if err := s.run("cap"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.audited("cap")[entries:]); diff != "" {
			t.Errorf("stopped at call %d (-want +got):\n%s", stopped, diff)
		}
	}
}

// haltAt runs until a call is refused, and leaves a server that refuses none.
func (s *stage) haltAt(name string, call int, script scripted.Script) {
	s.t.Helper()
	var mended atomic.Bool
	s.serve(scripted.Options{Strict: true, Script: script, Fault: func(n int, _ scripted.Request) *scripted.Fault {
		if n < call || mended.Load() {
			return nil
		}
		return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
	}})
	if err := s.run(name); err != nil && !errors.Is(err, annotator.Halted) {
		s.t.Fatal(err)
	}
	mended.Store(true)
}

// TestGovernedRunResumes stops runs at their calls: under one policy at every other, under the next at those between.
// What the journal says was declared still holds, and the rest is equal to that of an uninterrupted run.
func TestGovernedRunResumes(t *testing.T) {
	t.Parallel()
	for n, level := range []policy.Level{policy.Observe, policy.Enforce} {
		script := declaring(scripted.Annotate)
		s := newStage(t, story{threads: 2, scenes: 4}, scripted.Options{Script: script, Strict: true})
		s.config.Governance = level
		if err := s.run("calm"); err != nil {
			t.Fatal(err)
		}
		s.verify("calm")
		if n := s.count("calm", `SELECT count(*) FROM tool_decision WHERE verdict <> 'allow'`); n > 0 &&
			level == policy.Enforce {
			t.Errorf("%d calls of a model that does as it is told are not allowed", n)
		}
		calm := dump(t, s.db("calm"))
		last := s.server.Calls()
		step := longtest.Pick(11, 2)
		for call := 1 + n; call <= last; call += step {
			name := fmt.Sprintf("%s-%d", level, call)
			s.haltAt(name, call, script)
			if err := s.run(name); err != nil {
				t.Fatal(err)
			}
			s.compareBut(name, calm, "run_state ")
		}
	}
}

// fickle is a model that declares and calls at random, the same for the same request.
func fickle(seed uint64) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		random := rand.New(rand.NewPCG(seed, uint64(r.Tokens)))
		if asksSummary(r) {
			return scripted.Reply{Text: summaryOf(r)}
		}
		if !r.MayCall() || random.IntN(4) == 0 {
			text := []string{
				"Done.", "<codex_updates>[]</codex_updates>", "<codex_updates>[{]</codex_updates>",
				fmt.Sprintf(`<codex_updates>[{"term":"Note %d","definition":"It was noted.",`+
					`"status":"new"}]</codex_updates>`, r.Tokens),
				fmt.Sprintf(`<codex_updates>[{"intent":%q,"justification":"it is noted"},{"term":"Note %[2]d","definition":"It was noted.","status":"new"},`+
					`{"intent":"REVISE"}]</codex_updates>`, []string{"PROPOSE", "NONE", "ADMIN"}[random.IntN(3)],
					r.Tokens),
				fmt.Sprintf(`<codex_updates>[{"intent":"REVISE","justification":" "},{"intent":%q,"justification":"it is noted"},`+
					`{"term":"Note %[2]d","definition":"It was noted.","status":"new"}]</codex_updates>`,
					[]string{"PROPOSE", "NONE", "ADMIN"}[random.IntN(3)], r.Tokens),
			}
			return scripted.Reply{Text: text[random.IntN(len(text))]}
		}
		var reply scripted.Reply
		for n := range 1 + random.IntN(4) {
			entry := 1 + random.IntN(12)
			reply.ToolCalls = append(reply.ToolCalls, [...]annotator.ToolCall{
				declares([]string{"SEARCH", "PROPOSE", "REVISE", "RETIRE", "NONE", "ADMIN"}[random.IntN(6)]),
				creates(fmt.Sprintf("Thing %d.%d", r.Tokens, n)),
				updates(entry, fmt.Sprintf(`"aliases":["It %d"]`, r.Tokens)),
				updates(entry, `"definition":"No.","close":[1]`), deletes(entry),
				{Name: "glossary_search", Arguments: `{"query":"thing"}`},
				{Name: policy.SelectIntent, Arguments: `{"intent":"PROPOSE"`},
				{Name: "drop_table", Arguments: `{}`},
			}[random.IntN(8)])
		}
		return reply
	}
}

// TestDecisionsFollowFromTheJournal reads stories with models of every behaviour, and then decides again on each call
// from what the model had written. The decision depends on the intent in force, and on whether it permitted the call.
func TestDecisionsFollowFromTheJournal(t *testing.T) {
	t.Parallel()
	inBlocks := 0
	for seed := range uint64(6) {
		level := policy.Levels()[1+seed%2]
		s := governed(t, level, fickle(seed), evenScenes(12)...)
		s.config.ToolRounds = 4
		err := s.run("fickle")
		for n := 0; errors.Is(err, annotator.Halted) && n < 12; n++ { // for scenes in a row that were refused
			err = s.run("fickle")
		}
		if err != nil && !errors.Is(err, annotator.Quarantined) {
			t.Fatal(err)
		}
		s.lawful("fickle")
		decisions := map[string]*storage.ToolDecision{}
		for call, err := range s.open("fickle").Journal.Audit(context.Background(), storage.AuditFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			decisions[call.CallID] = call.Decision
		}
		var intent string
		arguments, denied := map[string]string{}, 0
		for row, err := range s.open("fickle").Journal.Rows(context.Background(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch row.Kind {
			case annotator.TraceScene, annotator.TraceNote:
				intent = ""
			case annotator.TraceCall:
				arguments[row.CallID] = row.Arguments
			case annotator.TraceResult, annotator.TraceUpdate:
				if row.Kind == annotator.TraceUpdate {
					arguments[row.CallID] = row.Arguments
				}
				want, got := policy.Default().Decide(policy.Annotate, intent, row.Tool), decisions[row.CallID]
				structural := got.Rule == row.Error && slices.Contains([]string{"NOT_MENTIONED", "EDIT_CAP"}, row.Error)
				if got.Intent != intent || !structural && got.Rule != want.Code ||
					got.Verdict == storage.Deny && row.Error == "" {
					t.Fatalf("seed %d, %s: under the intent %q %s was decided on as %+v", seed, row.CallID, intent,
						row.Tool, got)
				}
				if !want.Permitted() {
					denied++
				}
				if row.Tool == policy.SelectIntent && row.Error == "" {
					var said struct{ Intent string }
					if err := json.Unmarshal([]byte(arguments[row.CallID]), &said); err != nil {
						t.Fatal(err)
					}
					intent = said.Intent
					if row.Kind == annotator.TraceUpdate {
						inBlocks++
					}
				}
			}
		}
		if denied == 0 {
			t.Errorf("seed %d: nothing was denied", seed)
		}
	}
	if inBlocks == 0 {
		t.Error("nothing was declared in a block")
	}
}

// TestDemandIsNotPassedOver tests a model that has to declare its intent, and answers twice in text. Its scene is
// refused, because its edits would be lost without a message. The second time any call is demanded, because the server
// may ignore the name.
func TestDemandIsNotPassedOver(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Enforce, saying(calls(creates("Door")), scripted.Reply{Text: "So be it."},
		scripted.Reply{Text: "So be it."}), "The lamp burned.")
	if err := s.run("deaf"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	requests := s.server.Requests()
	if len(requests) != 3 || requests[0].ToolChoice != `"auto"` ||
		!strings.Contains(requests[1].ToolChoice, policy.SelectIntent) ||
		requests[2].ToolChoice != `"required"` {
		t.Errorf("%d requests; the last demands %s", len(requests), requests[len(requests)-1].ToolChoice)
	}
	if n := s.count("deaf",
		`SELECT count(*) FROM scene WHERE state = 'quarantined' AND CAST(raw AS TEXT) = 'So be it.'`); n != 1 {
		t.Error("the scene is not quarantined with what the model said")
	}
}

// TestDemandEndsWithItsLevel tests that nothing is demanded of a model whose prompt no longer has intents since its run
// was stopped.
func TestDemandEndsWithItsLevel(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Enforce, saying(calls(creates("Door")), calls(creates("Door"))), "The lamp burned.")
	if !s.interrupted(annotator.NoticeTool, 1) {
		t.Fatal("the run was not stopped")
	}
	s.bus, s.config.Governance, s.config.Accept = nil, policy.Off, map[string]bool{"prompt": true}
	if err := s.run("interrupted at tool 1"); err != nil {
		t.Fatal(err)
	}
	s.wantAudit("interrupted at tool 1", "1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
		"1 glossary_create")
	for _, r := range s.server.Requests() {
		if strings.Contains(r.ToolChoice, policy.SelectIntent) {
			t.Errorf("tool_choice is %s", r.ToolChoice)
		}
	}
}

// TestLeakedNamesAreGoverned tests a name with the text that models and servers leave around it. The decision is that
// on the name itself, also for declarations, and no such name passes the policy.
func TestLeakedNamesAreGoverned(t *testing.T) {
	t.Parallel()
	leaks := []string{"functions.%s:0", "%s<|channel|>commentary", "tools.%s", "default_api.%s", "%s:3<|message|>"}
	for _, leak := range leaks {
		leaky := func(call annotator.ToolCall) annotator.ToolCall {
			call.Name = fmt.Sprintf(leak, call.Name)
			return call
		}
		s := governed(t, policy.Enforce, saying(
			calls(leaky(creates("Lamp"))),
			calls(leaky(declares("PROPOSE")), leaky(creates("Lamp")), leaky(updates(1, `"tags":["x"]`))),
		), "The lamp burned.")
		if err := s.run("leaked"); err != nil {
			t.Fatal(err)
		}
		s.wantAudit("leaked",
			"1 glossary_create [] deny INTENT_REQUIRED INTENT_REQUIRED",
			"1 select_active_intent [] allow",
			"1 glossary_create [PROPOSE] allow",
			"1 glossary_update [PROPOSE] deny NOT_PERMITTED NOT_PERMITTED",
		)
	}
}

// TestDemandNamesTheSlip: where a call is required and the reply has one that cannot be read, the correction quotes it.
func TestDemandNamesTheSlip(t *testing.T) {
	t.Parallel()
	torn := scripted.Reply{Text: `<tool_call>{"name":"select_active_intent","arguments":{"intent":"PROPOSE"}`}
	s := governed(t, policy.Enforce, saying(calls(creates("Door")), torn, calls(declares("PROPOSE"), creates("Door"))),
		"The lamp burned.")
	if err := s.run("slip"); err != nil {
		t.Fatal(err)
	}
	note := s.server.Requests()[2].Messages
	said := note[len(note)-1].Content
	if !strings.Contains(said, "select_active_intent") || !strings.Contains(said, "ends inside") ||
		!strings.Contains(said, "one has to be called now") {
		t.Errorf("the model is told %s", said)
	}
	if n := s.count("slip", `SELECT count(*) FROM trace WHERE kind = 'note' AND error = '`+annotator.CallRequired+
		`'`); n != 1 {
		t.Error("the demand is not on record")
	}
}
