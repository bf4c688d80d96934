package runner_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"annotator"
	"annotator/internal/scripted"
	"annotator/storage"
)

// open opens the named database for reading.
func (s *stage) open(name string) *storage.DB {
	s.t.Helper()
	db, err := storage.Open(context.Background(), s.db(name))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *stage) state(name string) storage.RunStatus {
	s.t.Helper()
	run, err := s.open(name).Run.Status(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

func (s *stage) count(name, query string) int {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.db(name)+"?mode=ro")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var n int
	if err := db.QueryRow(query).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// edit changes a file behind the program's back.
func edit(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

func TestRunToTheEnd(t *testing.T) {
	t.Parallel()
	s := judgedStage(t)
	if err := s.run("whole"); err != nil {
		t.Fatal(err)
	}
	s.verify("whole")
	s.noViolations()
	run := s.state("whole")
	if run.Recorded != 20 || run.Quarantined != 0 || run.OpenScene != 0 {
		t.Errorf("recorded %d, quarantined %d, open %d", run.Recorded, run.Quarantined, run.OpenScene)
	}
	// The crash tests rest on this story. It must have what they are there to tear.
	for what, query := range map[string]string{
		"entries":                  `SELECT count(*) FROM glossary_entry`,
		"successful tool calls":    `SELECT count(*) FROM tool_interaction WHERE status = 'SUCCESS'`,
		"updates out of text":      `SELECT count(*) FROM trace WHERE kind = 'update'`,
		"decisions":                `SELECT count(*) FROM tool_decision WHERE verdict = 'allow' AND intent <> ''`,
		"compactions":              `SELECT count(*) FROM compaction WHERE tier IN ('1', '2')`,
		"evidence":                 `SELECT count(*) FROM evidence`,
		"completed threads":        `SELECT count(*) / 4 FROM thread_state WHERE status = 'completed'`,
		"usable decisions":         `SELECT count(*) FROM call WHERE purpose = 'curate' AND outcome = 'ok'`,
		"unusable decisions":       `SELECT count(*) FROM call WHERE purpose = 'curate' AND outcome = 'malformed'`,
		"entries left as they are": `SELECT count(*) FROM revision WHERE field = 'curator_decision' AND actor = 'rule'`,
		"merged entries":           `SELECT count(*) FROM glossary_entry WHERE status = 'merged'`,
		"retired entries":          `SELECT count(*) FROM glossary_entry WHERE status = 'retired'`,
		"scenes that show entries": `SELECT count(*) FROM trace WHERE kind = 'tool_result' AND shows <> ''`,
	} {
		if s.count("whole", query) == 0 {
			t.Errorf("the story has no %s", what)
		}
	}
	if err := s.run("whole"); err != nil {
		t.Errorf("a run of a finished story: %v", err)
	}
	if again := s.state("whole"); again.Calls != run.Calls {
		t.Errorf("a finished story was asked about again: %d calls, then %d", run.Calls, again.Calls)
	}
}

// TestRequestsGrowAtTheirEnd is the third law: within an epoch each request's messages begin with the former's, byte
// for byte, and nothing but the tail is new.
func TestRequestsGrowAtTheirEnd(t *testing.T) {
	t.Parallel()
	var bodies [][]byte
	s := newStage(t, story{threads: 2, scenes: 10}, scripted.Options{Strict: true, OnRequest: func(r scripted.Request) {
		bodies = append(bodies, bytes.Clone(r.Body))
	}})
	s.config.ContextBudget, s.config.MaxTokens = 6_800, 1_000
	compactions := 0
	breaks := map[int]bool{} // requests before which turns left the window
	s.bus.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeCompaction {
			compactions++
			breaks[len(bodies)] = true
		}
	})
	if err := s.run("growing"); err != nil {
		t.Fatal(err)
	}
	if compactions == 0 || len(bodies) < 30 {
		t.Fatalf("%d requests, %d compactions: the story is too short", len(bodies), compactions)
	}
	last := 0
	for i := 1; i < len(bodies); i++ {
		broken := false
		for at := last + 1; at <= i; at++ {
			broken = broken || breaks[at]
		}
		now, before := messages(t, bodies[i]), messages(t, bodies[last])
		aside := bytes.Contains(now, []byte("Set the scenes aside"))
		if aside { // a question to the summariser follows the window without the scene at hand
			now = now[:bytes.LastIndex(now, []byte(`,{"role":"user"`))]
		}
		if !broken && !bytes.HasPrefix(now, before) && (!aside || !bytes.HasPrefix(before, now)) {
			t.Errorf("request %d does not begin with request %d, and no turn left the window", i+1, last+1)
		}
		if !bytes.Equal(offered(t, bodies[i]), offered(t, bodies[0])) { // servers render them before all else
			t.Errorf("the tools of request %d are not those of the first", i+1)
		}
		if !aside {
			last = i
		}
	}
}

// offered cuts the list of tools out of a request's body.
func offered(t *testing.T, body []byte) []byte {
	t.Helper()
	_, behind, found := bytes.Cut(body, []byte(`],"tools":`))
	list, _, ended := bytes.Cut(behind, []byte(`,"tool_choice":`))
	if !found || !ended {
		t.Fatalf("a request without tools: %.200s", body)
	}
	return list
}

// messages cuts the list of messages out of a request's body, without its closing bracket.
func messages(t *testing.T, body []byte) []byte {
	t.Helper()
	start := bytes.Index(body, []byte(`"messages":[`))
	end := bytes.Index(body, []byte(`],"tools":`))
	if start < 0 || end < start {
		t.Fatalf("a request without messages: %.200s", body)
	}
	return body[start:end]
}

// TestHaltsAndResumes stops a run in the middle of a scene by a server that refuses the key, and goes on when it does
// not.
func TestHaltsAndResumes(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm := dump(t, s.db("calm"))
	var mended atomic.Bool
	s.serve(scripted.Options{Strict: true, Fault: func(call int, _ scripted.Request) *scripted.Fault {
		if call < 8 || mended.Load() {
			return nil
		}
		return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
	}})
	s.config.Advise = withReason
	err := s.run("halted")
	if !errors.Is(err, annotator.Halted) || !strings.Contains(err.Error(), string(annotator.ReasonKeyRefused)) {
		t.Fatalf("a refused key: %v", err)
	}
	if run := s.state("halted"); run.State != annotator.StateHalting || run.Halted == "" {
		t.Errorf("state %s, reason %q", run.State, run.Halted)
	}
	s.verify("halted")
	mended.Store(true) // by hand; at another address it would be another endpoint, whose counts are its own
	if err := s.run("halted"); err != nil {
		t.Fatal(err)
	}
	if run := s.state("halted"); run.Halted != "" {
		t.Errorf("the reason of the former halt stands: %q", run.Halted)
	}
	// The failed call is on record, so the run's counts of calls differ from the calm one's.
	s.compareBut("halted", calm, "run_state ")
}

func (s *stage) compareBut(name string, calm []string, prefix string) {
	s.t.Helper()
	s.verify(name)
	other := dump(s.t, s.db(name))
	if len(other) != len(calm) {
		s.t.Fatalf("%d rows, the undisturbed run has %d", len(other), len(calm))
	}
	for i := range calm {
		if calm[i] != other[i] && !strings.HasPrefix(calm[i], prefix) {
			s.t.Fatalf("differs from the undisturbed run:\n%s\n%s", calm[i], other[i])
		}
	}
}

// TestPassingFaultsChangeNothing lets every third call fail in a way that passes.
func TestPassingFaultsChangeNothing(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm := dump(t, s.db("calm"))
	faults := []scripted.Fault{
		{Status: 500, Body: `{"error":{"message":"internal"}}`},
		{Status: 429, Header: map[string][]string{"Retry-After": {"0"}}, Body: `{"error":{"message":"slow down"}}`},
		{Status: 200, Cut: 150},
		{Status: 502, Body: `<html>bad gateway</html>`},
		{Cut: -1},
		{Status: 503, Body: `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`},
	}
	s.serve(scripted.Options{Strict: true, Fault: func(call int, _ scripted.Request) *scripted.Fault {
		if call%3 != 0 {
			return nil
		}
		return &faults[call/3%len(faults)]
	}})
	if err := s.run("shaken"); err != nil {
		t.Fatal(err)
	}
	if failed := s.count("shaken", `SELECT count(*) FROM call WHERE outcome <> 'ok'`); failed < 15 {
		t.Errorf("only %d calls failed", failed)
	}
	s.compareBut("shaken", calm, "run_state ")
}

// TestServerSaysTooLong: the window gives up turns where the server's count is larger than our own, and the run goes
// on.
func TestServerSaysTooLong(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 8, words: 400}, scripted.Options{Strict: true, MaxModelLen: 12_000})
	s.config.ContextBudget, s.config.MaxTokens = 1_000_000, 1_000
	s.server = nil
	s.serve(scripted.Options{Strict: true, MaxModelLen: 12_000, Fault: func(_ int, r scripted.Request) *scripted.Fault {
		if r.Tokens <= 8_000 {
			return nil
		}
		return &scripted.Fault{Status: 400, Body: fmt.Sprintf(`{"error":{"message":"This model's maximum context `+
			`length is 8000 tokens. `+
			`However, you requested %d tokens.","type":"BadRequestError","code":400}}`, r.Tokens)}
	}})
	if err := s.run("long"); err != nil {
		t.Fatal(err)
	}
	s.verify("long")
	if run := s.state("long"); run.Recorded != 16 {
		t.Errorf("recorded %d of 16", run.Recorded)
	}
	if s.count("long", `SELECT count(*) FROM call WHERE outcome = 'prompt too long'`) == 0 {
		t.Error("the server never refused for length")
	}
}

// TestSceneThatNeverFits is refused with its reason, and the story goes on.
func TestSceneThatNeverFits(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 3},
		scripted.Options{Strict: true, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if !strings.Contains(string(r.Body), `scene number=\"2\"`) {
				return nil
			}
			return &scripted.Fault{
				Status: 400,
				Body:   `{"error":{"code":"context_length_exceeded","message":"too long"}}`,
			}
		}})
	err := s.run("refused")
	if !errors.Is(err, annotator.Quarantined) {
		t.Fatalf("err = %v", err)
	}
	s.verify("refused")
	refused, err := s.open("refused").Scenes.Quarantined(context.Background())
	if err != nil || len(refused) != 1 || refused[0].N != 2 || refused[0].Reason == "" {
		t.Errorf("quarantined: %+v, %v", refused, err)
	}
}

// TestScenesWithoutText are recorded without asking the model.
func TestScenesWithoutText(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 2, blank: true}, scripted.Options{})
	if err := s.run("blank"); err != nil {
		t.Fatal(err)
	}
	s.verify("blank")
	if run := s.state("blank"); run.Recorded != 2 || run.Calls != 0 {
		t.Errorf("recorded %d with %d calls", run.Recorded, run.Calls)
	}
}

// TestLimitAndStop: both end between scenes, and the next run goes on.
func TestLimitAndStop(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	s.config.Limit = 3
	for i := 1; i <= 2; i++ {
		if err := s.run("limited"); err != nil {
			t.Fatal(err)
		}
		if run := s.state("limited"); run.Recorded != 3*i {
			t.Fatalf("recorded %d after run %d", run.Recorded, i)
		}
	}
	s.verify("limited")
}

// TestModelDoesNotReadAhead: it can look up what was read, in its thread and in those before it, and nothing behind the
// scene at hand.
func TestModelDoesNotReadAhead(t *testing.T) {
	t.Parallel()
	const second, third = 1003, 1006 // posts of these scenes, the third in a thread of its own
	read := func(post int) annotator.ToolCall {
		return annotator.ToolCall{Name: "read_post", Arguments: fmt.Sprintf(`{"post_id":%d}`, post)}
	}
	s := newStage(t, story{threads: 2, scenes: 2},
		scripted.Options{Strict: true, Script: saying(calls(read(second), read(third)))})
	if err := s.run("curious"); err != nil {
		t.Fatal(err)
	}
	s.verify("curious")
	want := []string{"1 NOT_FOUND", "1 NOT_FOUND", "2 ", "2 NOT_FOUND", "3 ", "3 ", "4 ", "4 "}
	var got []string
	for call, err := range s.open("curious").Journal.Audit(context.Background(), storage.AuditFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s", call.Scene, call.Error))
	}
	if !slices.Equal(got, want) {
		t.Errorf("to look up two posts was answered %q, want %q", got, want)
	}
}

// TestModelThatNeverStopsCalling is cut off after its rounds; one that does not even take that for an answer is
// refused.
func TestModelThatNeverStopsCalling(t *testing.T) {
	t.Parallel()
	search := func(scripted.Request) scripted.Reply {
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{
			Name:      "glossary_search",
			Arguments: `{"query":"lantern"}`,
		}}}
	}
	s := newStage(t, story{threads: 1, scenes: 2}, scripted.Options{Strict: true, Script: search})
	s.config.ToolRounds = 3
	if err := s.run("endless"); !errors.Is(err, annotator.Quarantined) {
		t.Fatalf("err = %v", err)
	}
	s.verify("endless")
	s.noViolations()

	s.serve(scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
		if !r.MayCall() {
			return scripted.Reply{Text: "Done, then."}
		}
		return search(r)
	}})
	if err := s.run("obedient"); err != nil {
		t.Fatal(err)
	}
	if n := s.count("obedient", `SELECT count(*) FROM trace WHERE error = 'ROUND_LIMIT'`); n != 2 {
		t.Errorf("%d calls past the limit", n)
	}
}

// TestUpdatesThatCannotBeRead are asked for again once; then the scene is refused with what the model wrote.
func TestUpdatesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]string{
		"mended":  `<codex_updates>[]</codex_updates>`,
		"refused": `<codex_updates>[{</codex_updates>`,
	} {
		calls := 0
		s := newStage(t, story{threads: 1, scenes: 1},
			scripted.Options{Strict: true, Script: func(scripted.Request) scripted.Reply {
				if calls++; calls == 1 {
					return scripted.Reply{Text: `<codex_updates>[{"term":</codex_updates>`}
				}
				return scripted.Reply{Text: second}
			}})
		s.config.NoThreadSummaries = true
		err := s.run(name)
		if got := errors.Is(err, annotator.Quarantined); got != (name == "refused") {
			t.Errorf("%s: %v", name, err)
		}
		s.verify(name)
		if calls != 2 {
			t.Errorf("%s: %d calls", name, calls)
		}
	}
}

// TestCutReplyRunsWhatIsWhole tests a reply that ended at its token limit. The calls that another one follows are made,
// the last one is not, and the model is asked for the rest.
func TestCutReplyRunsWhatIsWhole(t *testing.T) {
	t.Parallel()
	create := func(term, end string) annotator.ToolCall {
		return annotator.ToolCall{Name: "glossary_create", Arguments: `{"term":"` + term +
			`","definition":"A lamp.","tags":["object"]` + end}
	}
	for name, last := range map[string]annotator.ToolCall{
		"cut off": create("Wick", ""), "closed by the server": {
			Name:      "glossary_create",
			Arguments: `{"term":"Wick","definition":"A la","tags":["object"]}`,
		},
	} {
		s := newStage(t, story{threads: 1, scenes: 1},
			scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				switch len(r.Messages) {
				case 2:
					return scripted.Reply{
						FinishReason: "length",
						ToolCalls:    []annotator.ToolCall{create("Lantern", "}"), create("Quay", "}"), last},
					}
				case 6:
					return scripted.Reply{ToolCalls: []annotator.ToolCall{create("Wick", "}")}}
				}
				return scripted.Reply{Text: "Enough."}
			}})
		if err := s.run("cut"); err != nil {
			t.Fatal(err)
		}
		s.verify("cut")
		s.noViolations()
		if n := s.count("cut", `SELECT count(*) FROM glossary_entry WHERE definition = 'A lamp.'`); n != 3 {
			t.Errorf("%s: %d entries", name, n)
		}
		if n := s.count("cut",
			`SELECT count(*) FROM trace WHERE kind = 'tool_result' AND error = 'TRUNCATED' AND content LIKE '%make it again%'`); n != 1 {
			t.Errorf("%s: %d calls were not made", name, n)
		}
	}
}

// TestChangesAreNoticed: another model or another corpus is named, and nothing is done before the user agrees.
func TestChangesAreNoticed(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	s.config.Limit = 2
	if err := s.run("changing"); err != nil {
		t.Fatal(err)
	}
	s.serve(scripted.Options{Model: "another"})
	s.config.Model = "another"
	err := s.run("changing")
	if !errors.Is(err, annotator.Misused) || !strings.Contains(err.Error(), "another") {
		t.Errorf("another model: %v", err)
	}
	s.config.Accept = map[string]bool{"model": true}
	if err := s.run("changing"); err != nil {
		t.Errorf("another model, agreed to: %v", err)
	}
	edit(t, s.corpus, `UPDATE post SET body = 'Something else.' WHERE id = 1000`)
	if err := s.run("changing"); !errors.Is(err, annotator.Misused) || !strings.Contains(err.Error(), "scene 1") {
		t.Errorf("another corpus: %v", err)
	}
}

// TestCorpusThatGrows is read on.
func TestCorpusThatGrows(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 3}, scripted.Options{Strict: true})
	if err := s.run("growing"); err != nil {
		t.Fatal(err)
	}
	edit(t, s.corpus, `INSERT INTO thread (id, title) VALUES (90000, 'More'); INSERT INTO post (thread_id, id, name, trip_code, subject, time, body)
		VALUES (90000, 90000, 'Storyteller', '', '', 90000, 'The lantern went out.'); INSERT INTO tag VALUES (90000, 'qm_post')`)
	if err := s.run("growing"); err != nil {
		t.Fatal(err)
	}
	s.verify("growing")
	if run := s.state("growing"); run.Recorded != 4 || run.Corpus.Scenes != 4 {
		t.Errorf("recorded %d of %d", run.Recorded, run.Corpus.Scenes)
	}
}

// TestStopWhileWaiting: a stop does not sit out the wait for a server that is away.
func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 1}, scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault {
		return &scripted.Fault{
			Status: 503, Header: map[string][]string{"Retry-After": {"30"}},
			Body: `{"error":{"message":"Loading model"}}`,
		}
	}})
	r := s.runner("waiting")
	s.bus.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeWait {
			r.Stop()
		}
	})
	done := make(chan error, 1)
	go func() { done <- r.Run(context.Background()) }()
	select {
	case err := <-done:
		if !errors.Is(err, annotator.Interrupted) {
			t.Errorf("err = %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the run sat out its wait")
	}
}
