package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/budget"
	"annotator/context/prompt"
	"annotator/context/window"
	"annotator/corpus"
	"annotator/internal/scripted"
	"annotator/model"
	"annotator/model/doctor"
	"annotator/model/openai"
	"annotator/tools"

	"github.com/google/go-cmp/cmp"
)

// callsAtOnce returns the most calls in one message of any request from the n-th on.
func callsAtOnce(requests []scripted.Request, from int) (most int) {
	for _, r := range requests[min(from, len(requests)):] {
		for i := range r.Messages {
			most = max(most, len(r.Messages[i].ToolCalls))
		}
	}
	return most
}

// TestTemplateTakesOneCall: a template that refuses several calls in a message gets them in pairs. That is on record,
// so that a resumed run renders its messages as the undisturbed one.
func TestTemplateTakesOneCall(t *testing.T) {
	t.Parallel()
	family := scripted.Families()["Llama 3.1"]
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Keep: true, Template: family})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	s.config.Limit = 1
	for n := range 6 {
		before := len(s.server.Requests())
		if err := s.run("halting"); err != nil {
			t.Fatal(err)
		}
		if most := callsAtOnce(s.server.Requests(), before); n > 0 && most > 1 {
			t.Errorf("process %d sends %d calls in one message", n, most)
		}
	}
	for _, name := range []string{"calm", "halting"} {
		s.verify(name)
		if got := fmt.Sprint(s.column(name,
			`SELECT id FROM snapshot_context WHERE workarounds = 'pair_calls'`)); got != "[2]" {
			t.Errorf("%s: pairs are on record as %s", name, got)
		}
		if n := s.count(name, `SELECT count(*) FROM call WHERE decision = 'adapt'`); n != 1 {
			t.Errorf("%s: the server had to say it %d times", name, n)
		}
	}
	if diff := cmp.Diff(s.entries("calm"), s.entries("halting")); diff != "" {
		t.Errorf("the resumed run has other entries (+) than the undisturbed one (-):\n%s", diff)
	}
	growAtTheirEnd(t, s.server.Requests())
}

// growAtTheirEnd checks that requests begin with the messages of the one before. Those of each of two databases do not
// where the form of messages has changed, once.
func growAtTheirEnd(t *testing.T, requests []scripted.Request) {
	t.Helper()
	changes := 0
	var before []string
	for _, r := range requests {
		var now []string
		for i := range r.Messages {
			now = append(now, string(r.Messages[i].Raw))
		}
		if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
			changes++
		}
		before = now
	}
	if changes != 3 { // pairs; the second database; pairs there
		t.Errorf("%d requests begin otherwise than the one before", changes)
	}
}

// entries returns the glossary of a database.
func (s *stage) entries(name string) []string {
	s.t.Helper()
	return slices.DeleteFunc(dump(s.t, s.db(name)), func(line string) bool {
		return len(line) < 9 || line[:9] != "glossary_"
	})
}

// TestCallsOfEveryFamilyAreRead tests that a run reads the whole story with each family of templates, if necessary with
// a workaround that holds for later processes. Otherwise it does not begin, with the message of the doctor.
func TestCallsOfEveryFamilyAreRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		workarounds string
		warns       string // before the first scene
		halts       string
	}{
		"whole":     {},
		"Llama 3.1": {workarounds: "pair_calls", warns: "another form (docs/servers.md): pair_calls"},
		"gpt-oss": {
			workarounds: "pair_calls no_text_beside_calls",
			warns:       "another form (docs/servers.md): pair_calls no_text_beside_calls",
		},
		"GigaChat 3":   {workarounds: "pair_calls", warns: "another form (docs/servers.md): pair_calls"},
		"Mistral Nemo": {workarounds: "system_in_user", warns: "another form (docs/servers.md): system_in_user"},
		"Phi-3.5": {
			workarounds: "loose_count",
			warns:       "the template drops the tools, the model's calls, the results of tools",
		},
		"LFM2": {
			workarounds: "loose_count",
			warns: "the template drops the model's calls; the server must be started otherwise " +
				"[take a chat template",
		},
		"DeepSeek-V3.1":  {workarounds: "loose_count", warns: "the template drops the tools"},
		"drops system":   {workarounds: "system_in_user", warns: "another form (docs/servers.md): system_in_user"},
		"drops results":  {halts: "the template drops the results of tools: the model never learns what its calls did"},
		"no tools, loud": {halts: "the model's chat template cannot render this conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, story{threads: 2, scenes: 4}, scripted.Options{
				Strict: true, Keep: true, Template: scripted.Families()[name], Script: withText(scripted.Annotate),
			})
			s.config.Preflight, s.config.Advise = true, withReason
			warned := ""
			s.bus.Subscribe(func(n annotator.Notice) {
				if n.Kind == annotator.NoticeWarning {
					warned += n.Reason
				}
			})
			s.config.Limit = 3
			err := s.run("read")
			if test.halts != "" {
				if !errors.Is(err, annotator.Halted) || !strings.Contains(err.Error(), test.halts) {
					t.Error(err)
				}
				return
			}
			if err != nil || !strings.Contains(warned, test.warns) || (test.warns == "") != (warned == "") {
				t.Fatalf("%v, warned of %q", err, warned)
			}
			s.config.Limit, warned = 0, ""
			before := len(s.server.Requests())
			if err := s.run("read"); err != nil {
				t.Fatal(err)
			}
			s.verify("read")
			s.noViolations()
			if warned != "" {
				t.Errorf("the second process warns of %q", warned)
			}
			if got := s.state("read"); got.Recorded != 8 || forTemplate(got.Prompt.Workarounds) != test.workarounds {
				t.Errorf("%d scenes are read, with %q", got.Recorded, got.Prompt.Workarounds)
			}
			if n := s.count("read",
				`SELECT count(*) FROM call WHERE purpose = 'annotate' AND outcome <> 'ok'`); n != 0 {
				t.Errorf("%d calls failed", n)
			}
			if most := callsAtOnce(s.server.Requests(), before); strings.Contains(test.workarounds, "pair_calls") &&
				most > 1 {
				t.Errorf("the second process sends %d calls in one message", most)
			}
			if n := s.count("read", `SELECT count(*) FROM trace WHERE kind = 'prompt'`); n > 4 {
				t.Errorf("%d prompts were in force", n)
			}
		})
	}
}

// TestFamiliesOnEveryWire: the workarounds are the same on every wire of a server with chat templates.
func TestFamiliesOnEveryWire(t *testing.T) {
	t.Parallel()
	for name, workarounds := range map[string]string{
		"Llama 3.1": "pair_calls", "gpt-oss": "pair_calls no_text_beside_calls", "Mistral Nemo": "system_in_user",
		"drops system": "system_in_user",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, story{threads: 1, scenes: 4},
				scripted.Options{
					Strict: true, Template: scripted.Families()[name], Script: withText(scripted.Annotate),
				})
			s.config.Preflight, s.config.Model = true, "scripted"
			for _, w := range s.wires()[:3] { // Gemini's servers have no such templates
				s.over(w, w.name)
				s.verify(w.name)
				if got := s.state(w.name); got.Recorded != 4 || forTemplate(got.Prompt.Workarounds) != workarounds {
					t.Errorf("%s: %d scenes are read, with %q", w.name, got.Recorded, got.Prompt.Workarounds)
				}
			}
			s.noViolations()
		})
	}
}

// forTemplate returns those of recorded workarounds that a chat template needs.
func forTemplate(names string) string {
	return (model.ParseRendering(names) & (model.ForTemplates | model.LooseCount)).Rendering()
}

// withText adds text to the replies that call tools.
func withText(script scripted.Script) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		reply := script(r)
		if len(reply.ToolCalls) > 0 {
			reply.Text = "Here is what I note of the scene, in a sentence that a template may leave out of the prompt."
		}
		return reply
	}
}

// TestDoctorAndRunAgree tests that a run begins with what the doctor calls fit. It refuses what the doctor calls unfit
// before its first scene, with the same message.
func TestDoctorAndRunAgree(t *testing.T) {
	t.Parallel()
	refuses := func(status int, body string) scripted.Options {
		return scripted.Options{Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if len(r.Tools) == 0 {
				return nil
			}
			return &scripted.Fault{Status: status, Body: body}
		}}
	}
	servers := map[string]scripted.Options{
		"no parser of calls": refuses(400,
			`{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}`),
		"no results": refuses(400,
			`{"error":{"message":"Only user and assistant roles are supported, with the exception of an initial optional system message!"}}`),
		"says no": refuses(422, `{"error":{"message":"no tools today"}}`),
		"broken replies": refuses(500,
			`{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format"}}`),
		"little context":    {MaxModelLen: 3000},
		"short tokens":      shortTokens(8192),
		"short enough":      shortTokens(16384),
		"short, and unsaid": refusesLonger(10752),
	}
	for name, template := range scripted.Families() {
		servers[name] = scripted.Options{Template: template}
	}
	for name, options := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, story{threads: 1, scenes: 2}, options)
			s.config.Preflight, s.config.Limit = true, 1
			r := s.runner("agreed")
			err := r.Run(t.Context())
			var unfit []string
			report := s.examine(t)
			for _, f := range report.Findings {
				if f.State == doctor.Failed && f.Check != "calls a tool" { // which sends what "replays a call" does
					words, _, _ := strings.Cut(f.Seen, ";")
					unfit = append(unfit, words)
				}
			}
			began := s.count("agreed", `SELECT count(*) FROM scene WHERE state <> 'pending'`) > 0
			switch {
			case len(unfit) == 0 && !began:
				t.Errorf("the doctor finds nothing, and the run does not begin: %v", err)
			case len(unfit) > 0 && (began || err == nil || !strings.Contains(masked(err.Error()), masked(unfit[0]))):
				t.Errorf("the doctor says %q; the run began: %v, %v", unfit, began, err)
			}
		})
	}
}

// masked returns a text without its digits: the counts of two requests of different lengths may differ by a token.
func masked(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '#'
		}
		return r
	}, text)
}

// shortTokens is a server whose tokenizer makes a token of 2.4 bytes: the estimates of a run that has learned nothing
// are far too low.
func shortTokens(context int) scripted.Options {
	return scripted.Options{MaxModelLen: context, Script: func(r scripted.Request) scripted.Reply {
		reply := scripted.Annotate(r)
		reply.Usage = &annotator.Usage{Prompt: len(r.Body) * 10 / 24, Completion: 10, Exact: true}
		return reply
	}}
}

// refusesLonger is one that reports its context by a refusal alone.
func refusesLonger(context int) scripted.Options {
	o := shortTokens(0)
	o.Fault = func(_ int, r scripted.Request) *scripted.Fault {
		if counted := len(r.Body) * 10 / 24; counted+r.MaxTokens > context {
			return &scripted.Fault{
				Status: 400,
				Body: fmt.Sprintf(`{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: %d. `+
					`This model's maximum context length is %d tokens and your request has %d input tokens (%[1]d > %d - %d).","type":"BadRequestError","param":"max_tokens","code":400}}`,
					r.MaxTokens, context, counted, context, counted),
			}
		}
		return nil
	}
	return o
}

// title returns the title of the story.
func (s *stage) title() string {
	s.t.Helper()
	source, err := corpus.Open(context.Background(), s.corpus)
	if err != nil {
		s.t.Fatal(err)
	}
	defer source.Close()
	title, err := source.Title(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return title
}

// examine has the doctor examine the endpoint of a stage.
func (s *stage) examine(t *testing.T) *doctor.Report {
	t.Helper()
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		t.Fatal(err)
	}
	system := prompt.Compose(s.config.Identity, prompt.Runtime{Title: s.title()})
	prefix := window.NewPrefix(system, tools.EncodeDefinitions(registry.Definitions()), nil)
	report, err := doctor.Examine(t.Context(), &doctor.Endpoint{
		Wire: dial(t, openai.New, s.base), Model: "scripted", Stream: true,
		System: system, Scene: `<scene number="1"><post id="1">Dawn.</post></scene>`, Tools: registry.Definitions(),
		Timeout: time.Minute, Now: time.Now,
		Budget: budget.Budget{
			Wanted: s.config.ContextBudget, MaxReply: s.config.MaxTokens,
			Margin: s.config.SafetyMargin,
		},
		Measure: prefix.Measure, Prefix: prefix.CountedBy,
	}, func(*doctor.Finding) {})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
