package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"annotator"
	"annotator/internal/scripted"
	"annotator/storage"
)

// isProbe reports whether a request only asks whether the server is there.
func isProbe(r scripted.Request) bool {
	return len(r.Tools) == 0 && len(r.Messages) == 1 && r.MaxTokens == 1
}

// TestServerIsProbed tests a server that is away, loading or silent, or fails again and again. It is not sent the long
// prompt, but asked for a token, and the scene is charged nothing. What comes of the story is what would have come of
// it undisturbed.
func TestServerIsProbed(t *testing.T) {
	t.Parallel()
	calm := crashStage(t)
	if err := calm.run("calm"); err != nil {
		t.Fatal(err)
	}
	want := dump(t, calm.db("calm"))
	for name, test := range map[string]struct {
		fault   scripted.Fault
		prompts int // that meet the fault before probes do
		charged int // attempts
	}{
		"loading": {scripted.Fault{Status: 503, Body: `{"error":{"message":"Loading model",` +
			`"type":"unavailable_error","code":503}}`}, 1, 1},
		"engine died": {scripted.Fault{Status: 500, Body: `{"error":{"message":"EngineCore encountered an issue.",` +
			`"code":500}}`}, 1, 1},
		"bad gateway": {scripted.Fault{Status: 502, Body: `<html>Bad Gateway</html>`}, 2, 3},
		"cut":         {scripted.Fault{Cut: 20}, 2, 3},
		"a page":      {scripted.Fault{Status: 404, Body: `<html>The tunnel is offline</html>`}, 1, 1},
		"another API": {scripted.Fault{Body: `{"message":"starting"}`}, 1, 1},
		"no HTTP":     {scripted.Fault{Serve: speaksOtherwise("220 mail.test ESMTP\r\n")}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{t: t, dir: t.TempDir(), corpus: calm.corpus, config: calm.config}
			var met []bool // by request that met the fault: it was a probe
			s.serve(scripted.Options{Strict: true, Fault: func(call int, r scripted.Request) *scripted.Fault {
				if call < 8 || len(met) >= test.prompts+5 {
					return nil
				}
				met = append(met, isProbe(r))
				return &test.fault
			}})
			if err := s.run("away"); err != nil {
				t.Fatal(err)
			}
			if got := slices.Index(met, true); got != test.prompts || slices.Contains(met[got:], false) {
				t.Errorf("the requests that failed were probes: %v", met)
			}
			if n := s.count("away", `SELECT count(*) FROM call WHERE purpose = 'probe' AND outcome = 'ok' AND `+
				`trace_id IS NULL`); n != 1 {
				t.Errorf("%d probes were answered", n)
			}
			if n := s.count("away", `SELECT max(attempt) FROM call WHERE purpose = 'annotate'`); n != test.charged {
				t.Errorf("the scene was charged %d attempts", n)
			}
			s.compareBut("away", want, "run_state ")
		})
	}
}

// TestProbeTeaches: where the first request that a server reads is a probe, the wire learns of it what the server wants
// otherwise.
func TestProbeTeaches(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 2},
		scripted.Options{Strict: true, Fault: func(call int, r scripted.Request) *scripted.Fault {
			_, old := r.Params["max_tokens"]
			switch {
			case call == 1:
				return &scripted.Fault{Status: 503, Body: `{"error":{"message":"Loading model"}}`}
			case old:
				return &scripted.Fault{
					Status: 400,
					Body:   `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.","param":"max_tokens","code":"unsupported_parameter"}}`,
				}
			}
			return nil
		}})
	if err := s.run("taught"); err != nil {
		t.Fatal(err)
	}
	s.verify("taught")
	if n := s.count("taught", `SELECT count(*) FROM call WHERE purpose = 'probe' AND decision = 'adapt'`); n != 1 {
		t.Errorf("%d probes have taught something", n)
	}
}

// TestRateLimitIsSatOut: who asks too often is not asked more.
func TestRateLimitIsSatOut(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 2},
		scripted.Options{Strict: true, Fault: func(call int, r scripted.Request) *scripted.Fault {
			if isProbe(r) {
				t.Error("a probe")
			}
			if call < 2 || call > 6 {
				return nil
			}
			return &scripted.Fault{
				Status: 429, Header: map[string][]string{"Retry-After": {"-1"}},
				Body: `{"error":{"message":"slow down"}}`,
			}
		}})
	if err := s.run("limited"); err != nil {
		t.Fatal(err)
	}
	s.verify("limited")
	if n := s.count("limited", `SELECT count(*) FROM call WHERE decision = 'wait' AND attempt = 1`); n != 5 {
		t.Errorf("%d waits that were not charged", n)
	}
}

// TestPatienceEnds: a server that does not come back halts the run, within the patience, and the next run goes on.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	away := true
	s := newStage(t, story{threads: 1, scenes: 2},
		scripted.Options{Strict: true, Fault: func(call int, _ scripted.Request) *scripted.Fault {
			if call < 3 || !away {
				return nil
			}
			return &scripted.Fault{
				Status: 503, Header: map[string][]string{"Retry-After": {"1e9"}},
				Body: `{"error":{"message":"Loading model"}}`,
			}
		}})
	s.config.Retry.Patience, s.config.Retry.Max = 30*time.Millisecond, 5*time.Millisecond
	s.config.Advise = withReason
	if err := s.run("patient"); !errors.Is(err, annotator.Halted) ||
		!strings.Contains(err.Error(), string(annotator.ReasonOverloaded)) {
		t.Fatal(err)
	}
	s.verify("patient")
	if n := s.count("patient",
		`SELECT count(*) FROM call WHERE purpose = 'annotate' AND outcome = 'overloaded'`); n != 1 {
		t.Errorf("the long prompt was sent %d times", n)
	}
	const last = ` FROM call WHERE purpose = 'probe' AND id = (SELECT max(id) FROM call)`
	if n := s.count("patient", `SELECT decision = 'halt' AND reason = 'the patience of 30ms is at its end'`+
		last); n != 1 {
		t.Error("the newest call does not say that the run halts")
	}
	away = false
	if err := s.run("patient"); err != nil {
		t.Fatal(err)
	}
}

// TestPromptThatBringsTheServerDown: each time it does, the server is waited for; in the end it is the scene that is
// given up.
func TestPromptThatBringsTheServerDown(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 3},
		scripted.Options{Strict: true, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if isProbe(r) || !strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, `<scene number="2"`) {
				return nil
			}
			return &scripted.Fault{
				Status: 500,
				Body:   `{"error":{"message":"EngineCore encountered an issue.","code":500}}`,
			}
		}})
	if err := s.run("poison"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	s.verify("poison")
	if run := s.state("poison"); run.Recorded != 2 || run.Quarantined != 1 {
		t.Errorf("recorded %d, quarantined %d", run.Recorded, run.Quarantined)
	}
	if n := s.count("poison",
		`SELECT count(*) FROM call WHERE outcome = 'unreachable' AND purpose = 'annotate'`); n !=
		s.config.Retry.Attempts+1 {
		t.Errorf("it was brought down %d times", n)
	}
}

// TestRepliesAreInspected tests that a reply that cannot be used is requested again, with another seed, and that
// nothing of it stays. If the model continues so, the scene is quarantined, with what it wrote.
func TestRepliesAreInspected(t *testing.T) {
	t.Parallel()
	calm := newStage(t, story{threads: 1, scenes: 2}, scripted.Options{Strict: true})
	if err := calm.run("calm"); err != nil {
		t.Fatal(err)
	}
	want := dump(t, calm.db("calm"))
	for name, reply := range map[string]scripted.Reply{
		"empty":             {},
		"exclamation":       {Text: "!!!!"},
		"overflow":          {Text: strings.Repeat("!", 3000)},
		"a thought":         {Text: "<think>It may be so."},
		"loop in a thought": {Reasoning: strings.Repeat("Wait, no. ", 300), Text: "So."},
		"NUL": {ToolCalls: []annotator.ToolCall{{Name: "glossary_create", Arguments: `{"term":"La\u00` +
			`00mp","definition":"A lamp."}`}}},
		"half a pair": {ToolCalls: []annotator.ToolCall{{Name: "glossary_create", Arguments: `{"term":"La\ud8` +
			`00mp","definition":"A lamp."}`}}},
		"hundreds of calls": {
			ToolCalls: slices.Repeat([]annotator.ToolCall{{Name: "glossary_search", Arguments: `{"query":"x"}`}}, 300),
		},
		"the server's error": {Text: "It", FinishReason: "abort"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{t: t, dir: t.TempDir(), corpus: calm.corpus, config: calm.config}
			var seeds []string
			s.serve(scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				if strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, `<scene number="2"`) {
					if seeds = append(seeds, string(r.Params["seed"])); len(seeds) < 3 {
						return reply
					}
				}
				return scripted.Annotate(r)
			}})
			if err := s.run("odd"); err != nil {
				t.Fatal(err)
			}
			s.compareBut("odd", want, "run_state ")
			if !slices.Equal(seeds, []string{"", "1", "2"}) {
				t.Errorf("seeds %q", seeds)
			}
			if n := s.count("odd",
				`SELECT count(*) FROM call WHERE outcome = 'malformed' AND decision = 'retry' AND reason LIKE 'attempt _ of 4 in %' AND raw <> ''`); n !=
				2 {
				t.Errorf("%d replies on record as what they were", n)
			}

			s.serve(scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				if strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, `<scene number="1"`) {
					return reply
				}
				return scripted.Annotate(r)
			}})
			if err := s.run("for ever"); !errors.Is(err, annotator.Quarantined) {
				t.Fatal(err)
			}
			s.verify("for ever")
			if n := s.count("for ever",
				`SELECT count(*) FROM scene WHERE n = 1 AND state = 'quarantined' AND raw <> '' AND fault = 'malformed'`); n !=
				1 {
				t.Error("scene 1 is not quarantined with what the server sent")
			}
		})
	}
}

// TestThoughtGetsMoreRoom: a model that thinks to the end of its reply is allowed a longer one, once.
func TestThoughtGetsMoreRoom(t *testing.T) {
	t.Parallel()
	for name, enough := range map[string]int{"enough": 800, "never": 1 << 20} {
		var limits []int
		s := newStage(t, story{threads: 1, scenes: 1},
			scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				if limits = append(limits, r.MaxTokens); r.MaxTokens < enough {
					return scripted.Reply{
						Reasoning: prose("Latin", 4*r.MaxTokens+400, uint64(r.Tokens)),
						Text:      "So it is.",
					}
				}
				return scripted.Reply{Text: "So it is."}
			}})
		s.config.MaxTokens, s.config.NoThreadSummaries = 400, true
		err := s.run(name)
		s.verify(name)
		if !slices.Equal(limits, []int{400, 1600}) || errors.Is(err, annotator.Quarantined) != (name == "never") {
			t.Errorf("%s: limits %v, then %v", name, limits, err)
		}
	}
}

// TestGrownReplyIsCutBack: a server that takes no longer reply is believed, and the scene gets what there is.
func TestGrownReplyIsCutBack(t *testing.T) {
	t.Parallel()
	var limits []int
	s := newStage(t, story{threads: 1, scenes: 1}, scripted.Options{
		Strict: true, Script: func(r scripted.Request) scripted.Reply {
			if r.MaxTokens < 700 {
				return scripted.Reply{Reasoning: prose("Latin", 4*r.MaxTokens+400, uint64(r.Tokens)), Text: "So it is."}
			}
			return scripted.Reply{Text: "So it is."}
		},
		Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if limits = append(limits, r.MaxTokens); r.MaxTokens <= 1_000 {
				return nil
			}
			return &scripted.Fault{Status: 400, Body: `{"error":{"message":"max_tokens is too large: 1600"}}`}
		},
	})
	s.config.MaxTokens, s.config.NoThreadSummaries = 400, true
	if err := s.run("back"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(limits, []int{400, 1600, 800}) {
		t.Errorf("limits %v", limits)
	}
}

// TestCutPromptIsNoticed: a server that drops the beginning of a long prompt answers as if nothing were wrong. Nothing
// of that is recorded, and no estimate learns from it; a user who knows better may go on.
func TestCutPromptIsNoticed(t *testing.T) {
	t.Parallel()
	const window = 5_000
	s := newStage(t, story{threads: 1, scenes: 6, words: 300},
		scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
			reply := scripted.Annotate(r)
			reply.Usage = &annotator.Usage{Prompt: min(r.Tokens, window-r.Tokens%100), Completion: 5}
			return reply
		}})
	s.config.Advise = withReason
	err := s.run("cut")
	if !errors.Is(err, annotator.Halted) || !strings.Contains(err.Error(), string(annotator.ReasonPromptCut)) {
		t.Fatal(err)
	}
	s.verify("cut")
	recorded := s.state("cut").Recorded
	if recorded == 0 || recorded > 5 {
		t.Errorf("recorded %d", recorded)
	}
	if n := s.count("cut", `SELECT count(*) FROM call WHERE outcome = 'misconfigured' AND decision = 'halt'`); n != 1 {
		t.Errorf("%d calls on record for what they were", n)
	}
	s.config.Accept = map[string]bool{"counts": true}
	if err := s.run("cut"); err != nil {
		t.Fatal(err)
	}
	s.verify("cut")
	if n := s.count("cut", `SELECT count(*) FROM call WHERE outcome = 'ok' AND exact = 0`); n == 0 {
		t.Error("every count was believed")
	}
}

// TestAnotherModelAnswers tests that a change of the model is reported and recorded; a user who does not want it can
// refuse it.
func TestAnotherModelAnswers(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 2}, scripted.Options{Strict: true})
	s.transport = rewriting(func(body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(`"model":"scripted"`), []byte(`"model":"stranger"`))
	})
	var words []string
	s.bus.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeWarning {
			words = append(words, n.Reason)
		}
	})
	if err := s.run("lax"); err != nil {
		t.Fatal(err)
	}
	if n := len(slices.DeleteFunc(words, func(w string) bool {
		return !strings.Contains(w, "stranger answers")
	})); n != 1 {
		t.Errorf("told %d times", n)
	}
	if n := s.count("lax", `SELECT count(*) FROM call WHERE model <> 'stranger'`); n != 0 {
		t.Errorf("%d calls do not say who answered", n)
	}
	s.config.StrictModel = true
	if err := s.run("strict"); !errors.Is(err, annotator.Halted) ||
		!strings.Contains(err.Error(), "stranger answered") {
		t.Error(err)
	}
	s.verify("strict")
}

// TestCircles: what was answered twice is not answered again, unless something has changed since; a model that goes on
// is given up.
func TestCircles(t *testing.T) {
	t.Parallel()
	search := annotator.ToolCall{Name: "glossary_search", Arguments: `{"query":"lantern"}`}
	create := annotator.ToolCall{
		Name:      "glossary_create",
		Arguments: `{"term":"Lantern","definition":"A lantern burned.","tags":["thing"]}`,
	}
	for name, test := range map[string]struct {
		replies  [][]annotator.ToolCall // of the scene; then text
		repeated int                    // calls that were answered so
		refused  bool
	}{
		"told":    {[][]annotator.ToolCall{{search}, {search}, {search}}, 1, false},
		"at once": {[][]annotator.ToolCall{{search, search, search, search}}, 2, false},
		"deaf":    {[][]annotator.ToolCall{{search}, {search}, {search}, {search}, {search}}, 2, true},
		"changed": {[][]annotator.ToolCall{{search}, {search}, {create}, {search}, {search}}, 0, false},
		"a write": {[][]annotator.ToolCall{{create}, {create}, {create}}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			s := newStage(t, story{threads: 1, scenes: 1},
				scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
					if calls++; calls > len(test.replies) || !r.MayCall() {
						return scripted.Reply{Text: "Enough."}
					}
					return scripted.Reply{ToolCalls: test.replies[calls-1]}
				}})
			if err := s.run("circles"); errors.Is(err, annotator.Quarantined) != test.refused {
				t.Fatal(err)
			}
			s.verify("circles")
			s.noViolations()
			if n := s.count("circles", `SELECT count(*) FROM trace WHERE error = 'REPEATED'`); n != test.repeated {
				t.Errorf("%d calls were told so", n)
			}
		})
	}
}

// TestCutCallsAreNoCircles: what was not run for the end of its reply may be asked for as often as it takes.
func TestCutCallsAreNoCircles(t *testing.T) {
	t.Parallel()
	calls := 0
	s := newStage(t, story{threads: 1, scenes: 1},
		scripted.Options{Strict: true, Script: func(scripted.Request) scripted.Reply {
			reply := scripted.Reply{ToolCalls: []annotator.ToolCall{
				{Name: "glossary_create", Arguments: `{"term":"Lante` +
					`rn","definition":"It burned.","tags":["thing"]}`},
			}}
			switch calls++; {
			case calls <= 3:
				reply.FinishReason = "length"
			case calls > 4:
				return scripted.Reply{Text: "Enough."}
			}
			return reply
		}})
	if err := s.run("cut"); err != nil {
		t.Fatal(err)
	}
	s.verify("cut")
	if run := s.state("cut"); run.Entries != 1 {
		t.Errorf("%d entries", run.Entries)
	}
}

// TestManyCalls tests that the first of dozens of calls in a reply run. The answer to each other call says that it did
// not.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 1},
		scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
			if len(r.Messages) > 2 {
				return scripted.Reply{Text: "Enough."}
			}
			var reply scripted.Reply
			for n := range 50 {
				reply.ToolCalls = append(reply.ToolCalls, annotator.ToolCall{
					Name:      "glossary_create",
					Arguments: fmt.Sprintf(`{"term":"Lantern %d","definition":"It is a lantern.","tags":["thing"]}`, n),
				})
			}
			return reply
		}})
	s.config.MaxTokens = 8_000
	if err := s.run("many"); err != nil {
		t.Fatal(err)
	}
	s.verify("many")
	if made, told := s.state("many").Entries,
		s.count("many", `SELECT count(*) FROM trace WHERE error = 'CALL_LIMIT'`); made != 32 || told != 18 {
		t.Errorf("%d entries made, %d calls told", made, told)
	}
}

// TestBrokenServerSparesTheBook: after some scenes in a row the run halts, whatever they failed for; started again it
// goes on.
func TestBrokenServerSparesTheBook(t *testing.T) {
	t.Parallel()
	broken := true
	s := newStage(t, story{threads: 2, scenes: 5},
		scripted.Options{Strict: true, Fault: func(call int, r scripted.Request) *scripted.Fault {
			if !broken || strings.Count(string(r.Body), `<scene number=`) == 1 { // the first scene is read
				return nil
			}
			if call%2 == 0 {
				return &scripted.Fault{Status: 422, Body: `{"error":{"message":"no"}}`}
			}
			return &scripted.Fault{Body: `{"choices":[]}`}
		}})
	s.config.Advise = withReason
	for _, quarantined := range []int{3, 6} {
		if err := s.run("broken"); !errors.Is(err, annotator.Halted) ||
			!strings.Contains(err.Error(), "3 scenes in a row") ||
			!strings.Contains(err.Error(), string(annotator.ReasonScenesFail)) {
			t.Fatal(err)
		}
		s.verify("broken")
		if run := s.state("broken"); run.Recorded != 1 || run.Quarantined != quarantined {
			t.Fatalf("recorded %d, quarantined %d", run.Recorded, run.Quarantined)
		}
	}
	broken = false
	store := s.writer("broken")
	if n, err := store.Scenes.Retry(context.Background()); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.run("broken"); err != nil {
		t.Fatal(err)
	}
	s.verify("broken")
	if run := s.state("broken"); run.Recorded != 10 {
		t.Errorf("recorded %d", run.Recorded)
	}
}

// TestFilteredScenesDoNotHalt tests that a refusal because of the story's content is no sign of a broken server.
func TestFilteredScenesDoNotHalt(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 5},
		scripted.Options{Strict: true, Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: "It", FinishReason: "content_filter"}
		}})
	if err := s.run("filtered"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	s.verify("filtered")
	if n := s.count("filtered",
		`SELECT count(*) FROM scene WHERE reason LIKE '%content_filter%' AND raw <> ''`); n != 5 {
		t.Errorf("%d scenes are quarantined with what ended them", n)
	}
}

// TestPreflight: what a server cannot do shows before the first scene, and what it is still doing is waited for.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault  scripted.Fault
		once   bool
		advice string // of the halt; empty: there is none
	}{
		"no parser of calls": {scripted.Fault{
			Status: 400,
			Body:   `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}`,
		}, false, "--tool-call-parser"},
		"unknown model": {scripted.Fault{Status: 404, Body: `{"error":{"message":"The model 'x' does not ` +
			`exist.","code":404}}`}, false, "it serves scripted"},
		"loading": {
			scripted.Fault{Status: 503, Body: `{"error":{"message":"Loading model","code":503}}`},
			true, "",
		},
		"no system role": {
			scripted.Fault{Status: 400, Body: `{"error":{"message":"System role not supported"}}`},
			true, "",
		},
		"not today": {
			scripted.Fault{Status: 422, Body: `{"error":{"message":"no"}}`},
			false,
			string(annotator.ReasonServerUnfit),
		},
		"no rendering": {scripted.Fault{
			Status: 400,
			Body:   `{"error":{"code":400,"message":"Unable to generate parser for this template. Automatic parser generation failed: x","type":"invalid_request_error"}}`,
		}, false, "start the server with one that can"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := ""
			s := newStage(t, story{threads: 1, scenes: 2},
				scripted.Options{Strict: true, Fault: func(call int, r scripted.Request) *scripted.Fault {
					if call == 1 {
						for _, m := range r.Messages {
							first += string(m.Role) + " "
						}
						if len(r.Tools) == 0 {
							t.Error("the preflight shows no tools")
						}
					}
					if test.once && call > 1 {
						return nil
					}
					return &test.fault
				}})
			s.config.Preflight, s.config.Advise = true, withReason
			err := s.run("flown")
			s.verify("flown")
			if first != "system user assistant tool tool assistant user " {
				t.Errorf("the first request has the roles %s", first)
			}
			if test.advice == "" {
				if err != nil || s.state("flown").Recorded != 2 {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, annotator.Halted) || !strings.Contains(err.Error(), test.advice) {
				t.Error(err)
			}
			if n := s.count("flown", `SELECT count(*) FROM scene WHERE state <> 'pending'`); n > 0 {
				t.Errorf("%d scenes were begun", n)
			}
		})
	}
}

// rewriting changes the bodies of replies.
type rewriting func(body []byte) []byte

func (change rewriting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/completions") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	body = change(body)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// writer opens the named database as a run does.
func (s *stage) writer(name string) *storage.DB {
	s.t.Helper()
	db, err := storage.OpenWriter(context.Background(), s.db(name), "the test", time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	return db
}

// TestCancelFreesTheServer: a run that is ended in the middle of a call closes the connection at once, and puts on
// record why.
func TestCancelFreesTheServer(t *testing.T) {
	t.Parallel()
	asked, freed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := newStage(t, story{threads: 1, scenes: 1}, scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault {
		return &scripted.Fault{Serve: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			once.Do(func() { close(asked) })
			<-r.Context().Done()
			close(freed) // a second call would panic
		})}
	}})
	r := s.runner("cancelled")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	<-asked
	cancel()
	select {
	case <-freed:
	case <-time.After(20 * time.Second):
		t.Fatal("the server works on for nobody")
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := s.count("cancelled",
		`SELECT count(*) FROM call WHERE outcome = 'interrupted' AND decision = 'interrupted'`); n != 1 {
		t.Errorf("%d calls are on record as interrupted", n)
	}
}
