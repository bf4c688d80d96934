package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"annotator"
	"annotator/context/prompt"
	"annotator/internal/scripted"
)

// TestStrangerAtTheStart tests an address with something else than a model server from the start. The run does not wait
// for it, and says what to look at. The same thing in the middle of a run is waited for: see TestServerIsProbed.
func TestStrangerAtTheStart(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]scripted.Fault{
		"nothing there": {Status: 404, Body: "404 page not found"},
		"a login page":  {Status: 200, Body: "<html><title>Log in</title></html>"},
		"another API":   {Status: 200, Body: `{"status":"queued"}`},
		"no HTTP":       {Serve: speaksOtherwise("SSH-2.0-OpenSSH_9.6\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, story{threads: 1, scenes: 2},
				scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault { return &fault }})
			s.config.Advise = withReason
			err := s.run("strange")
			if !errors.Is(err, annotator.Halted) || !strings.Contains(fmt.Sprint(err), "address") {
				t.Errorf("err = %v", err)
			}
			if n := s.server.Calls(); n != s.config.Retry.Attempts {
				t.Errorf("it was asked %d times", n)
			}
			s.verify("strange")
			s.serve(scripted.Options{Strict: true})
			if err := s.run("strange"); err != nil {
				t.Fatal(err)
			}
			s.verify("strange")
		})
	}
}

// speaksOtherwise answers in another protocol.
func speaksOtherwise(banner string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, banner)
		_ = conn.Close()
	}
}

// TestCallsAreAlwaysCut tests a model whose calls never fit its limit. It gets a message about that. If that does not
// help, the scene is refused, and not recorded as one without findings.
func TestCallsAreAlwaysCut(t *testing.T) {
	t.Parallel()
	cut := true
	s := newStage(t, story{threads: 1, scenes: 1}, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		if !cut || !r.MayCall() {
			return scripted.Annotate(r)
		}
		reply := scripted.Reply{FinishReason: "length"}
		reply.ToolCalls = []annotator.ToolCall{{
			Name:      "glossary_create",
			Arguments: fmt.Sprintf(`{"term":"Lantern %d`, len(r.Messages)),
		}}
		return reply
	}})
	s.config.Advise = withReason
	if err := s.run("cut"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	s.verify("cut")
	if n := s.count("cut", `SELECT count(*) FROM scene WHERE instr(reason, '`+string(annotator.ReasonReplyCut)+
		`') > 0 AND length(raw) > 0`); n != 1 {
		t.Error("the reason does not say what would help, or nothing is kept of the replies")
	}
	if n := s.count("cut", `SELECT count(*) FROM trace WHERE kind = 'reply'`); n != 4 {
		t.Errorf("it was asked %d times", n)
	}
	cut = false
	s.putBack("cut")
	if err := s.run("cut"); err != nil {
		t.Fatal(err)
	}
	s.verify("cut")
}

// renamed puts one name after another under the replies, from the beginning when all were used.
type renamed struct {
	names []string
	n     int
}

// RoundTrip changes what a model is called in its reply.
func (m *renamed) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/completions") {
		return response, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	body = bytes.ReplaceAll(body, []byte(`"model":"scripted"`), []byte(`"model":"`+m.names[m.n%len(m.names)]+`"`))
	m.n++
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// TestOtherModelsAreToldOnce: behind one address there may be several models by turns, and a word is given of each
// once.
func TestOtherModelsAreToldOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 4}, scripted.Options{})
	s.transport = &renamed{names: []string{"one", "two", "scripted"}}
	told := map[string]int{}
	s.bus.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeWarning {
			told[n.Reason]++
		}
	})
	if err := s.run("renamed"); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 {
		t.Errorf("%d words were given", len(told))
	}
	for word, times := range told {
		if times != 1 || !strings.Contains(word, "it was asked for the model scripted, and") {
			t.Errorf("%d times: %s", times, word)
		}
	}
}

// TestCountsOfAnotherPrompt: what a server counted under another prompt is not held against it. Else a prompt that got
// shorter would be taken for one of which the server drops the beginning.
func TestCountsOfAnotherPrompt(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 6}, scripted.Options{Strict: true})
	s.config.Identity.Role = strings.Repeat("You keep the codex of a long story, and keep it well. ", 400)
	s.config.Limit = 3
	if err := s.run("shorter"); err != nil {
		t.Fatal(err)
	}
	s.config.Identity, s.config.Limit = prompt.Defaults(), 0
	s.config.Accept = map[string]bool{"prompt": true}
	r := s.runner("shorter")
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.verify("shorter")
	if n := s.count("shorter",
		`SELECT abs(estimate - prompt_tokens) * 100 / prompt_tokens FROM call WHERE purpose = 'annotate' AND scene = 4 ORDER BY id LIMIT 1`); n > 25 {
		t.Errorf("the first estimate under the new prompt is %d %% off", n)
	}
}
