package runner_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// trouble is a server that is not well, under a model that is not, either. What it does to a request depends on the
// present scene and on how often it did so. So a run that is killed has the same failures as one that is not.
type trouble struct {
	mu  sync.Mutex
	met map[string]int
}

// forget has the server be as it was when the first request came.
func (tr *trouble) forget() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.met = map[string]int{}
}

// times reports whether something has come about less often than that, and counts it.
func (tr *trouble) times(most int, what string) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.met[what]++
	return tr.met[what] <= most
}

func (tr *trouble) fault(_ int, r scripted.Request) *scripted.Fault {
	_, warm := r.Params["temperature"]
	switch {
	case isProbe(r) && tr.times(1, "probe"):
		return &scripted.Fault{Status: 503, Body: `{"error":{"message":"loading model"}}`}
	case isProbe(r):
		return nil
	case warm:
		return &scripted.Fault{Status: 400, Body: `{"error":{"message":"temperature is not supported",` +
			`"param":"temperature"}}`}
	case atScene(r, 1) && tr.times(2, "failed"):
		return &scripted.Fault{Status: 502, Body: "no"}
	case atScene(r, 2) && tr.times(1, "loading"):
		return &scripted.Fault{Status: 503, Body: `{"error":{"message":"loading model"}}`}
	case atScene(r, 3):
		return &scripted.Fault{Status: 422, Body: `{"error":{"message":"not this one"}}`}
	}
	return nil
}

// script makes the model repeat itself in the fifth scene, leave a call half written in the sixth, and its updates in
// the seventh.
func (tr *trouble) script(r scripted.Request) scripted.Reply {
	again := strings.Contains(r.Messages[len(r.Messages)-1].Content, "Send ") ||
		strings.Contains(r.Messages[len(r.Messages)-1].Content, "anew, whole")
	switch {
	case atScene(r, 5):
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{
			Name:      "glossary_search",
			Arguments: `{"query":"lantern"}`,
		}}}
	case atScene(r, 6) && !again:
		return scripted.Reply{Text: `<tool_call>{"name": "glossary_search", "arguments": {"query"`}
	case atScene(r, 7):
		return scripted.Reply{Text: `<codex_updates>[{"term": </codex_updates>`}
	}
	return scripted.Annotate(r)
}

// TestKilledInTrouble kills a run after each of its transitions while server and model fail. Requests fail and are
// tried again after probes, the wire has to learn a setting, and replies are corrected. Scenes are refused for every
// reason. What another process makes of it is what comes of an undisturbed run.
func TestKilledInTrouble(t *testing.T) {
	t.Parallel()
	tr := &trouble{}
	s := newStage(t, story{threads: 1, scenes: 8}, scripted.Options{Strict: true, Script: tr.script, Fault: tr.fault})
	spawn := func(name string, hang int) (bool, int) {
		t.Helper()
		return s.spawn(name, hang, func(told int) bool { return told == hang }, 0)
	}
	tr.forget()
	killed, transitions := spawn("calm", 0)
	if killed || transitions < 8*8 {
		t.Fatalf("the undisturbed run told %d transitions (killed: %v)", transitions, killed)
	}
	moments := killsOf(s.lines, 23)
	s.verify("calm")
	calm := dump(t, s.db("calm"))
	s.inTrouble("calm")
	for _, n := range moments {
		name := fmt.Sprintf("killed-%d", n)
		tr.forget()
		if killed, told := spawn(name, n); !killed || told != n {
			t.Fatalf("kill at transition %d: killed %v after %d", n, killed, told)
		}
		if killed, _ := spawn(name, 0); killed {
			t.Fatal("the resumed run was killed by somebody else")
		}
		s.compareBut(name, calm, "run_state ") // which counts the calls that failed, too
	}
}

// inTrouble demands that a run has met all of the trouble.
func (s *stage) inTrouble(name string) {
	s.t.Helper()
	for what, query := range map[string]string{
		"a request was tried again": `SELECT count(*) FROM call WHERE outcome = 'transient' AND ` +
			`decision = 'retry'`,
		"a probe was answered": `SELECT count(*) FROM call WHERE purpose = 'probe' AND outcome = 'ok'`,
		"a probe was not": `SELECT count(*) FROM call WHERE purpose = 'probe' AND outcome = ` +
			`'overloaded'`,
		"the wire has learned": `SELECT count(*) FROM call WHERE decision = 'adapt'`,
		"a call was asked for again": `SELECT count(*) FROM trace WHERE kind = 'note' AND content LIKE ` +
			`'%looks like a tool call%'`,
		"a scene was refused by the server": `SELECT count(*) FROM scene WHERE n = 3 AND fault = 'refused'`,
		"a scene was refused for repeated calls": `SELECT count(*) FROM scene WHERE n = 5 AND reason LIKE '%repeats ` +
			`calls%'`,
		"a scene was refused for its updates": `SELECT count(*) FROM scene WHERE n = 7 AND reason LIKE '%could ` +
			`not be read%'`,
		"the scene after each was none of them": `SELECT count(*) FROM scene WHERE n IN (4, 6,` +
			` 8) AND state = 'recorded'`,
	} {
		if s.count(name, query) == 0 {
			s.t.Errorf("%s: it is not so that %s", name, what)
		}
	}
}
