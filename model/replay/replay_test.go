package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/model"
	"annotator/model/endpoint"
	"annotator/model/offline"
	"annotator/model/openai"
	"annotator/model/replay"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// answers is a wire that gives each request the next of its answers.
type answers struct {
	*openai.Client
	next    []any            // a *model.Reply or a *model.Fault each
	history []string         // of the requests
	seen    []*model.Request // the requests
}

func (a *answers) Complete(_ context.Context, r *model.Request) (*model.Reply, error) {
	next := a.next[0]
	a.next, a.history, a.seen = a.next[1:], append(a.history, string(r.History)), append(a.seen, r)
	if fault, failed := next.(*model.Fault); failed {
		return nil, fault
	}
	return next.(*model.Reply), nil
}

// numbers counts the requests that have ended, like the calls of a database.
type numbers map[string]int

func key(scene int, purpose annotator.CallPurpose) string { return fmt.Sprint(scene, purpose) }

func (n numbers) Answered(_ context.Context, scene int, purpose annotator.CallPurpose) (int, error) {
	return n[key(scene, purpose)], nil
}

func newAnswers(t testing.TB, next ...any) *answers {
	t.Helper()
	client, err := openai.New(endpoint.Options{BaseURL: "http://offline/v1", HTTP: offline.New(offline.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return &answers{Client: client, next: next}
}

func clock() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }

func record(t testing.TB, path string, wire model.Wire, n numbers) *replay.Recorder {
	t.Helper()
	w, err := replay.Record(path, "http://server/v1", wire, clock)
	if err != nil {
		t.Fatal(err)
	}
	w.Numbers = n
	return w
}

// send completes a request with a history of texts, and counts it if it is answered.
func send(t testing.TB, wire model.Wire, n numbers, scene int, purpose annotator.CallPurpose, texts ...string,
) (*model.Reply, error) {
	t.Helper()
	r := request(t, wire, scene, purpose, texts...)
	reply, err := wire.Complete(t.Context(), r)
	if err == nil {
		n[key(scene, purpose)]++
	}
	return reply, err
}

func request(t testing.TB, wire model.Encoder, scene int, purpose annotator.CallPurpose, texts ...string,
) *model.Request {
	t.Helper()
	var groups [][]byte
	for i, text := range texts {
		m := annotator.Message{Role: annotator.RoleUser, Content: text}
		if i%2 == 1 {
			m.Role = annotator.RoleAssistant
			m.ToolCalls = []annotator.ToolCall{{ID: "c", Name: "glossary_create", Arguments: `{"term":"<Quay>"}`}}
		}
		group, err := wire.Encode([]annotator.Message{m})
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, group)
	}
	tools, err := wire.EncodeTools([]annotator.ToolDefinition{{Name: "a", Schema: []byte(`{"type":"object"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Request{
		Model: "m", System: "You read.", History: bytes.Join(groups, []byte{','}), Tools: tools,
		Call: annotator.Call{Scene: scene, Purpose: purpose, Attempt: 1},
	}
}

func reply(text string) *model.Reply {
	return &model.Reply{
		Text: text, Reasoning: "so", Finish: "stop", Model: "m-1",
		Calls:     []annotator.ToolCall{{ID: "1", Name: "a", Arguments: `{"x":"<&>"}`}},
		Usage:     annotator.Usage{Prompt: 7, Told: 5, Cached: 3, Completion: 2, Exact: true},
		FirstByte: 20 * time.Millisecond, Duration: time.Second,
	}
}

func load(t testing.TB, path string) *replay.Recording {
	t.Helper()
	r, err := replay.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplyIsReplayed: a reply comes back as it was, and the recorded wire gets the bytes that it would have without.
func TestReplyIsReplayed(t *testing.T) {
	t.Parallel()
	path, wire, n := filepath.Join(t.TempDir(), "r.jsonl"), newAnswers(t, reply("one")), numbers{}
	recorder := record(t, path, wire, n)
	if _, err := send(t, recorder, n, 3, annotator.PurposeAnnotate, "a <b>", "c", "d"); err != nil {
		t.Fatal(err)
	}
	plain := request(t, wire.Client, 3, annotator.PurposeAnnotate, "a <b>", "c", "d")
	if diff := cmp.Diff(string(plain.History), wire.history[0]); diff != "" {
		t.Error("the history of the recorded wire differs: ", diff)
	}
	if diff := cmp.Diff(string(plain.Tools), string(wire.seen[0].Tools)); diff != "" {
		t.Error("its tools differ: ", diff)
	}
	n = numbers{}
	replayer := replay.NewReplayer(load(t, path), true)
	replayer.Numbers = n
	got, err := send(t, replayer, n, 3, annotator.PurposeAnnotate, "a <b>", "c", "d")
	if diff := cmp.Diff(reply("one"), got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if !replayer.Now().Equal(clock()) {
		t.Error(replayer.Now())
	}
}

// TestLaterAttemptCounts: a request that was sent again has its last outcome, and a fault of the server's state is not
// recorded.
func TestLaterAttemptCounts(t *testing.T) {
	t.Parallel()
	refused := &model.Fault{Kind: annotator.Refused, Status: 400, Message: "no", MaxContext: 12, Filtered: true}
	path, n := filepath.Join(t.TempDir(), "r.jsonl"), numbers{}
	wire := newAnswers(t, &model.Fault{Kind: annotator.Unreachable}, &model.Fault{Kind: annotator.Malformed},
		reply("good"), refused)
	recorder := record(t, path, wire, n)
	for range 2 {
		if _, err := send(t, recorder, n, 1, annotator.PurposeAnnotate, "a"); err == nil {
			t.Fatal("no fault")
		}
	}
	for scene := 1; scene <= 2; scene++ {
		_, _ = send(t, recorder, n, scene, annotator.PurposeAnnotate, "a")
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Count(text, []byte("\n")) != 4 {
		t.Errorf("%v\n%s", err, text)
	}
	n = numbers{}
	replayer := replay.NewReplayer(load(t, path), true)
	replayer.Numbers = n
	if got, err := send(t, replayer, n, 1, annotator.PurposeAnnotate, "a"); err != nil || got.Text != "good" {
		t.Error(got, err)
	}
	_, err := send(t, replayer, n, 2, annotator.PurposeAnnotate, "a")
	if diff := cmp.Diff(any(refused), any(err)); diff != "" {
		t.Error(diff)
	}
}

// TestFileDoesNotGrowWithTheSquare: each text is in the file once, although each request has all that precede it, and
// others come between them.
func TestFileDoesNotGrowWithTheSquare(t *testing.T) {
	t.Parallel()
	path, n, wire := filepath.Join(t.TempDir(), "r.jsonl"), numbers{}, newAnswers(t)
	recorder := record(t, path, wire, n)
	var texts []string
	for i := range 50 {
		wire.next = append(wire.next, reply("x"), reply("y"))
		texts = append(texts, fmt.Sprintf("text %d.", i))
		for purpose, asked := range map[annotator.CallPurpose][]string{
			annotator.PurposeAnnotate: texts, annotator.PurposeCurate: {"alone"},
		} {
			if _, err := send(t, recorder, n, i, purpose, asked...); err != nil {
				t.Fatal(err)
			}
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, "You read.", "alone") {
		if count := strings.Count(string(written), text); count != 1 {
			t.Errorf("%q is in the file %d times", text, count)
		}
	}
}

// TestDifferencesAreReported: the first difference is reported once, with the text around it, and all are counted.
func TestDifferencesAreReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		recorded []string
		now      []string
		want     string
	}{
		{
			"text",
			[]string{"a", "b", "the Kühe here"},
			[]string{"a", "b", "the Köhe here"},
			`message 3 (user), at byte 6: recorded "the Kühe here", now "the Köhe here"`,
		},
		{"more", []string{"a"}, []string{"a", "b"}, "message 2 (assistant), which the recorded one does not have"},
		{"fewer", []string{"a", "b"}, []string{"a"}, "message 2 (assistant), which it no longer has"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path, n := filepath.Join(t.TempDir(), "r.jsonl"), numbers{}
			recorder := record(t, path, newAnswers(t, reply("x"), reply("y")), n)
			for range 2 {
				if _, err := send(t, recorder, n, 1, annotator.PurposeAnnotate, test.recorded...); err != nil {
					t.Fatal(err)
				}
			}
			var told []string
			n = numbers{}
			replayer := replay.NewReplayer(load(t, path), false)
			replayer.Numbers = n
			replayer.Notify = func(n annotator.Notice) { told = append(told, n.Reason) }
			for _, want := range []string{"x", "y"} {
				got, err := send(t, replayer, n, 1, annotator.PurposeAnnotate, test.now...)
				if err != nil || got.Text != want {
					t.Fatal(got, err)
				}
			}
			if tally := replayer.Tally(); tally.Requests != 2 || tally.Differ != 2 || len(told) != 1 ||
				!strings.HasPrefix(told[0], "request 1 of scene 1 to annotate differs") ||
				!strings.Contains(told[0], test.want) {
				t.Errorf("%+v %q", tally, told)
			}
			strict := replay.NewReplayer(load(t, path), true)
			strict.Numbers = numbers{}
			_, err := send(t, strict, numbers{}, 1, annotator.PurposeAnnotate, test.now...)
			if fault, ok := errors.AsType[*model.Fault](err); !ok || fault.Kind != annotator.Misconfigured {
				t.Error(err)
			}
		})
	}
}

// TestMissingReplies: without a reply a scene cannot be annotated. Other questions count as declined, and a probe as
// answered.
func TestMissingReplies(t *testing.T) {
	t.Parallel()
	path, n := filepath.Join(t.TempDir(), "r.jsonl"), numbers{}
	record(t, path, newAnswers(t), n)
	replayer := replay.NewReplayer(load(t, path), false)
	replayer.Numbers = n
	for purpose, want := range map[annotator.CallPurpose]annotator.Kind{
		annotator.PurposeAnnotate: annotator.Misconfigured, annotator.PurposeCurate: annotator.Refused,
		annotator.PurposeSummarise: annotator.Refused, annotator.PurposeAsk: annotator.Refused,
	} {
		_, err := send(t, replayer, n, 4, purpose, "a")
		if fault, ok := errors.AsType[*model.Fault](err); !ok || fault.Kind != want ||
			!strings.Contains(fault.Message, fmt.Sprintf("%s has no request 1 of scene 4 to %s", path, purpose)) {
			t.Errorf("%s: %v", purpose, err)
		}
	}
	if _, err := send(t, replayer, n, 4, annotator.PurposeProbe, "a"); err != nil {
		t.Error(err)
	}
	if tally := replayer.Tally(); tally.Missing != 4 || tally.Differ != 0 {
		t.Errorf("%+v", tally)
	}
}

// TestCutRecordings: whatever a kill leaves of a recording, its whole lines are read, and it can be continued.
func TestCutRecordings(t *testing.T) {
	t.Parallel()
	path, n := filepath.Join(t.TempDir(), "r.jsonl"), numbers{}
	recorder := record(t, path, newAnswers(t, reply("1"), reply("2"), reply("3")), n)
	for scene := range 3 {
		if _, err := send(t, recorder, n, scene, annotator.PurposeAnnotate, "a", "b", "c"); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		cut := whole[:rapid.IntRange(0, len(whole)).Draw(rt, "bytes")]
		lines := bytes.Count(cut, []byte("\n"))
		if lines == 0 && len(cut) > 0 {
			return // its first line is not whole: it is refused like any other file
		}
		path := filepath.Join(t.TempDir(), "cut.jsonl")
		if err := os.WriteFile(path, cut, 0o600); err != nil {
			rt.Fatal(err)
		}
		n := numbers{}
		more := record(t, path, newAnswers(t, reply("4")), n)
		if _, err := send(t, more, n, 9, annotator.PurposeAnnotate, "a", "b", "d"); err != nil {
			rt.Fatal(err)
		}
		if r := load(t, path); r.Len() != max(lines, 1) {
			rt.Fatalf("%d requests of %d lines", r.Len(), lines)
		}
	})
}

// TestTokensAreCounted: the counts of a tokenizer are recorded, and others are refused.
func TestTokensAreCounted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	recorder := record(t, path, newAnswers(t), numbers{})
	want, err := recorder.CountTokens(t.Context(), "offline", "twelve words or so")
	if err != nil {
		t.Fatal(err)
	}
	replayer := replay.NewReplayer(load(t, path), true)
	if got, err := replayer.CountTokens(t.Context(), "offline", "twelve words or so"); err != nil || got != want {
		t.Error(got, err)
	}
	if _, err := replayer.CountTokens(t.Context(), "offline", "others"); err == nil {
		t.Error("a text that was not recorded is counted")
	}
}

// FuzzRead: what is read as a recording can be replayed, and nothing else is.
func FuzzRead(f *testing.F) {
	path, n := filepath.Join(f.TempDir(), "r.jsonl"), numbers{}
	recorder := record(f, path, newAnswers(f, reply("1"), reply("2")), n)
	for range 2 {
		if _, err := send(f, recorder, n, 1, annotator.PurposeAnnotate, "a", "b"); err != nil {
			f.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(bytes.ReplaceAll(whole, []byte(`"follows":4`), []byte(`"follows":5`)))
	f.Add([]byte(`{"format":"annotator recording","version":2}` + "\n"))
	f.Add([]byte(`{"format":"annotator recording","version":1,"at":"2026-05-04T03:02:01Z"}0` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := replay.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if first, _, _ := bytes.Cut(text, []byte("\n")); !json.Valid(first) {
			t.Errorf("the first line is read: %q", first)
		}
		n := numbers{}
		replayer := replay.NewReplayer(r, false)
		replayer.Numbers = n
		for range 2 {
			_, _ = send(t, replayer, n, 1, annotator.PurposeAnnotate, "a", "b")
		}
		if tally := replayer.Tally(); tally.Requests > 2 || tally.Differ+tally.Missing > tally.Requests {
			t.Errorf("%+v", tally)
		}
	})
}
