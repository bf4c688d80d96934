package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/internal/scripted"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/offline"
	"annotator/model/openai"
	"annotator/runner"
	"annotator/snapshot"
	"annotator/storage"
	"annotator/tools"

	"github.com/google/go-cmp/cmp"
)

// recorder keeps the body of each chat completion that passes through it.
type recorder struct {
	http.RoundTripper
	mu     sync.Mutex
	bodies [][]byte
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/chat/completions") {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		r.mu.Lock()
		r.bodies = append(r.bodies, body)
		r.mu.Unlock()
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r.RoundTripper.RoundTrip(req)
}

// sent is a request's body, its messages as they came.
type sent struct {
	Messages []json.RawMessage
	Tools    json.RawMessage
}

func read(t testing.TB, body []byte) sent {
	t.Helper()
	var s sent
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// joined is the messages as they are in a body.
func joined(messages []json.RawMessage) []byte {
	parts := make([][]byte, len(messages))
	for i, m := range messages {
		parts[i] = m
	}
	return bytes.Join(parts, []byte(","))
}

// TestSnapshotsAreWhatWasSent reads the whole sample in a window so small that much leaves it. At every snapshot the
// context is restored byte for byte. It is the system prompt, tools, and the messages of the scene's last request, with
// the reply to it.
func TestSnapshotsAreWhatWasSent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	kept := &recorder{RoundTripper: offline.New(offline.Options{})}
	s := &stage{t: t, dir: t.TempDir(), base: "http://offline/v1", config: defaults(), transport: kept, snapshots: true}
	s.config.ContextBudget, s.config.MaxTokens = 9_000, 1_000
	s.corpus = filepath.Join(s.dir, "lanterns.corpus.db")
	_, err := ingest.Import(ctx, ingest.Options{
		Sources: []string{"../testdata/lanterns/lanterns.jsonl"},
		Corpus:  s.corpus,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run("lanterns"); err != nil {
		t.Fatal(err)
	}
	if n := s.count("lanterns", `SELECT count(*) FROM compaction`); n < 3 {
		t.Fatalf("%d compactions: the window is too large for this test", n)
	}
	if calls := s.count("lanterns", `SELECT count(*) FROM call`); calls != len(kept.bodies) {
		t.Fatalf("%d calls, %d requests", calls, len(kept.bodies))
	}
	store := s.open("lanterns")
	snapshots, err := store.Snapshots.List(ctx, storage.SnapshotQuery{Kind: annotator.SnapshotCheckpoint})
	if err != nil {
		t.Fatal(err)
	}
	s.forksAreWhatWasAsked(t, "lanterns", kept)
	compared := 0
	for _, snapshot := range snapshots {
		last := s.count("lanterns", fmt.Sprintf(`SELECT coalesce(max(id), 0) FROM call WHERE scene = %d AND purpose `+
			`= 'annotate'`, snapshot.Scene))
		if last == 0 {
			continue // a scene without text
		}
		s.sameAsSent(store, snapshot, read(t, kept.bodies[last-1]))
		compared++
	}
	if compared < 70 {
		t.Errorf("%d scenes were compared", compared)
	}
}

func (s *stage) sameAsSent(store *storage.DB, at annotator.Snapshot, want sent) {
	s.t.Helper()
	wire := new(openai.Client)
	restored, err := snapshot.Restore(context.Background(), at, wire, store.Journal, store.Episodes)
	if err != nil {
		s.t.Fatal(err)
	}
	system, err := wire.Encode([]annotator.Message{{Role: annotator.RoleSystem, Content: restored.Stored.SystemPrompt}})
	if err != nil {
		s.t.Fatal(err)
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(slices.Concat([]byte("["), restored.History(), []byte("]")), &messages); err != nil {
		s.t.Fatal(err)
	}
	n := len(want.Messages) - 1 // without the system prompt
	if len(messages) <= n || !bytes.Equal(joined(append([]json.RawMessage{system}, messages[:n]...)),
		joined(want.Messages)) {
		s.t.Fatalf("scene %d: the context is not what was sent", at.Scene)
	}
	// the reply, and if it ended the scene, the results of its calls with a closing line
	for i, message := range messages[n:] {
		role := `"role":"tool"`
		if i == 0 || i == len(messages)-n-1 {
			role = `"role":"assistant"`
		}
		if !bytes.Contains(message, []byte(role)) {
			s.t.Errorf("scene %d: message %d after the request is %.80s", at.Scene, i+1, message)
		}
	}
	definitions, err := tools.DecodeDefinitions(restored.Stored.Tools)
	if err != nil {
		s.t.Fatal(err)
	}
	if encoded, err := wire.EncodeTools(definitions); err != nil || !bytes.Equal(encoded, want.Tools) {
		s.t.Errorf("scene %d: the tools are not what was sent", at.Scene)
	}
}

// answering is the ordinary script, but that it answers questions: with what it is asked, and how much it has in view.
func answering(r scripted.Request) scripted.Reply {
	question, asked := questionOf(r)
	switch {
	case !asked:
		return scripted.Annotate(r)
	case strings.Contains(question, "hands"):
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{Name: "glossary_delete", Arguments: `{"entry_id":1,"r` +
			`eason":"mine"}`}}}
	case r.Messages[len(r.Messages)-1].Role == annotator.RoleTool:
		return scripted.Reply{Text: "So I only say it."}
	}
	return scripted.Reply{Text: fmt.Sprintf("<think>Hm.</think>%s I have %d messages in view [post 1000].", question,
		len(r.Messages))}
}

// questionOf returns what a request asks of a summoned model.
func questionOf(r scripted.Request) (string, bool) {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.Role == annotator.RoleUser {
			_, rest, asked := strings.Cut(m.Content, "<question>\n")
			question, _, _ := strings.Cut(rest, "\n</question>")
			return question, asked
		}
	}
	return "", false
}

// asker is what a person needs to ask the named database.
func (s *stage) asker(name string) (*model.Client, *storage.SnapshotWriter) {
	s.t.Helper()
	guest, err := storage.OpenSnapshotWriter(context.Background(), s.db(name), time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = guest.Close() })
	wire, err := openai.New(endpoint.Options{BaseURL: s.base})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(wire.Close)
	return &model.Client{
		Wire: wire, Recorder: guest, Endpoint: s.base, Model: "scripted", Policy: &s.config.Retry,
		Random:       func() float64 { return 0 },
		Capabilities: new(model.Capabilities), Estimate: runner.EstimateReply,
	}, guest
}

func asking(question string, scene int) *snapshot.Request {
	return &snapshot.Request{Question: question, MaxTokens: 200, Scene: scene}
}

// TestAskOnlyReads asks a snapshot of a finished run. Only the conversation and its calls are written, including a
// failed attempt. Each request continues from the one before.
func TestAskOnlyReads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	failing := false
	s := newStage(t, story{threads: 2, scenes: 3},
		scripted.Options{
			Strict: true, Keep: true, Script: answering,
			Fault: func(int, scripted.Request) *scripted.Fault {
				if failing {
					failing = false
					return &scripted.Fault{Status: 500, Body: `{"error":{"message":"a hiccup"}}`}
				}
				return nil
			},
		})
	if err := s.run("asked"); err != nil {
		t.Fatal(err)
	}
	before, calls := s.written("asked"), s.state("asked").Calls
	store := s.open("asked")
	at, err := store.Snapshots.Get(ctx, 3)
	if err != nil {
		t.Fatal(err)
	}
	caller, guest := s.asker("asked")
	restored, err := snapshot.Restore(ctx, at, caller.Wire, store.Journal, store.Episodes)
	if err != nil {
		t.Fatal(err)
	}
	failing = true
	said := &storage.Conversation{Snapshot: at.ID}
	for _, question := range []string{"Who is <Ashe>?", "Use your hands!", "And then?"} {
		answer, call, err := restored.Ask(ctx, caller, asking(question, at.Scene))
		if question == "Use your hands!" {
			if err == nil || answer != "" {
				t.Errorf("%q, %v", answer, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(answer, "Hm") || !strings.HasSuffix(answer, "[post 1000].") {
			t.Errorf("%q", answer)
		}
		e := storage.Exchange{Question: question, Answer: answer}
		if err := errors.Join(guest.Answer(ctx, said, call, e), restored.Add(e)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, s.written("asked")); diff != "" {
		t.Errorf("asking has written (-before +after):\n%s", diff)
	}
	s.verify("asked")
	s.noViolations()
	if n := s.state("asked").Calls - calls; n != 5 { // one that failed, two that wanted to act, two answers
		t.Errorf("%d calls are on record", n)
	}
	s.asksGrow()
}

// asksGrow demands that the requests to a summoned model begin with what it had in view, and with what was said since.
func (s *stage) asksGrow() {
	s.t.Helper()
	var former []byte
	grown := 0
	for _, r := range s.server.Requests() {
		if _, asked := questionOf(r); !asked {
			continue
		}
		messages := read(s.t, r.Body).Messages
		if former != nil && !bytes.HasPrefix(joined(messages), former) {
			s.t.Error("a question does not begin with what was said before")
		}
		former = joined(messages[:len(messages)-1])
		if r.Messages[len(r.Messages)-1].Role == annotator.RoleTool {
			former = joined(messages[:len(messages)-3]) // what was refused is forgotten
		}
		if grown++; r.ToolChoice != `"none"` {
			s.t.Errorf("tool_choice %s", r.ToolChoice)
		}
	}
	if grown < 4 {
		s.t.Errorf("%d questions", grown)
	}
}

// written is all that a summoned model must not change.
func (s *stage) written(name string) []string {
	s.t.Helper()
	return slices.DeleteFunc(dump(s.t, s.db(name)), func(line string) bool {
		return strings.HasPrefix(line, "call ") || strings.HasPrefix(line, "run_state ")
	})
}

// summoning is a script that, in one scene, calls tools in a fixed order, one a round; it is the ordinary one
// elsewhere.
func summoning(scene int, calls ...annotator.ToolCall) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if _, asked := questionOf(r); asked {
			return answering(r)
		}
		at := 0
		for i, m := range r.Messages {
			if m.Role == annotator.RoleUser && strings.Contains(m.Content, "<scene number=") {
				at = i
			}
		}
		round := 0
		for _, m := range r.Messages[at:] {
			if m.Role == annotator.RoleAssistant {
				round++
			}
		}
		if !strings.Contains(r.Messages[at].Content, fmt.Sprintf(`<scene number="%d"`, scene)) || !r.MayCall() {
			return scripted.Annotate(r)
		}
		if round < len(calls) {
			return scripted.Reply{ToolCalls: calls[round : round+1]}
		}
		return scripted.Reply{Text: "Done."}
	}
}

func toolCall(name, arguments string) annotator.ToolCall {
	return annotator.ToolCall{Name: name, Arguments: arguments}
}

// results are the answers to the tool calls of a scene: each one's error, or OK.
func (s *stage) results(name string, scene int) (codes, contents []string) {
	s.t.Helper()
	store := s.open(name)
	row, err := store.Scenes.Get(context.Background(), scene)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, err := range store.Journal.Interactions(context.Background(), row.Turn) {
		if err != nil {
			s.t.Fatal(err)
		}
		code := "OK"
		if i.Error != "" {
			code = i.Error
		}
		codes, contents = append(codes, code), append(contents, i.Result)
	}
	return codes, contents
}

// TestModelSummons has the model ask its own past, and do wrong what can be done wrong.
func TestModelSummons(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Keep: true, Script: summoning(5,
		toolCall("summon_continue", `{"message":"Who?"}`),
		toolCall("summon_dismiss", `{"summary":"Nothing."}`),
		toolCall("list_snapshots", `{"limit":2,"snapshot_type":"checkpoint"}`),
		toolCall("summon_snapshot", `{"snapshot_id":99,"query":"Who?"}`),
		toolCall("summon_snapshot", `{"snapshot_id":2,"query":"..."}`),
		toolCall("summon_snapshot", `{"snapshot_id":2,"query":"Who is Ashe?"}`),
		toolCall("summon_snapshot", `{"snapshot_id":1,"query":"Who else?"}`),
		toolCall("summon_continue", `{"message":"Use your hands!"}`),
		toolCall("summon_continue", `{"message":"Where is he?"}`),
	)})
	s.snapshots = true
	if err := s.run("asking"); err != nil {
		t.Fatal(err)
	}
	s.verify("asking")
	s.noViolations()
	codes, contents := s.results("asking", 5)
	want := []string{
		"NO_SUMMON", "NO_SUMMON", "OK", "NOT_FOUND", "EMPTY", "OK", "SUMMON_ACTIVE", "SUMMON_READ_ONLY",
		"OK",
	}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Fatalf("%s\n%s", diff, strings.Join(contents, "\n"))
	}
	for i, part := range map[int]string{
		2: `"count":2,"snapshots":[{"id":4,"type":"checkpoint","scene":4,`,
		5: `"answer":"Who is Ashe? I have `,
		8: `"questions_left":2}`,
	} {
		if !strings.Contains(contents[i], part) {
			t.Errorf("answer %d: %s", i, contents[i])
		}
	}
	if n := s.count("asking", `SELECT count(*) FROM summon WHERE dismissed_at IS NOT NULL AND asker = 'model' AND `+
		`turn = 5`); n != 1 {
		t.Errorf("%d conversations have ended with the scene", n)
	}
	if n := s.count("asking", `SELECT count(*) FROM revision WHERE turn = 5`); n != 0 {
		t.Errorf("%d revisions", n)
	}
	s.windowGrows()
	s.asksGrow()
}

// windowGrows demands that the requests about scenes, taken alone, only grow at their end.
func (s *stage) windowGrows() {
	s.t.Helper()
	var former []byte
	for i, r := range s.server.Requests() {
		if _, asked := questionOf(r); asked || r.ToolChoice == `"none"` {
			continue
		}
		messages := joined(read(s.t, r.Body).Messages)
		if !bytes.HasPrefix(messages, former) {
			s.t.Errorf("request %d does not begin with the one before", i+1)
		}
		former = messages
	}
}

// TestSummonsAreBounded lets a model ask without end, and ask a snapshot that the server cannot take.
func TestSummonsAreBounded(t *testing.T) {
	t.Parallel()
	calls := []annotator.ToolCall{toolCall("summon_snapshot", `{"snapshot_id":1,"query":"Who?"}`)}
	for n := range 6 {
		calls = append(calls, toolCall("summon_continue", fmt.Sprintf(`{"message":"Who %d?"}`, n)))
	}
	calls = append(calls, toolCall("summon_dismiss", `{"summary":"Enough."}`))
	refuse := false
	s := newStage(t, story{threads: 1, scenes: 3},
		scripted.Options{Script: summoning(2, calls...), Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if _, asked := questionOf(r); asked && refuse {
				return &scripted.Fault{
					Status: 400,
					Body:   `{"error":{"message":"This model's maximum context length is 10 tokens.","code":"context_length_exceeded"}}`,
				}
			}
			return nil
		}})
	s.snapshots = true
	if err := s.run("bounded"); err != nil {
		t.Fatal(err)
	}
	codes, contents := s.results("bounded", 2)
	if diff := cmp.Diff(append(slices.Repeat([]string{"OK"}, 6), "SUMMON_LIMIT", "OK"), codes); diff != "" {
		t.Errorf("%s\n%s", diff, strings.Join(contents, "\n"))
	}
	refuse = true
	if err := s.run("too-long"); err != nil {
		t.Fatal(err)
	}
	if codes, _ := s.results("too-long", 2); codes[0] != "RESTORE_FAILED" || codes[1] != "NO_SUMMON" {
		t.Errorf("%v", codes)
	}
	for _, name := range []string{"bounded", "too-long"} {
		s.verify(name)
	}
}

// TestSummonIsTornOff stops the program while a snapshot is being asked. The next run asks again, and all comes out as
// if nothing had happened.
func TestSummonIsTornOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	questions, tear := 0, 0
	s := newStage(t, story{threads: 1, scenes: 3}, scripted.Options{
		Script: summoning(2,
			toolCall("summon_snapshot", `{"snapshot_id":1,"query":"Who is Ashe?"}`),
			toolCall("summon_continue", `{"message":"And then?"}`),
			toolCall("summon_dismiss", `{"summary":"A warden."}`)),
		OnRequest: func(r scripted.Request) {
			if _, asked := questionOf(r); asked {
				if questions++; questions == tear {
					cancel()
				}
			}
		},
	})
	s.snapshots = true
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	questions, tear = 0, 2
	r, end, err := prepare(s.job("torn"), &s.bus, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(ctx)
	end()
	if err == nil {
		t.Fatal("nothing was torn off")
	}
	s.verify("torn")
	if err := s.run("torn"); err != nil {
		t.Fatal(err)
	}
	s.verify("torn")
	if diff := cmp.Diff(s.written("calm"), s.written("torn")); diff != "" {
		t.Errorf("the torn run differs (-calm +torn):\n%s", diff)
	}
	const said = `SELECT count(*) FROM summon_exchange x JOIN summon m ON m.id = x.summon_id WHERE m.summary = 'A warden.'`
	if calm, torn := s.count("calm", said), s.count("torn", said); calm != 2 || torn != 2 {
		t.Errorf("%d exchanges, and %d when torn", calm, torn)
	}
}

// TestBranchGoesOnAsTheRunDid branches a finished run at snapshots and lets a run go on from each: it comes to the same
// end.
func TestBranchGoesOnAsTheRunDid(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm := append(dump(t, s.db("calm")), s.episodes("calm")...)
	for _, snapshot := range []int64{1, 5, 12, 19} {
		name := fmt.Sprintf("branch-%d", snapshot)
		if err := storage.Branch(context.Background(), s.db("calm"), s.db(name), snapshot); err != nil {
			t.Fatal(err)
		}
		s.verify(name)
		if run := s.state(name); run.Recorded != int(snapshot) || run.OpenScene != 0 {
			t.Errorf("%s begins with %d scenes recorded, %d open", name, run.Recorded, run.OpenScene)
		}
		if err := s.run(name); err != nil {
			t.Fatal(err)
		}
		s.verify(name)
		if diff := cmp.Diff(calm, append(dump(t, s.db(name)), s.episodes(name)...)); diff != "" {
			t.Errorf("%s differs from the undisturbed run (-calm +branch):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(calm, append(dump(t, s.db("calm")), s.episodes("calm")...)); diff != "" {
		t.Errorf("the branches have changed what they are branches of:\n%s", diff)
	}
}

func (s *stage) episodes(name string) []string {
	s.t.Helper()
	var lines []string
	for e, err := range s.open(name).Episodes.All(context.Background(), "") {
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%+v in force: %t", e.Episode, e.InForce))
	}
	return lines
}
