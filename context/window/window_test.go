package window_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/budget"
	"annotator/context/compaction"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

// reader reads a made-up story with a window over a real database, as a run does.
type reader struct {
	*testing.T
	ctx       context.Context
	db        *storage.DB
	window    *window.Window
	scenes    []*annotator.Scene
	budget    budget.Budget
	prefix    window.Prefix
	answer    func(instruction string) string // of the summariser; empty if there is none
	asked     []string                        // instructions that the summariser got
	compacted []string                        // reasons of compactions
	turn      int64                           // of the newest scene
	text      func(scene int) string
	counts    func(*window.Prompt) int // what the server reports of a prompt

	summaryCall *annotator.Call // the newest
}

// newReader returns a reader of threads with the given numbers of scenes. begun returns a budget that is in force.
func begun(b budget.Budget) budget.Budget {
	b.Begin()
	return b
}

func newReader(t *testing.T, b budget.Budget, threads ...int) *reader {
	t.Helper()
	r := &reader{
		T: t, ctx: t.Context(), text: sceneText, counts: serverCount, budget: begun(b),
		prefix: window.NewPrefix("You keep a glossary.", "[]", []byte("[]")),
	}
	var err error
	r.db, err = storage.OpenWriter(r.ctx, filepath.Join(t.TempDir(), "annotator.db"), "the test", time.Now)
	r.ok(err)
	t.Cleanup(func() { _ = r.db.Close() })
	for i, count := range threads {
		for index := range count {
			n := len(r.scenes) + 1
			r.scenes = append(r.scenes, &annotator.Scene{
				N: n, Thread: annotator.Thread{ID: int64(100 + i), Title: "Chapter"}, Index: index,
				Opens: index == 0, Ends: index == count-1,
				Posts: []annotator.Post{{ID: int64(1000 + n), Thread: int64(100 + i), Name: "qm", Body: sceneText(n)}},
			})
		}
	}
	r.ok(r.db.Run.Begin(r.ctx, storage.Corpus{Title: "A story", Path: "story.db", Identity: "1"},
		func(yield func(*annotator.Scene, error) bool) {
			for _, s := range r.scenes {
				if !yield(s, nil) {
					return
				}
			}
		}))
	r.ok(r.db.Journal.UsePrompt(r.ctx, storage.Prompt{Hash: "first", SystemPrompt: r.prefix.System, Tools: "[]"}))
	r.answer = func(string) string { return "<chunk>Ash went on.</chunk><cumulative>Ash came far.</cumulative>" }
	r.window = r.restored()
	return r
}

// sceneText is about 250 tokens.
func sceneText(n int) string {
	return fmt.Sprintf("Ash reached lamp %d. %s", n, strings.Repeat("The night was long and cold. ", 34))
}

func (r *reader) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// restored returns a new window that is computed from the database.
func (r *reader) restored() *window.Window {
	r.Helper()
	w := window.New(window.Config{
		Policy: compaction.Auto(), SummaryTemplate: prompt.Defaults().Summariser, SummaryTokens: 600,
		OnCompaction: func(c *annotator.Compaction) { r.compacted = append(r.compacted, c.Reason) },
	}, &r.budget, encode, window.Sources{
		Journal: r.db.Journal, Episodes: r.db.Episodes, Calls: r.db.Calls, Scenes: r.db.Scenes,
		ChangedIn: r.db.Glossary.ChangedIn, Posts: r.posts, Summarise: r.summarise,
	})
	w.Prefix = r.prefix
	r.ok(w.Restore(r.ctx, false))
	return w
}

// posts returns posts of a scene. See window.Sources.
func (r *reader) posts(_ context.Context, _ int64, posts []int64) ([]annotator.Post, error) {
	return r.scenes[posts[0]-1001].Posts, nil
}

// summarise answers a question for a summary. See window.Sources.
func (r *reader) summarise(ctx context.Context, q *window.Question) (*window.Answer, error) {
	r.asked = append(r.asked, q.Text)
	if used := q.Prompt.Tokens() + q.MaxTokens; used > r.budget.ReplyTo(0) {
		r.Errorf("the summariser is sent %d tokens with its answer", used)
	}
	text := r.answer(q.Text)
	if text == "" {
		return nil, window.ErrNoSummary
	}
	call := &annotator.Call{
		Turn: r.turn, Purpose: annotator.PurposeSummarise, Attempt: 1, Estimate: q.Prompt.Tokens(),
		Characters: q.Prompt.Size,
	}
	r.ok(r.db.Calls.Open(ctx, call))
	call.Usage = annotator.Usage{Prompt: serverCount(q.Prompt), Completion: tokens.Estimate(text), Exact: true}
	r.summaryCall = call
	return &window.Answer{Call: call, Text: text, Body: []byte(text)}, nil
}

// serverCount is how many tokens the server counts, which is more than the estimate by rule.
func serverCount(p *window.Prompt) int { return p.Size.Tokens() * 5 / 4 }

// read reads the next scene, and reports whether it fits. It returns the prompt that was sent for it.
func (r *reader) read(force bool) (sent *window.Prompt, fits bool) {
	r.Helper()
	row, err := r.db.Scenes.Next(r.ctx)
	r.ok(err)
	text := r.text(row.N)
	r.window.Begin(row.Thread.ID, 0, text)
	if fits, err = r.window.MakeRoom(r.ctx, force); !fits || err != nil {
		r.ok(err)
		return nil, false
	}
	scene := annotator.Trace{Kind: annotator.TraceScene, Scene: row.N, Content: text}
	r.ok(r.db.Scenes.Open(r.ctx, &scene))
	r.ok(r.window.Add(&scene))
	r.turn = scene.Turn
	sent, err = r.window.Request()
	r.ok(err)
	r.reply(row.N, sent)
	return sent, true
}

// reply has the model answer a prompt, and ends the scene.
func (r *reader) reply(scene int, p *window.Prompt) {
	r.Helper()
	call := &annotator.Call{
		Turn: r.turn, Scene: scene, Purpose: annotator.PurposeAnnotate, Attempt: 1, Estimate: p.Tokens(),
		Characters: p.Size,
	}
	r.ok(r.db.Calls.Open(r.ctx, call))
	rows := []annotator.Trace{{Turn: r.turn, Seq: 1, Kind: annotator.TraceReply, Scene: scene, Content: "Noted."}}
	call.Usage = annotator.Usage{Prompt: r.counts(p), Completion: 6, Exact: true}
	r.ok(r.db.Calls.Reply(r.ctx, call, rows))
	r.ok(r.window.Add(&rows[0]))
	r.ok(r.window.Relearn(r.ctx))
	r.window.Counted(call.Characters, call.Usage, &rows[0])
	r.ok(r.db.Scenes.Record(r.ctx, storage.Outcome{Scene: scene, Turn: r.turn, State: annotator.SceneRecorded}))
	_, err := r.db.Scenes.Checkpoint(r.ctx, scene, r.window.Tokens(), nil)
	r.ok(err)
}

// same demands that two windows give the same next request.
func (r *reader) same(a, b *window.Window) {
	r.Helper()
	first, err := a.Request()
	r.ok(err)
	second, err := b.Request()
	r.ok(err)
	if !bytes.Equal(first.History, second.History) || first.Size != second.Size || first.Tokens() != second.Tokens() {
		r.Fatalf("%d tokens, %v and %d tokens, %v", first.Tokens(), first.Size, second.Tokens(), second.Size)
	}
}

var small = budget.Budget{Wanted: 4_000, MaxReply: 600, Margin: 200}

// TestWindowRestores: after each scene a window that is computed from the database gives the request that the window in
// use gives, with the same estimate. Between compactions requests grow at their end, and none is longer than it may be.
func TestWindowRestores(t *testing.T) {
	t.Parallel()
	r := newReader(t, small, 8, 22)
	var before []byte
	for range r.scenes {
		epochs := len(r.compacted)
		sent, fits := r.read(false)
		if !fits {
			t.Fatal("a scene does not fit")
		}
		if n := serverCount(sent); n > r.budget.Prompt() || sent.MinTokens(true) > n || sent.MinTokens(false) > n {
			t.Fatalf("a prompt of %d tokens, at least %d", n, sent.MinTokens(true))
		}
		if len(r.compacted) == epochs && !bytes.HasPrefix(sent.History, before) {
			t.Fatal("a request does not begin as the one before")
		}
		before = sent.History
		r.same(r.window, r.restored())
	}
	if len(r.compacted) < 2 || len(r.asked) != len(r.compacted) {
		t.Errorf("%d compactions, %d questions", len(r.compacted), len(r.asked))
	}
	texts, err := r.window.Texts(r.ctx)
	r.ok(err)
	if memory := texts[0]; !strings.Contains(memory, "Ash came far.") || !strings.Contains(memory, "Ash went on.") {
		t.Errorf("the memory is %q", memory)
	}
}

// TestOneWrongCountIsNoFloor tests a server that sometimes counts a prompt twice. It has not dropped the beginning of
// the next one, whether the window is in use or restored. One whose tokenizer is another from some prompt on is
// believed.
func TestOneWrongCountIsNoFloor(t *testing.T) {
	t.Parallel()
	r := newReader(t, budget.Budget{Wanted: 32_000, MaxReply: 600, Margin: 200}, 30)
	n := 0
	r.counts = func(p *window.Prompt) int {
		if n++; n%5 == 3 {
			return 2 * serverCount(p)
		}
		return serverCount(p)
	}
	for range r.scenes {
		sent, _ := r.read(false)
		if least, has := sent.MinTokens(true), serverCount(sent); least > has {
			t.Fatalf("prompt %d is to have at least %d tokens, and has %d", n, least, has)
		}
		next, err := r.restored().Request()
		r.ok(err)
		if least, has := next.MinTokens(true), serverCount(next); least > has {
			t.Fatalf("resumed after prompt %d, the next is to have at least %d tokens, and has %d", n, least, has)
		}
		r.same(r.window, r.restored())
	}

	r = newReader(t, budget.Budget{Wanted: 32_000, MaxReply: 600, Margin: 200}, 30)
	for range 10 {
		r.read(false)
	}
	r.counts = func(p *window.Prompt) int { return 2 * serverCount(p) }
	for range 2 {
		r.read(false)
	}
	next, err := r.window.Request()
	r.ok(err)
	if least := next.MinTokens(true); least <= serverCount(next) {
		t.Errorf("at least %d tokens, of %d as the tokenizer counts now", least, 2*serverCount(next))
	}
}

// TestSummaryByRule: where the model gives no answer, or one of no use, a rule writes the summary.
func TestSummaryByRule(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"no answer": "", "of no use": "- - -"} {
		r := newReader(t, small, 16)
		r.answer = func(string) string { return answer }
		for range r.scenes {
			if _, fits := r.read(false); !fits {
				t.Fatalf("%s: a scene does not fit", name)
			}
		}
		_, chunks, err := r.db.Episodes.InForce(r.ctx)
		r.ok(err)
		if len(chunks) == 0 || len(r.asked) == 0 {
			t.Fatalf("%s: %d chunks, %d questions", name, len(chunks), len(r.asked))
		}
		for i := range chunks {
			if chunks[i].By != annotator.AuthorRule || !strings.Contains(chunks[i].Summary, "Ash reached lamp") {
				t.Errorf("%s: %s wrote %q", name, chunks[i].By, chunks[i].Summary)
			}
		}
		r.same(r.window, r.restored())
	}
}

// TestSummaryTooLong: a summary that is longer than the turns is not used, and its call says so.
func TestSummaryTooLong(t *testing.T) {
	t.Parallel()
	r := newReader(t, small, 6)
	r.answer = func(string) string { return strings.Repeat("字", 2_400) }
	r.text = func(n int) string { return sceneText(n)[:300] }
	for range 4 {
		r.read(false)
	}
	if _, fits := r.read(true); !fits || len(r.asked) != 1 || len(r.compacted) != 1 {
		t.Errorf("fits %v after %d questions and %d compactions", fits, len(r.asked), len(r.compacted))
	}
	_, chunks, err := r.db.Episodes.InForce(r.ctx)
	r.ok(err)
	if len(chunks) != 1 || chunks[0].By != annotator.AuthorRule {
		t.Errorf("the chunks are %+v", chunks)
	}
	if call := r.summaryCall; call.Outcome != annotator.CallOutcome(annotator.Malformed) ||
		!strings.Contains(call.Fault, "longer") {
		t.Errorf("the call is recorded as %+v", call)
	}
}

// TestForcedCompaction tests a server that accepts less than the count. Turns leave though all fits. When none is left
// that could, the scene does not fit.
func TestForcedCompaction(t *testing.T) {
	t.Parallel()
	r := newReader(t, small, 12)
	for range 6 {
		if _, fits := r.read(false); !fits || len(r.compacted) > 0 {
			t.Fatalf("%d compactions", len(r.compacted))
		}
	}
	if _, fits := r.read(true); !fits || len(r.compacted) == 0 {
		t.Errorf("forced: fits %v after %d compactions", fits, len(r.compacted))
	}
	empty := newReader(t, small, 2)
	if _, fits := empty.read(true); fits {
		t.Error("nothing can leave an empty window, and the scene is said to fit")
	}
	if _, fits := empty.read(false); !fits {
		t.Error("the scene is said not to fit though its count does")
	}
}

// TestSceneTooLong: a scene that does not fit an emptied window does not fit.
func TestSceneTooLong(t *testing.T) {
	t.Parallel()
	r := newReader(t, small, 3)
	r.read(false)
	r.window.Begin(100, 0, strings.Repeat("Too long. ", 2_000))
	if fits, err := r.window.MakeRoom(r.ctx, false); fits || err != nil || r.window.Needed() <= r.budget.Prompt() {
		t.Errorf("fits %v with %d tokens: %v", fits, r.window.Needed(), err)
	}
}

// TestQuestions follow a prefix of the window, and leave it as it is.
func TestQuestions(t *testing.T) {
	t.Parallel()
	r := newReader(t, small, 4)
	var third *window.Prompt
	for range 4 {
		if sent, _ := r.read(false); r.turn == 3 {
			third = sent
		}
	}
	whole, err := r.window.Request()
	r.ok(err)
	p, err := r.window.Before(3)
	r.ok(err)
	prefix := bytes.Clone(p.History)
	r.ok(p.Ask("What now?"))
	if !bytes.HasPrefix(third.History, prefix) || !bytes.HasPrefix(p.History, prefix) ||
		bytes.Contains(prefix, []byte("lamp 3")) {
		t.Error("the question does not follow what stood before the turn")
	}
	if got := decode(t, p.History); got[len(got)-1].Content != "What now?" {
		t.Errorf("the question is %+v", got[len(got)-1])
	}
	if p.Tokens() >= whole.Tokens() {
		t.Errorf("the question has %d tokens, the window %d", p.Tokens(), whole.Tokens())
	}
	before := p.Tokens()
	p.ReplacePrefix(window.NewPrefix(r.prefix.System+strings.Repeat(" And more.", 40), "", nil))
	if p.Tokens() <= before || p.Tools != nil {
		t.Errorf("with a longer prefix the question has %d tokens, not %d", p.Tokens(), before)
	}
	again, err := r.window.Request()
	r.ok(err)
	if diff := cmp.Diff(whole.History, again.History); diff != "" {
		t.Errorf("the window has changed: %s", diff)
	}
}

// TestAt: the prompt of a former position is the one that was sent there.
func TestAt(t *testing.T) {
	t.Parallel()
	r := newReader(t, small, 20)
	sent := map[int64]*window.Prompt{}
	for range r.scenes {
		p, _ := r.read(false)
		sent[r.turn] = p
	}
	for turn, want := range sent {
		rows, err := r.db.Journal.Turn(r.ctx, turn)
		r.ok(err)
		got, err := window.At(r.ctx, &annotator.Snapshot{Trace: rows[0].ID}, r.prefix, encode, r.db.Journal,
			r.db.Episodes)
		r.ok(err)
		if !bytes.Equal(got.History, want.History) || got.Size != want.Size || got.Tokens() != got.Size.Tokens() {
			t.Fatalf("turn %d: %d bytes, want %d", turn, len(got.History), len(want.History))
		}
	}
}

// TestChangedPrefix: what the server counted of another prefix is not used for the tokens of the window.
func TestChangedPrefix(t *testing.T) {
	t.Parallel()
	r := newReader(t, small, 3)
	r.read(false)
	r.prefix = window.NewPrefix(strings.Repeat("You keep another glossary. ", 50), "[]", []byte("[]"))
	same := r.restored()
	changed := r.restored()
	r.ok(changed.Restore(r.ctx, true))
	if changed.Tokens() <= same.Tokens() {
		t.Errorf("%d tokens with the longer prefix, %d as counted before", changed.Tokens(), same.Tokens())
	}
	p, err := changed.Request()
	r.ok(err)
	if p.MinTokens(true) != p.Size.MinTokens() {
		t.Errorf("at least %d tokens, by what was counted of another prefix", p.MinTokens(true))
	}
}

// TestTokenizer is asked for the scenes that decide whether the window is full, and not again once it has failed.
func TestTokenizer(t *testing.T) {
	t.Parallel()
	for _, works := range []bool{true, false} {
		r, asked := newReader(t, small, 12), 0
		r.window.UseTokenizer(r.ctx, func(_ context.Context, text string) (int, error) {
			asked++
			if !works {
				return 0, annotator.Errorf(annotator.Refused, "no tokenizer")
			}
			return 2 * tokens.Estimate(text), nil
		})
		for range r.scenes {
			r.read(false)
		}
		if works && (asked < 2 || asked > 6) || !works && asked != 1 {
			t.Errorf("works %v: asked %d times", works, asked)
		}
	}
}
