package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
)

// families write calls into the text of a reply, as models do whose server has no parser for them.
var families = map[string]func(calls []annotator.ToolCall) string{
	"Hermes":     inTags("<tool_call>\n", "\n</tool_call>\n"),
	"fenced":     inTags("```json\n", "\n```\n"),
	"plain":      inTags("", "\n"),
	"python tag": func(calls []annotator.ToolCall) string { return "<|python_tag|>" + inTags("", "; ")(calls) },
	"Mistral": func(calls []annotator.ToolCall) string {
		return "[TOOL_CALLS][" + strings.TrimSuffix(inTags("", ",")(calls), ",") + "]"
	},
	"newer Mistral": func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += "[TOOL_CALLS]" + c.Name + "[ARGS]" + c.Arguments
		}
		return text
	},
	"Llama": func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += "<function=" + c.Name + ">" + c.Arguments + "</function>"
		}
		return text
	},
	"coder": func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += "<tool_call>\n<function=" + c.Name + ">\n"
			var arguments map[string]any
			_ = json.Unmarshal([]byte(c.Arguments), &arguments)
			for key, value := range arguments {
				said, isText := value.(string)
				if !isText {
					encoded, _ := json.Marshal(value)
					said = string(encoded)
				}
				text += "<parameter=" + key + ">\n" + said + "\n</parameter>\n"
			}
			text += "</function>\n</tool_call>\n"
		}
		return text
	},
}

func inTags(before, behind string) func(calls []annotator.ToolCall) string {
	return func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += fmt.Sprintf(`%s{"name": %q, "arguments": %s}%s`, before, c.Name, c.Arguments, behind)
		}
		return text
	}
}

// speaking is a model whose server leaves its calls in the text.
func speaking(family func([]annotator.ToolCall) string) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		reply := scripted.Annotate(r)
		if len(reply.ToolCalls) > 0 {
			reply.Text, reply.ToolCalls = reply.Text+family(reply.ToolCalls), nil
		}
		return reply
	}
}

// TestSpokenCalls tests that a story read with the calls in the text has the same codex as otherwise, for every family.
// No request shows both the text of a call and the call.
func TestSpokenCalls(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 4}, scripted.Options{Strict: true})
	if err := s.run("calls"); err != nil {
		t.Fatal(err)
	}
	s.config.Advise = withReason
	want := s.edits("calls")
	for name, family := range families {
		var words []string
		s.serve(scripted.Options{Strict: true, Script: speaking(family), Keep: true})
		s.bus = nil
		s.bus.Subscribe(func(n annotator.Notice) {
			if n.Kind == annotator.NoticeWarning {
				words = append(words, n.Reason)
			}
		})
		if err := s.run(name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.verify(name)
		s.noViolations()
		if diff := cmp.Diff(want, s.edits(name)); diff != "" {
			t.Errorf("%s: other edits than by calls: %s", name, diff)
		}
		for _, r := range s.server.Requests() {
			for _, m := range r.Messages {
				if m.Role == annotator.RoleAssistant &&
					(strings.Contains(m.Content, "glossary_") || len(m.ToolCalls) == 0 && m.Content == "") {
					t.Fatalf("%s: a later request shows %+v", name, m)
				}
			}
		}
		if n := s.count(name, `SELECT count(*) FROM call WHERE CAST(raw AS TEXT) LIKE '%glossary_create%'`); n == 0 {
			t.Errorf("%s: what the model wrote is not on record", name)
		}
		if len(words) != 1 || !strings.Contains(words[0], string(annotator.ReasonCallsInText)) {
			t.Errorf("%s: the user is told %q", name, words)
		}
	}
}

// edits returns what a run changed in the codex.
func (s *stage) edits(name string) []string {
	s.t.Helper()
	return slices.DeleteFunc(dump(s.t, s.db(name)), func(line string) bool {
		return !strings.HasPrefix(line, "revision ") && !strings.HasPrefix(line, "evidence ")
	})
}

// TestSpokenCallsResume interrupts a run at each of its transitions, and goes on.
func TestSpokenCallsResume(t *testing.T) {
	t.Parallel()
	mumbles := func(r scripted.Request) scripted.Reply {
		reply := speaking(families["Hermes"])(r)
		if last := r.Messages[len(r.Messages)-1]; strings.Contains(last.Content, `scene number="2"`) {
			reply.Text = strings.Replace(reply.Text, "}}\n</tool_call>", "\n</tool_call>", 1)
		}
		return reply
	}
	s := newStage(t, story{threads: 1, scenes: 2}, scripted.Options{Strict: true, Script: mumbles})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	if s.count("calm",
		`SELECT count(*) FROM trace WHERE kind = 'note' AND content LIKE '%looks like a tool call%'`) != 1 {
		t.Fatal("the call that is not whole was not asked for again")
	}
	calm := dump(t, s.db("calm"))
	at, step := 1, longtest.Pick(9, 2)
	for ; s.interrupted(annotator.NoticeTransition, at); at += step {
		name := fmt.Sprintf("interrupted at transition %d", at)
		s.bus = nil
		if err := s.run(name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.compareBut(name, calm, "run_state ")
	}
	if at < 20 {
		t.Errorf("there are only %d transitions", at)
	}
}

// interrupted runs the story up to the notice of a kind with a number, and reports whether there was one.
func (s *stage) interrupted(kind annotator.NoticeKind, at int) bool {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	notices := 0
	s.bus = bus{func(n annotator.Notice) {
		if n.Kind != kind {
			return
		}
		if notices++; notices == at {
			cancel()
		}
	}}
	r, end, err := prepare(s.job(fmt.Sprintf("interrupted at %s %d", kind, at)), &s.bus, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer end()
	return r.Run(ctx) != nil
}

// TestCorrectionsThatHelp: what is not sound is asked for again as often as sound calls have come in between, however
// long the scene.
func TestCorrectionsThatHelp(t *testing.T) {
	t.Parallel()
	speaks := func(term string) scripted.Reply {
		return scripted.Reply{Text: families["Hermes"]([]annotator.ToolCall{creates(term)})}
	}
	torn := scripted.Reply{Text: strings.Replace(speaks("Oil").Text, "}}\n</tool_call>", "", 1)}
	for refused, replies := range map[bool][]scripted.Reply{
		false: {torn, speaks("Lamp"), torn, speaks("Door"), speaks("Oil"), torn},
		true:  {torn, speaks("Lamp"), torn, torn},
	} {
		s := newStage(t, story{threads: 1, scenes: 1}, scripted.Options{Strict: true, Script: saying(replies...)})
		if err := s.run("run"); errors.Is(err, annotator.Quarantined) != refused {
			t.Errorf("refused %v: %v", refused, err)
		}
		s.verify("run")
		s.noViolations()
	}
}

// TestCallsThatAreNotSound are asked for again, once; then the scene is refused with what the model wrote. None of them
// runs, and neither does a correct one in the same reply.
func TestCallsThatAreNotSound(t *testing.T) {
	t.Parallel()
	const sound = `<tool_call>{"name":"glossary_create","arguments":{"term":"Lamp","definition":"It burns.","tags":["object"]}}</tool_call>`
	lost := ""
	for i := range 250 {
		lost += fmt.Sprintf("It burns in room %d. ", i*i)
	}
	for name, test := range map[string]struct{ text, says string }{
		"cut": {
			sound + `<tool_call>{"name":"glossary_create","arguments":{"term":"Oil"`,
			"the text ends inside the value",
		},
		"unknown": {
			sound + `<tool_call>{"name":"glossary_burn","arguments":{}}</tool_call>`,
			"the tools are glossary_search, glossary_create",
		},
		"unfit": {
			sound + `<tool_call>{"name":"glossary_create","arguments":{"term":"Oil"}}</tool_call>`,
			"missing property 'tags'",
		},
		"Python": {"```tool_code\nprint(glossary_create(term=\"Oil\"))\n```", "missing property 'tags'"},
		"lost in text": {lost + "\n" + `{"name":"glossary_create","arguments":{"term":"Lamp",` +
			`"definition":"It burns.","tags":[]}}`, "of other text"},
	} {
		for _, mended := range []bool{true, false} {
			calls := 0
			s := newStage(t, story{threads: 1, scenes: 1},
				scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
					switch calls++; {
					case calls == 2 && !strings.Contains(r.Messages[len(r.Messages)-1].Content, test.says):
						t.Errorf("%s: the model is told %s", name, r.Messages[len(r.Messages)-1].Content)
					case calls == 2 && mended:
						return scripted.Reply{Text: sound}
					case calls == 3:
						return scripted.Reply{Text: "Done."}
					}
					// the same long reply again is an echo
					return scripted.Reply{Text: strings.Replace(test.text, "room 0", fmt.Sprintf("room %d", -calls), 1)}
				}})
			if err := s.run("run"); errors.Is(err, annotator.Quarantined) == mended {
				t.Errorf("%s: %v", name, err)
			}
			s.verify("run")
			entries, kept := 0, 1
			if mended {
				entries, kept = 1, 0
			}
			if n := s.count("run", `SELECT count(*) FROM glossary_entry`); n != entries {
				t.Errorf("%s, mended %v: %d entries", name, mended, n)
			}
			if n := s.count("run", `SELECT count(*) FROM scene WHERE length(raw) > 40 AND reason <> ''`); n != kept {
				t.Errorf("%s, mended %v: %d scenes with what the model wrote", name, mended, n)
			}
		}
	}
}

// TestSpokenCallsOfACutReply: where the limit fell behind a call, all are made and the model is asked for the rest.
// Where it fell into one, none is, as with any call in text that is not whole, and the model gets a message.
func TestSpokenCallsOfACutReply(t *testing.T) {
	t.Parallel()
	written := func(term string) string {
		return "<tool_call>\n{\"name\": \"glossary_create\", \"arguments\": {\"term\": \"" + term +
			"\", \"definition\": \"A lamp.\", \"tags\": [\"thing\"]}}\n</tool_call>\n"
	}
	for tail, whole := range map[string]bool{
		"": true, "And now the th": true, "<tool_call>\n{\"name\":": false,
		"<tool_call>\n{\"name\": \"glossary_create\", \"arguments\": {\"term\": \"Wick\", \"defi": false,
	} {
		s := newStage(t, story{threads: 1, scenes: 1},
			scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				switch len(r.Messages) {
				case 2:
					return scripted.Reply{Text: written("Lantern") + written("Quay") + tail, FinishReason: "length"}
				case 4: // after a correction
					return scripted.Reply{Text: written("Lantern") + written("Quay") + written("Wick")}
				case 5: // after two results
					return scripted.Reply{Text: written("Wick")}
				}
				return scripted.Reply{Text: "Enough."}
			}})
		if err := s.run("cut"); err != nil {
			t.Fatal(err)
		}
		s.verify("cut")
		if n := s.count("cut", `SELECT count(*) FROM glossary_entry`); n != 3 {
			t.Errorf("cut at %q: %d entries", tail, n)
		}
		asked, corrected := 1, 0
		if !whole {
			asked, corrected = 0, 1
		}
		if n := s.count("cut",
			`SELECT count(*) FROM trace WHERE kind = 'tool_result' AND content LIKE '%is lost: make the calls that are still missing%'`); n != asked {
			t.Errorf("cut at %q: the model is asked %d times for the rest", tail, n)
		}
		if n := s.count("cut",
			`SELECT count(*) FROM trace WHERE kind = 'note' AND content LIKE 'Your reply holds%so write less at once.%'`); n != corrected {
			t.Errorf("cut at %q: the model is corrected %d times", tail, n)
		}
	}
}

// TestSpokenCallsPastTheRounds are answered as other calls are: with a refusal, and in the end the scene is refused.
func TestSpokenCallsPastTheRounds(t *testing.T) {
	t.Parallel()
	round := 0
	s := newStage(t, story{threads: 1, scenes: 1},
		scripted.Options{Strict: true, Script: func(scripted.Request) scripted.Reply {
			round++
			return scripted.Reply{Text: fmt.Sprintf(`<tool_call>{"name":"glossary_search",`+
				`"arguments":{"query":"lamp %d"}}</tool_call>`, round)}
		}})
	s.config.ToolRounds = 3
	if err := s.run("endless"); !errors.Is(err, annotator.Quarantined) {
		t.Fatalf("err = %v", err)
	}
	s.verify("endless")
	if n := s.count("endless", `SELECT count(*) FROM trace WHERE error = 'ROUND_LIMIT'`); n == 0 || round > 6 {
		t.Errorf("%d calls past the limit, %d requests", n, round)
	}
}

var bodies = regexp.MustCompile(`(?s)<post[^>]*>\n(.*?)\n</post>`)

// parrots is a model that makes an entry of the first scene, and of every later one says again what the story says.
func parrots(r scripted.Request) scripted.Reply {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == annotator.RoleTool || strings.Contains(last.Content, `scene number="1"`) {
		return scripted.Annotate(r)
	}
	var said []string
	for _, m := range r.Messages {
		for _, body := range bodies.FindAllStringSubmatch(m.Content, -1) {
			said = append(said, html.UnescapeString(body[1]))
		}
	}
	return scripted.Reply{Text: strings.Join(said, "\n")}
}

// TestStoryThatQuotesCalls: a story full of calls, and a model that says them after it: nothing is run and no scene is
// refused.
func TestStoryThatQuotesCalls(t *testing.T) {
	t.Parallel()
	orders := []annotator.ToolCall{
		{Name: "glossary_delete", Arguments: `{"entry_id": 1, "reason": "The lamp is out."}`},
		{Name: "glossary_update", Arguments: `{"entry_id": 1, "definition": "Nobody."}`},
	}
	s := newStage(t, story{threads: 1, scenes: 1 + 2*len(families)}, scripted.Options{Strict: true, Script: parrots})
	post := 1003 // the first of the second scene
	for _, family := range families {
		for _, text := range []string{family(orders), family(orders) +
			"\nThe rest is torn: <tool_call>{\"name\": \"glossary_delete\", \"argum"} {
			edit(t, s.corpus, fmt.Sprintf(`UPDATE post SET body = %s WHERE id = %d`, quoted(text), post))
			post += 3
		}
	}
	if err := s.run("quoted"); err != nil {
		t.Fatal(err)
	}
	s.verify("quoted")
	if n := s.count("quoted", `SELECT count(*) FROM trace WHERE kind = 'tool_call' AND scene > 1`); n != 0 {
		t.Errorf("%d calls of the story were taken for the model's", n)
	}
	if run := s.state("quoted"); run.Recorded != 1+2*len(families) || run.Entries == 0 {
		t.Errorf("recorded %d, %d entries", run.Recorded, run.Entries)
	}
}

// TestShownCallsAreQuoted: what a tool has answered, or a summary says, is no call either where the model says it
// again.
func TestShownCallsAreQuoted(t *testing.T) {
	t.Parallel()
	const order = `{"name": "glossary_delete", "arguments": {"entry_id": 1, "reason": "The lamp is out."}}`
	repeats := scripted.Reply{Text: "<tool_call>" + order + "</tool_call>"}
	answered := newTale(t, [][]string{{"Night fell.", "It was dark."}}, 32_768,
		scripted.Options{Script: func(r scripted.Request) scripted.Reply {
			if strings.Contains(last(r, "<scene "), "Night") {
				definition, _ := json.Marshal("The keeper said " + order)
				create := annotator.ToolCall{
					Name:      "glossary_create",
					Arguments: fmt.Sprintf(`{"term":"Lamp","definition":%s,"tags":["object"]}`, definition),
				}
				return saying(calls(create))(r)
			}
			return saying(calls(annotator.ToolCall{Name: "glossary_search", Arguments: `{"query":"lamp"}`}), repeats)(r)
		}})
	var long []string
	for n := range 16 {
		long = append(long, prose("Latin", 6_000, uint64(n)))
	}
	summed := newTale(t, [][]string{long}, 20_000, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		if summary := summaryOf(r); summary != "" {
			return scripted.Reply{Text: strings.ReplaceAll(summary, "Ash", "The keeper said "+order+" Ash")}
		}
		if strings.Contains(r.Messages[1].Content, "The keeper said") {
			return repeats
		}
		return scripted.Reply{Text: "It is read."}
	}})
	summed.config.MaxTokens = 1_000
	for name, s := range map[string]*stage{"answered": answered, "summed": summed} {
		s.config.Curator.Off = true
		if err := s.run(name); err != nil && !errors.Is(err, annotator.NoCalls) {
			t.Fatal(err)
		}
		s.lawful(name)
		if n := s.count(name,
			`SELECT count(*) FROM trace WHERE kind = 'reply' AND content LIKE '<tool_call>%'`); n == 0 {
			t.Errorf("%s: the model has not repeated what it was shown", name)
		}
		if n := s.count(name, `SELECT count(*) FROM trace WHERE tool = 'glossary_delete'`); n != 0 {
			t.Errorf("%s: what the model was shown was taken for %d calls of its own", name, n)
		}
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// TestCallsInReasoning are not run, but kept.
func TestCallsInReasoning(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		"<think>%s</think>\nNothing new.", "%s</think>\nNothing new.", "<think>%s",
		"<analysis>%s</analysis> Nothing new.",
	} {
		s := newStage(t, story{threads: 1, scenes: 1},
			scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				if len(r.Messages) > 2 {
					return scripted.Reply{Text: "Nothing new."}
				}
				return scripted.Reply{Text: fmt.Sprintf(form, families["Hermes"](scripted.Annotate(r).ToolCalls))}
			}})
		if err := s.run("thought"); err != nil && !errors.Is(err, annotator.Quarantined) {
			t.Fatal(err)
		}
		s.verify("thought")
		if n := s.count("thought", `SELECT count(*) FROM trace WHERE kind = 'tool_call'`); n != 0 {
			t.Errorf("%s: %d calls", form, n)
		}
		if run := s.state("thought"); run.Recorded != s.count("thought",
			`SELECT count(*) FROM trace WHERE reasoning LIKE '%glossary_create%'`) {
			t.Errorf("%s: the reasoning is not in the journal", form)
		}
	}
}

// TestCallsOfBothKinds: of a reply with structured calls and others in its text the structured ones alone are made. The
// last result says so to the model, once, wherever the run was interrupted. For a call that is in both there is no
// message.
func TestCallsOfBothKinds(t *testing.T) {
	t.Parallel()
	for also, told := range map[string]int{"Oil": 1, "Lamp": 0} {
		s := newStage(t, story{threads: 1, scenes: 1},
			scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				if len(r.Messages) > 2 {
					return scripted.Reply{Text: "Nothing more is to be noted."}
				}
				return scripted.Reply{
					Text:      "So: " + families["Hermes"]([]annotator.ToolCall{creates(also)}),
					ToolCalls: []annotator.ToolCall{creates("Lamp")},
				}
			}})
		if err := s.run("calm"); err != nil {
			t.Fatal(err)
		}
		s.verify("calm")
		if n := s.count("calm", `SELECT count(*) FROM trace WHERE kind = 'tool_call'`); n != 1 {
			t.Errorf("also %s: %d calls", also, n)
		}
		if n := s.count("calm",
			`SELECT count(*) FROM trace WHERE kind = 'tool_result' AND content LIKE '%"ok":true%"note":"the calls in the text%'`); n != told {
			t.Errorf("also %s: the model is told %d times", also, n)
		}
		if n := s.count("calm",
			`SELECT count(*) FROM trace WHERE kind = 'reply' AND content LIKE '%<tool_call>%'`); n != told {
			t.Errorf("also %s: %d replies keep the text of a call", also, n)
		}
		calm := dump(t, s.db("calm"))
		for at := 1; s.interrupted(annotator.NoticeTransition, at); at++ {
			name := fmt.Sprintf("interrupted at transition %d", at)
			s.bus = nil
			if err := s.run(name); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s.compareBut(name, calm, "run_state ")
		}
	}
}
