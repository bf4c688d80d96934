package runner_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/model/endpoint"
)

// unlisted hides how much context the server's models have.
type unlisted struct{}

var listedContext = regexp.MustCompile(`"max_model_len":\d+,?`)

func (unlisted) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/models") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	body = listedContext.ReplaceAll(body, nil)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// besideAPI answers as Ollama does at addresses of its own.
type besideAPI struct{}

func (besideAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	switch r.URL.Path {
	case "/v1/models":
		_, _ = answer.WriteString(`{"data":[{"id":"scripted","owned_by":"library"}]}`)
	case "/api/ps":
		_, _ = answer.WriteString(`{"models":[{"model":"scripted:latest","context_length":9000}]}`)
	default:
		answer.WriteHeader(http.StatusNotFound)
	}
	return answer.Result(), nil
}

// TestContextBesideTheAPI tests a server that reports the context of its model outside of the list of models. It never
// gets a prompt that it would silently cut.
func TestContextBesideTheAPI(t *testing.T) {
	t.Parallel()
	s := newTale(t, [][]string{evenScenes(12)}, 60_000, scripted.Options{})
	s.config.ContextBudget, s.config.MaxTokens, s.transport, s.config.Preflight = 30_000, 1_000, unlisted{}, true
	for name, told := range map[string]bool{"told": true, "untold": false} {
		r := s.runner(name)
		if told {
			beside, err := endpoint.New(endpoint.Options{BaseURL: s.base, HTTP: besideAPI{}},
				endpoint.API{Header: endpoint.Bearer})
			if err != nil {
				t.Fatal(err)
			}
			r.Beside = beside
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.verify(name)
		if longest := s.count(name,
			`SELECT max(prompt_tokens) FROM call WHERE purpose = 'annotate'`); (longest <= 8_000) != told {
			t.Errorf("%s: the longest prompt has %d tokens", name, longest)
		}
	}
}

// TestContextIsLearned tests that the context that a server reports when it refuses a prompt lowers the budget, so that
// it reports it only once. A run that is stopped and resumed at every scene also knows it, and compacts when and how an
// uninterrupted one does.
func TestContextIsLearned(t *testing.T) {
	t.Parallel()
	const window = 7_150
	s := newTale(t, [][]string{evenScenes(8), evenScenes(10)}, 60_000, scripted.Options{})
	s.serve(scripted.Options{
		Script: summarised, MaxModelLen: 60_000,
		Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if r.Tokens+r.MaxTokens <= window {
				return nil
			}
			return &scripted.Fault{Status: 400, Body: fmt.Sprintf(`{"error":{"message":"This model's maximum context `+
				`length is %d tokens. `+
				`However, you requested %d tokens.","type":"BadRequestError","code":400}}`, window, r.Tokens)}
		},
	})
	s.config.ContextBudget, s.config.MaxTokens, s.transport = 60_000, 1_000, unlisted{}
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	s.config.Limit = 1
	for range 18 {
		if err := s.run("halting"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"calm", "halting"} {
		s.verify(name)
		if n := s.count(name, `SELECT count(*) FROM call WHERE outcome = 'prompt too long'`); n != 1 {
			t.Errorf("%s: the server had to say it %d times", name, n)
		}
	}
	const query = `SELECT trace_id * 100000 + tokens_after FROM compaction ORDER BY trace_id`
	if calm, halting := fmt.Sprint(s.column("calm", query)), fmt.Sprint(s.column("halting", query)); calm != halting ||
		calm == "[]" {
		t.Errorf("compactions of the undisturbed run: %s; of the resumed: %s", calm, halting)
	}
}

// TestContextShownByACutReply tests a server whose context is not listed, and that ends a reply where its context ends,
// as vLLM does. The first such reply shows the length of its context. No later request asks for more, also in later
// processes.
func TestContextShownByACutReply(t *testing.T) {
	t.Parallel()
	const window = 7_150
	s := newTale(t, [][]string{evenScenes(8), evenScenes(10)}, 60_000, scripted.Options{})
	s.serve(scripted.Options{MaxModelLen: 60_000, Script: func(r scripted.Request) scripted.Reply {
		reply := summarised(r)
		if room := window - r.Tokens; room < r.MaxTokens {
			reply.FinishReason, reply.Usage = "length",
				&annotator.Usage{Prompt: r.Tokens, Completion: room, Exact: true}
		}
		return reply
	}})
	s.config.ContextBudget, s.config.MaxTokens, s.transport = 60_000, 1_000, unlisted{}
	s.config.Limit = 1
	for range 18 {
		if err := s.run("cut"); err != nil {
			t.Fatal(err)
		}
	}
	s.verify("cut")
	if n := s.count("cut", `SELECT count(*) FROM call WHERE finish = 'length'`); n == 0 || n > 2 {
		t.Errorf("%d replies were cut", n)
	}
	if n := s.count("cut", `SELECT context_told FROM run_state`); n != 0 && n != window { // 0 behind the end
		t.Errorf("a context of %d tokens", n)
	}
}

// TestContextTooSmall tests that a server that names a context in which not even a scene fits halts the run at once. No
// scene is refused for it. The server may be another one tomorrow, so that nothing of it is kept.
func TestContextTooSmall(t *testing.T) {
	t.Parallel()
	small := true
	s := newStage(t, story{threads: 1, scenes: 6},
		scripted.Options{Strict: true, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if !small {
				return nil
			}
			return &scripted.Fault{
				Status: 400,
				Body:   `{"error":{"message":"This model's maximum context length is 2048 tokens. However, you requested 4000 tokens."}}`,
			}
		}})
	s.transport = unlisted{}
	if err := s.run("small"); !errors.Is(err, annotator.Halted) || !strings.Contains(err.Error(), "2048") {
		t.Fatal(err)
	}
	s.verify("small")
	if run := s.state("small"); run.Quarantined != 0 || run.Calls != 1 {
		t.Errorf("quarantined %d, %d calls", run.Quarantined, run.Calls)
	}
	small = false
	if err := s.run("small"); err != nil {
		t.Fatal(err)
	}
	s.verify("small")
}

// TestContextTooSmallByCounts: a server counts more tokens than were estimated, so that no scene fits, though one
// seemed to. The run halts without a refused scene, and goes on with a longer context.
func TestContextTooSmallByCounts(t *testing.T) {
	t.Parallel()
	for _, found := range []string{"with the preflight", "in a scene", "by a refusal"} {
		t.Run(found, func(t *testing.T) {
			t.Parallel()
			const context = 8_000
			small, counted := true, func(r scripted.Request) int { return 2 * r.Tokens }
			s := newTale(t, [][]string{evenScenes(6)}, 60_000, scripted.Options{})
			s.serve(scripted.Options{MaxModelLen: 60_000, Script: func(r scripted.Request) scripted.Reply {
				reply := summarised(r)
				reply.Usage = &annotator.Usage{Prompt: counted(r), Completion: 100, Exact: true}
				return reply
			}, Fault: func(call int, r scripted.Request) *scripted.Fault {
				if !small || call == 1 || counted(r) <= context {
					return nil
				}
				return &scripted.Fault{
					Status: 400,
					Body: fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens. `+
						`However, your prompt contains at least %d input tokens, which exceeds this limit even without any output tokens.",`+
						`"type":"BadRequestError","param":"input_tokens","code":400}}`, context, context+1),
				}
			}})
			s.config.ContextBudget, s.config.MaxTokens = context, 1_000
			if s.config.Preflight = found == "with the preflight"; found == "by a refusal" {
				s.config.ContextBudget, s.transport = 60_000, unlisted{}
			}
			for range 2 {
				if err := s.run("small"); !errors.Is(err, annotator.Halted) ||
					!strings.Contains(err.Error(), "a context of 8000 tokens leaves ") {
					t.Fatal(err)
				}
				s.verify("small")
				if run := s.state("small"); run.Quarantined != 0 || s.config.Preflight && run.Calls != 0 {
					t.Errorf("%d scenes are refused, after %d calls", run.Quarantined, run.Calls)
				}
			}
			small, s.config.ContextBudget = false, 60_000
			if err := s.run("small"); err != nil {
				t.Fatal(err)
			}
			s.verify("small")
		})
	}
}

// TestContextIsForgottenBehindAHalt tests that no later process of a halted run uses the old context, because the user
// may have given the server a longer one.
func TestContextIsForgottenBehindAHalt(t *testing.T) {
	t.Parallel()
	window, denied := 8_000, false
	s := newTale(t, [][]string{evenScenes(18)}, 60_000, scripted.Options{})
	s.serve(scripted.Options{
		Script: summarised, MaxModelLen: 60_000,
		Fault: func(_ int, r scripted.Request) *scripted.Fault {
			switch {
			case denied:
				return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
			case r.Tokens+r.MaxTokens > window:
				return &scripted.Fault{
					Status: 400,
					Body: fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens."}}`,
						window),
				}
			}
			return nil
		},
	})
	s.config.ContextBudget, s.config.MaxTokens, s.transport = 60_000, 1_000, unlisted{}
	s.config.Limit = 12
	if err := s.run("moved"); err != nil {
		t.Fatal(err)
	}
	denied = true
	if err := s.run("moved"); !errors.Is(err, annotator.Halted) {
		t.Fatal(err)
	}
	denied, window = false, 60_000
	compactions := s.count("moved", `SELECT count(*) FROM compaction`)
	s.config.Limit = 1
	for range 6 {
		if err := s.run("moved"); err != nil {
			t.Fatal(err)
		}
	}
	s.verify("moved")
	if n := s.count("moved", `SELECT count(*) FROM compaction`); n != compactions || n == 0 {
		t.Errorf("%d compactions, %d of them before the server was given more", n, compactions)
	}
	if n := s.count("moved", `SELECT max(prompt_tokens) FROM call`); n < 8_000 {
		t.Errorf("the longest prompt has %d tokens", n)
	}
}
