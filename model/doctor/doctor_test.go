package doctor_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"annotator"
	"annotator/budget"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/doctor"
	"annotator/model/endpoint"
	"annotator/model/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canary is a key that must not be in any output.
const canary = "sk-canary-0123456789"

// newEndpoint returns an endpoint at a URL with the settings of a run.
func newEndpoint(t *testing.T, address string) *doctor.Endpoint {
	t.Helper()
	return newEndpointOver(t, address, nil)
}

// newEndpointOver returns an endpoint that is reached over the test's network.
func newEndpointOver(t *testing.T, address string, network http.RoundTripper) *doctor.Endpoint {
	t.Helper()
	o := endpoint.Options{BaseURL: address + "/v1", Key: canary, HTTP: network}
	wire, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := endpoint.New(o, endpoint.API{Header: endpoint.Bearer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(wire.Close)
	t.Cleanup(beside.Close)
	return &doctor.Endpoint{
		Wire: wire, WireName: "chat", Beside: beside, Keyed: true, Model: "scripted",
		Budget: budget.Budget{Wanted: 32_768, MaxReply: 512}, Stream: true,
		Prefix: func(*annotator.Call) int { return 4_096 - budget.MinScene - 512 }, // a run needs 4,096 tokens
		System: strings.Repeat("You keep a codex. ", 100), Scene: `<scene number="1"><post id="1">Dawn.</post></scene>`,
		Tools: []annotator.ToolDefinition{
			{Name: "search", Schema: []byte(`{"type":"object"}`)}, {Name: "note", Schema: []byte(`{"type":"object"}`)},
		},
		Timeout: 20 * time.Second, Now: time.Now,
	}
}

// healthy is the script of a server that supports everything.
func healthy(r scripted.Request) scripted.Reply {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case r.Params["response_format"] != nil:
		return scripted.Reply{Text: `{"verdict": "wet"}`}
	case strings.Contains(last.Content, "password") && strings.Contains(r.Messages[0].Content, "MARZIPAN"):
		return scripted.Reply{Text: "Marzipan."}
	case r.MayCall() && last.Role == annotator.RoleUser:
		name := "note"
		if strings.Contains(r.ToolChoice, "search") {
			name = "search"
		}
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{Name: name, Arguments: `{"term":"Dawn"}`}}}
	}
	return scripted.Reply{Text: "yes"}
}

// examine makes all checks and returns them by name.
func examine(t *testing.T, p *doctor.Endpoint) (*doctor.Report, map[string]doctor.Finding) {
	t.Helper()
	var passed []doctor.Finding
	report, err := doctor.Examine(t.Context(), p, func(f *doctor.Finding) { passed = append(passed, *f) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(passed, report.Findings) {
		t.Errorf("passed %+v", passed)
	}
	byName := map[string]doctor.Finding{}
	for _, f := range report.Findings {
		byName[f.Check] = f
		if f.Seen == "" || strings.Contains(f.Seen, canary) {
			t.Errorf("%s saw %q", f.Check, f.Seen)
		}
	}
	return report, byName
}

func TestHealthyServerHasNoFinding(t *testing.T) {
	t.Parallel()
	server := scripted.Start(t, scripted.Options{Script: healthy})
	for _, named := range []string{"scripted", ""} {
		p := newEndpoint(t, server.URL)
		p.Model = named
		report, found := examine(t, p)
		for name, f := range found {
			if f.State != doctor.OK {
				t.Errorf("%s is %s: %s", name, f.State, f.Seen)
			}
		}
		if !report.Works() || report.Model != "scripted" || report.Server.Name != "vLLM" || len(report.Remedies) != 0 {
			t.Errorf("%+v", report)
		}
	}
}

// count replaces the usage of replies.
func count(script scripted.Script, usage func(scripted.Request) annotator.Usage) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		reply, u := script(r), usage(r)
		reply.Usage = &u
		return reply
	}
}

func uncached(r scripted.Request) annotator.Usage {
	return annotator.Usage{Prompt: r.Tokens, Completion: 1}
}

// counter is a wire whose server's prompt counter grows with each request, and whose cache counter does not.
type counter struct {
	model.Wire
	each, counted int
}

func (c *counter) CacheCounts(context.Context) (model.CacheCounts, error) {
	c.counted += c.each
	return model.CacheCounts{Prompt: c.counted}, nil
}

func counting(each int) func(*doctor.Endpoint) {
	return func(p *doctor.Endpoint) { p.Wire = &counter{Wire: p.Wire, each: each} }
}

// answer replaces the replies to some requests.
func answer(with scripted.Reply, to func(scripted.Request) bool) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if to(r) {
			return with
		}
		return healthy(r)
	}
}

// refuse refuses some requests.
func refuse(status int, message string, which func(scripted.Request) bool) func(int, scripted.Request) *scripted.Fault {
	return func(_ int, r scripted.Request) *scripted.Fault {
		if !which(r) {
			return nil
		}
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": message}})
		if err != nil {
			panic(err)
		}
		return &scripted.Fault{Status: status, Body: string(body)}
	}
}

func every(scripted.Request) bool        { return true }
func withTools(r scripted.Request) bool  { return len(r.Tools) > 0 }
func streamed(r scripted.Request) bool   { return r.Stream }
func withSystem(r scripted.Request) bool { return r.Messages[0].Role == annotator.RoleSystem }
func withResults(r scripted.Request) bool {
	return r.Messages[len(r.Messages)-1].Role == annotator.RoleTool
}
func withSchema(r scripted.Request) bool  { return r.Params["response_format"] != nil }
func notDemanded(r scripted.Request) bool { return r.ToolChoice == `"auto"` && !withResults(r) }
func wantsPassword(r scripted.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Content, "password")
}

// TestEachIllIsFound: each fault of a server has its finding and its remedy.
func TestEachIllIsFound(t *testing.T) {
	t.Parallel()
	call := func(name, arguments string) scripted.Reply {
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{Name: name, Arguments: arguments}}}
	}
	tests := []struct {
		name   string
		server scripted.Options
		change func(*doctor.Endpoint)
		check  string
		state  doctor.State
		seen   string
		remedy string // what the server is to be started with; empty: whatever
	}{
		{
			name: "another model", change: func(p *doctor.Endpoint) { p.Model = "other" },
			check: "lists models", state: doctor.Missing, seen: "other is not among them: scripted",
		},
		{
			name: "it does not serve that model", change: func(p *doctor.Endpoint) { p.Model = "other" },
			check: "answers", state: doctor.Failed, seen: "does not exist",
		},
		{
			name:   "loading",
			server: scripted.Options{Fault: refuse(503, "Loading model", every)},
			check:  "answers", state: doctor.Failed, seen: "Loading model",
		},
		{
			name:   "what follows an answer that does not come",
			server: scripted.Options{Fault: refuse(500, "boom", every)},
			check:  "calls a tool", state: doctor.Skipped, seen: "nothing answers",
		},
		{
			name:   "less context than the budget",
			server: scripted.Options{MaxModelLen: 16_000},
			check:  "context length", state: doctor.Missing, seen: "16000 tokens; a run lowers its budget of 32768",
			remedy: "--max-model-len N",
		},
		{
			name:   "too little context",
			server: scripted.Options{MaxModelLen: 4000},
			check:  "context length", state: doctor.Failed, seen: "leaves 928 for a scene", remedy: "--max-model-len N",
		},
		{
			name:   "no streaming",
			server: scripted.Options{Fault: refuse(400, "streaming is off", streamed)},
			check:  "streams", state: doctor.Failed, seen: string(annotator.ReasonNoStream),
		},
		{
			name:   "no streaming, and none is wanted",
			server: scripted.Options{Fault: refuse(400, "streaming is off", streamed)},
			change: func(p *doctor.Endpoint) { p.Stream = false },
			check:  "streams", state: doctor.Missing, seen: "streaming is off",
		},
		{
			name: "one piece for a stream",
			server: scripted.Options{Fault: func(_ int, r scripted.Request) *scripted.Fault {
				if !r.Stream {
					return nil
				}
				return &scripted.Fault{
					Status: 200,
					Body:   `{"choices":[{"message":{"content":"one"},"finish_reason":"stop"}]}`,
				}
			}},
			check: "streams", state: doctor.Missing, seen: "in one piece",
		},
		{
			name: "no account of tokens",
			server: scripted.Options{Script: count(healthy, func(scripted.Request) annotator.Usage {
				return annotator.Usage{}
			})},
			check: "reports usage", state: doctor.Missing, seen: "a run estimates them",
		},
		{
			name: "no account of tokens in streams",
			server: scripted.Options{Script: count(healthy, func(r scripted.Request) annotator.Usage {
				if r.Stream {
					return annotator.Usage{}
				}
				return annotator.Usage{Prompt: r.Tokens, Completion: 1}
			})},
			check: "reports usage", state: doctor.Missing, seen: string(annotator.ReasonNoStream),
		},
		{
			name: "no system role",
			server: scripted.Options{
				Fault:  refuse(400, "System role not supported", withSystem),
				Script: answer(scripted.Reply{Text: "marzipan"}, wantsPassword),
			},
			check: "replays a call", state: doctor.OK, seen: "adapted: the system prompt goes into the first message",
		},
		{
			name:   "a shy model",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "I must not tell."}, wantsPassword)},
			check:  "keeps the system prompt", state: doctor.OK, seen: "tokens of it are read",
		},
		{
			name: "the system prompt is dropped",
			server: scripted.Options{Script: count(answer(scripted.Reply{Text: "Which?"}, wantsPassword),
				func(r scripted.Request) annotator.Usage {
					return annotator.Usage{
						Prompt:     4 + scripted.Tokens(r.Messages[len(r.Messages)-1].Content),
						Completion: 2,
					}
				})},
			check: "keeps the system prompt", state: doctor.Failed, seen: "the template drops it",
			remedy: "--chat-template FILE",
		},
		{
			name:   "roles must alternate, and calls have one result each",
			server: scripted.Options{Strict: true},
			check:  "replays a call", state: doctor.OK, seen: "two calls at once",
		},
		{
			name: "no parser for calls",
			server: scripted.Options{Fault: refuse(400,
				`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`, withTools)},
			check: "calls a tool", state: doctor.Failed, seen: "--tool-call-parser",
			remedy: "--enable-auto-tool-choice --tool-call-parser PARSER",
		},
		{
			name: "calls as text",
			server: scripted.Options{
				Script: answer(
					scripted.Reply{Text: `<tool_call>{"name":"note","arguments":{"term":"Dawn"}}</tool_call>`},
					withTools),
			},
			check: "calls a tool", state: doctor.Missing, seen: "note, as text",
			remedy: "--enable-auto-tool-choice --tool-call-parser PARSER",
		},
		{
			name:   "calls where it must",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "A fine scene."}, notDemanded)},
			check:  "calls a tool", state: doctor.Missing, seen: "only where a call is required",
		},
		{
			name:   "never calls",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "A fine scene."}, withTools)},
			check:  "calls a tool", state: doctor.Missing, seen: `it answers "A fine scene."`,
		},
		{
			name:   "a reply that says nothing",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "!!!!"}, withTools)},
			check:  "calls a tool", state: doctor.Failed, seen: "no word in it",
		},
		{
			name: "a filter",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "I", FinishReason: "content_filter"},
				withTools)},
			check: "calls a tool", state: doctor.Failed, seen: "content filter", remedy: none,
		},
		{
			name:   "a prompt that is flagged",
			server: scripted.Options{Fault: refuse(403, "Your input requires moderation: it was flagged", withTools)},
			check:  "calls a tool", state: doctor.Failed, seen: "will read such a story", remedy: none,
		},
		{
			name: "a model that is stuck",
			server: scripted.Options{Script: answer(scripted.Reply{Text: strings.Repeat("the lamp and ", 300)},
				withTools)},
			check: "calls a tool", state: doctor.Failed, seen: "quantisation", remedy: none,
		},
		{
			name:   "a server that is busy when tools are asked for",
			server: scripted.Options{Fault: refuse(503, "busy", withTools)},
			check:  "calls a tool", state: doctor.Failed, seen: "try again when it is ready", remedy: none,
		},
		{
			name:   "busy is not toolless",
			server: scripted.Options{Fault: refuse(503, "busy", withTools)},
			check:  "calls on demand", state: doctor.Missing, seen: "try again when it is ready",
		},
		{
			name:   "unknown tool",
			server: scripted.Options{Script: answer(call("functions.noted:0", `{}`), withTools)},
			check:  "calls a tool", state: doctor.Missing, seen: `it calls "functions.noted:0"`,
		},
		{
			name:   "arguments that are none",
			server: scripted.Options{Script: answer(call("note", `[1]`), withTools)},
			check:  "calls a tool", state: doctor.Missing, seen: "the arguments of note are no object",
		},
		{
			name: "nothing on demand",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "No."}, func(r scripted.Request) bool {
				return strings.Contains(r.ToolChoice, "search")
			})},
			check: "calls on demand", state: doctor.Missing, seen: `search is required, and it answers "No."`,
		},
		{
			name:   "another tool on demand",
			server: scripted.Options{Script: answer(call("note", `{}`), withTools)},
			check:  "calls on demand", state: doctor.Missing, seen: "search is required, and it calls note",
		},
		{
			name:   "a template without results of tools",
			server: scripted.Options{Fault: refuse(400, "Jinja Exception: tool results are not for me", withTools)},
			check:  "replays a call", state: doctor.Failed, seen: "cannot render this conversation",
			remedy: "--chat-template FILE",
		},
		{
			name: "nothing cached",
			server: scripted.Options{Script: count(healthy, func(r scripted.Request) annotator.Usage {
				return annotator.Usage{Prompt: r.Tokens, Completion: 1}
			})},
			check: "reports cached tokens", state: doctor.Missing, seen: "by the server's own counters",
			remedy: "--enable-prompt-tokens-details",
		},
		{
			name:   "no prefix cache in use",
			server: scripted.Options{Script: count(healthy, uncached)}, change: counting(0),
			check: "reports cached tokens", state: doctor.Missing, seen: "computes every prompt whole",
			remedy: "--enable-prefix-caching, which --no-enable-prefix-caching turns off",
		},
		{
			name: "only the first token cached, as llama.cpp counts that of an unlike prompt",
			server: scripted.Options{Script: count(healthy, func(r scripted.Request) annotator.Usage {
				return annotator.Usage{Prompt: r.Tokens, Cached: 1, Completion: 1}
			})},
			change: counting(0),
			check:  "reports cached tokens", state: doctor.Missing, seen: "1 of the ",
			remedy: "--enable-prefix-caching, which --no-enable-prefix-caching turns off",
		},
		{
			name:   "a clock at the head of the template",
			server: scripted.Options{Script: count(healthy, uncached)}, change: counting(1000),
			check: "reports cached tokens", state: doctor.Missing,
			seen:   "something at the beginning of the prompt changes",
			remedy: "--chat-template FILE, without strftime_now or another clock",
		},
		{
			name: "the beginning of a long prompt is dropped",
			server: scripted.Options{Script: count(healthy, func(r scripted.Request) annotator.Usage {
				return annotator.Usage{Prompt: min(r.Tokens, 4000), Completion: 1}
			})},
			check: "keeps a long prompt", state: doctor.Failed, seen: "it counts 4000 tokens of a prompt",
			remedy: "--max-model-len N",
		},
		{
			name: "a long prompt is refused",
			server: scripted.Options{Fault: refuse(400, "the context size of 4096 is exceeded",
				func(r scripted.Request) bool { return r.Tokens > 4096 })},
			check: "keeps a long prompt", state: doctor.Failed, seen: "are too many for it",
		},
		{
			name: "a reasoning parser takes all that is said",
			server: scripted.Options{Script: func(r scripted.Request) scripted.Reply {
				return scripted.Reply{Reasoning: healthy(r).Text + "Hm."}
			}},
			check: "answers beside thoughts", state: doctor.Failed,
			seen:   "the server's reasoning parser takes what the model says for its thoughts",
			remedy: "no --reasoning-parser, or the PARSER of the model",
		},
		{
			name: "thoughts that never end",
			server: scripted.Options{Script: func(r scripted.Request) scripted.Reply {
				return scripted.Reply{Text: "<think>\n" + healthy(r).Text + "Hm."}
			}},
			check: "answers beside thoughts", state: doctor.Failed,
			seen:   "the model begins a thought and never ends it",
			remedy: `--default-chat-template-kwargs '{"enable_thinking": false}', where its template reads that`,
		},
		{
			name: "thoughts in the text",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "<think>Hm.</think>yes"},
				func(r scripted.Request) bool { return !r.MayCall() })},
			check: "keeps thoughts apart", state: doctor.Missing, seen: "thoughts stand in the text",
			remedy: "--reasoning-parser PARSER",
		},
		{
			name: "thoughts beside the text",
			server: scripted.Options{Script: answer(scripted.Reply{Reasoning: "Hm.", Text: "yes"},
				func(r scripted.Request) bool { return !r.MayCall() })},
			check: "keeps thoughts apart", state: doctor.OK, seen: "beside the text",
		},
		{
			name:   "no schema",
			server: scripted.Options{Script: answer(scripted.Reply{Text: "wet"}, withSchema)},
			check:  "honours json_schema", state: doctor.Missing, seen: `answers "wet"; nothing in a run needs it`,
		},
		{
			name:   "schema refused",
			server: scripted.Options{Fault: refuse(400, "response_format is not supported", withSchema)},
			check:  "honours json_schema", state: doctor.Missing, seen: "not supported; nothing in a run needs it",
		},
		{
			name: "another wire", change: func(p *doctor.Endpoint) { p.WireName = "anthropic" },
			check: "honours json_schema", state: doctor.Skipped, seen: "not on this wire",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.server.Script == nil {
				test.server.Script = healthy
			}
			p := newEndpoint(t, scripted.Start(t, test.server).URL)
			if test.change != nil {
				test.change(p)
			}
			report, found := examine(t, p)
			f := found[test.check]
			if f.State != test.state || !strings.Contains(f.Seen+"; "+string(f.Reason), test.seen) {
				t.Errorf("%s is %s: %s", test.check, f.State, f.Seen)
			}
			if f.State == doctor.Failed && report.Works() {
				t.Error("a run would work")
			}
			switch {
			case test.remedy == "":
			case test.remedy == none && !remedied(report, test.check):
			case test.remedy != none && cures(report, test.check, test.remedy):
			default:
				t.Errorf("the remedies are %+v", report.Remedies)
			}
		})
	}
}

// none means that no option of a server is a remedy.
const none = "none"

// remedied reports whether there is a remedy for a check.
func remedied(report *doctor.Report, check string) bool {
	return slices.ContainsFunc(report.Remedies, func(r doctor.Remedy) bool { return slices.Contains(r.Checks, check) })
}

// cures reports whether the only remedy for a check is a vLLM option.
func cures(report *doctor.Report, check, with string) bool {
	return slices.ContainsFunc(report.Remedies, func(r doctor.Remedy) bool {
		return slices.Contains(r.Checks, check) && slices.Equal(r.Starts, []doctor.Start{{Server: "vLLM", With: with}})
	})
}

// TestSilentServerIsFound: a server that lists its models and never answers is found.
func TestSilentServerIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := scripted.New(scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault {
			return &scripted.Fault{Delay: time.Hour}
		}})
		p := newEndpointOver(t, "http://model.test", wiretest.Network(func(r *http.Request) (*http.Response, error) {
			answer := httptest.NewRecorder()
			if server.ServeHTTP(answer, r); r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			return answer.Result(), nil
		}))
		_, found := examine(t, p)
		if f := found["answers"]; f.State != doctor.Failed ||
			!strings.Contains(f.Seen, "longer than it may") || f.Reason != annotator.ReasonSlow {
			t.Errorf("it answers: %s: %s", f.State, f.Seen)
		}
	})
}

// TestMissingServerIsTheOnlyFinding: without a server, only the first check fails.
func TestMissingServerIsTheOnlyFinding(t *testing.T) {
	t.Parallel()
	report, found := examine(t, newEndpoint(t, "http://127.0.0.1:1"))
	if f := found["reaches"]; f.State != doctor.Failed || f.Reason != annotator.ReasonUnreachable {
		t.Errorf("%+v", f)
	}
	for _, f := range report.Findings[1:] {
		if f.State != doctor.Skipped {
			t.Errorf("%s is %s", f.Check, f.State)
		}
	}
}

// TestContextIsJudgedByTheServersCounts: the context is checked with the server's count of a prompt with the tools, if
// it counts.
func TestContextIsJudgedByTheServersCounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		context, budget int
		counts          bool
		state           doctor.State
		remedies        int
	}{
		{"it fits", 100_000, 32_768, true, doctor.OK, 0},
		{"too little context", 20_000, 32_768, true, doctor.Failed, 1},
		{"too low a budget", 100_000, 20_000, true, doctor.Failed, 0},
		{"nothing is counted", 20_000, 20_000, false, doctor.Skipped, 0},
	} {
		server := scripted.Start(t, scripted.Options{
			MaxModelLen: test.context,
			Script: count(healthy, func(r scripted.Request) annotator.Usage {
				if !test.counts {
					return annotator.Usage{}
				}
				return annotator.Usage{Prompt: r.Tokens, Completion: 1}
			}),
		})
		p := newEndpoint(t, server.URL)
		p.Budget.Wanted = test.budget
		p.Measure = func(messages []annotator.Message) [4]int { return [4]int{len(messages)} }
		p.Prefix = func(counted *annotator.Call) int {
			if counted == nil || counted.Usage.Prompt == 0 {
				return 0
			}
			return 19_000 + counted.Characters[0]
		}
		report, found := examine(t, p)
		f := found["holds a scene"]
		const seen = "a context of 20000 tokens leaves 482 for a scene, beside 19006 for the system prompt and " +
			"tools and 512 for the reply"
		if f.State != test.state || f.State == doctor.Failed && f.Seen != seen {
			t.Errorf("%s: %s, %s", test.name, f.State, f.Seen)
		}
		wanted := slices.DeleteFunc(report.Remedies, func(r doctor.Remedy) bool {
			return !slices.Contains(r.Checks, f.Check)
		})
		if len(wanted) != test.remedies {
			t.Errorf("%s: %+v", test.name, wanted)
		}
	}
}

// TestServersWithoutAListAreExamined covers servers that list no models, or only with a key.
func TestServersWithoutAListAreExamined(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		status  int
		body    string
		model   string
		check   string
		state   doctor.State
		seen    string
		answers bool
	}{
		{
			"a key that is refused", 401, `{"error":{"message":"no such key: ` + canary + `"}}`, "scripted",
			"authenticates", doctor.Failed, string(annotator.ReasonKeyRefused), true,
		},
		{
			"no list", 404, `{"detail":"Not Found"}`, "scripted", "lists models", doctor.Missing,
			"scripted is taken as it is", true,
		},
		{
			"no list and no name", 404, `{"detail":"Not Found"}`, "", "lists models", doctor.Failed,
			string(annotator.ReasonNoModel), true,
		},
		{"an empty list", 200, `{"data":[]}`, "", "lists models", doctor.Failed, "the list is empty", true},
		{
			"many models", 200,
			`{"data":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"},{"id":"e"},{"id":"f"},{"id":"g"}]}`,
			"", "lists models", doctor.OK, "a, b, c, d, e, and 2 more", false,
		},
		{
			"a tag that may be left out, Ollama", 200,
			`{"object":"list","data":[{"id":"scripted:latest","object":"model","owned_by":"library"}]}`, "scripted",
			"lists models", doctor.OK, "scripted is among 1", true,
		},
		{"a redirect", 307, "", "scripted", "reaches", doctor.Failed, string(annotator.ReasonRedirected), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			behind := scripted.New(scripted.Options{Script: healthy})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" {
					behind.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			t.Cleanup(server.Close)
			p := newEndpoint(t, server.URL)
			p.Model = test.model
			_, found := examine(t, p)
			if f := found[test.check]; f.State != test.state ||
				!strings.Contains(f.Seen+"; "+string(f.Reason), test.seen) {
				t.Errorf("%s is %s: %s", test.check, f.State, f.Seen)
			}
			if f := found["answers"]; (f.State == doctor.OK) != test.answers {
				t.Errorf("answers is %s: %s", f.State, f.Seen)
			}
		})
	}
}

// TestInterruptEndsTheExamination: an examination ends with its context.
func TestInterruptEndsTheExamination(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := scripted.Start(t, scripted.Options{Script: healthy, OnRequest: func(scripted.Request) { cancel() }})
	report, err := doctor.Examine(ctx, newEndpoint(t, server.URL), func(*doctor.Finding) {})
	if !errors.Is(err, context.Canceled) || cmp.Or(len(report.Findings), 99) > 3 {
		t.Errorf("%v after %d findings", err, len(report.Findings))
	}
}
