package storage_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/runner/entries"
	"annotator/storage"

	"pgregory.net/rapid"
)

// checkInside checks a property. Each case has a folder of its own.
func checkInside(t *testing.T, property func(t *rapid.T, inside string)) {
	t.Helper()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		inside := filepath.Join(dir, strconv.Itoa(n))
		if err := os.Mkdir(inside, 0o700); err != nil {
			t.Fatal(err)
		}
		property(t, inside)
	})
}

// tester is what a story needs of *testing.T, *testing.B and *rapid.T.
type tester interface {
	rapid.TB
	Cleanup(func())
}

// story drives a database as a run does, and keeps a naive model of what should be in it.
type story struct {
	tester
	ctx    context.Context
	path   string
	db     *storage.DB
	scenes []*annotator.Scene

	scene    int                           // at hand, or the last one; 0 before the first
	turn     int64                         // of the scene at hand; 0 where it has none
	begun    bool                          // the scene at hand is open
	due      bool                          // it has ended, its checkpoint is due
	calls    []annotator.Trace             // of the newest reply, without a result yet
	turns    int64                         // the number of turns
	answers  map[int64]annotator.Operation // of people, that were not undone, by their rows
	seq      int                           // of the turn's next row
	answer   bool                          // the turn's newest row is an answer in text
	snapshot int64                         // the newest; 0 before the first
	lost     int                           // calls that a process did not survive
	kept     *mention.Cache                // of the names, where only turns change them; nil: read for each checkpoint

	rows    []annotator.Trace           // of all turns
	through int64                       // the turns up to this one have left the window
	gone    map[int64]bool              // and so have these
	past    map[int64][]annotator.Trace // the window as it was, by the journal's newest row
}

// clock always returns the same time, so that the stored rows do not depend on when a test runs.
func clock() time.Time { return time.UnixMilli(1_700_000_000_000) }

// newStory begins a run of some scenes in a new database, with a system prompt in force.
func newStory(t tester, dir string, scenes []*annotator.Scene) *story {
	t.Helper()
	s := &story{
		tester: t, ctx: context.Background(), path: filepath.Join(dir, "annotator.db"), scenes: scenes,
		gone: map[int64]bool{}, past: map[int64][]annotator.Trace{}, answers: map[int64]annotator.Operation{},
	}
	s.open()
	t.Cleanup(func() { _ = s.db.Close() })
	s.ok(s.db.Run.Begin(s.ctx, storage.Corpus{Title: "A story", Path: "story.db", Identity: "1"}, all(scenes)))
	s.ok(s.db.Journal.UsePrompt(s.ctx, promptOf("You keep a codex.")))
	return s
}

func (s *story) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *story) open() {
	s.Helper()
	var err error
	s.db, err = storage.OpenWriter(s.ctx, s.path, "the test", clock)
	s.ok(err)
}

func (s *story) reopen() {
	s.Helper()
	s.ok(s.db.Close())
	s.open()
}

// scenesOf makes scenes: one thread for each number, with that number of scenes. Thread ids are not in story order.
func scenesOf(threads ...int) []*annotator.Scene {
	var scenes []*annotator.Scene
	for i, count := range threads {
		thread := annotator.Thread{
			ID: int64(1000 - i), Title: fmt.Sprintf("Chapter %d", i+1), Order: orderOf(len(scenes) + 1),
		}
		for index := range count {
			n := len(scenes) + 1
			scenes = append(scenes, &annotator.Scene{
				N: n, Order: orderOf(n), Thread: thread, Index: index, Opens: index == 0, Ends: index == count-1,
				Posts: []annotator.Post{post(int64(n*10), thread.ID), post(int64(n*10+1), thread.ID)},
			})
		}
	}
	return scenes
}

// orderOf returns the order of a scene of a story to which nothing was inserted.
func orderOf(n int) annotator.Order { return annotator.Order(n) * annotator.OrderStep }

func post(id, thread int64) annotator.Post {
	return annotator.Post{ID: id, Thread: thread, Name: "qm", Time: id, Body: bodyOf(id)}
}

// bodyOf returns the body of a post, which is different for each id.
func bodyOf(id int64) string { return fmt.Sprintf("Dawn – the ship – left port %d.", id) }

func all(scenes []*annotator.Scene) iter.Seq2[*annotator.Scene, error] {
	return func(yield func(*annotator.Scene, error) bool) {
		for _, s := range scenes {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// testStory is a corpus of some scenes.
type testStory struct {
	scenes iter.Seq2[*annotator.Scene, error]
	former []int64
}

func storyOf(scenes ...*annotator.Scene) *testStory { return &testStory{scenes: all(scenes)} }

func (s *testStory) Former(context.Context) ([]int64, error) { return s.former, nil }

func (s *testStory) ScenesOf(_ context.Context, _ int, listed func(post int64) (scene int, last bool)) iter.Seq2[
	*annotator.Scene, error,
] {
	return func(yield func(*annotator.Scene, error) bool) {
		for scene, err := range s.scenes {
			if err != nil {
				yield(nil, err)
				return
			}
			c := *scene
			c.N, _ = listed(scene.Posts[0].ID)
			if !yield(&c, nil) {
				return
			}
		}
	}
}

// extend takes a story with other scenes.
func (s *story) extend(identity string, scenes ...*annotator.Scene) error {
	_, err := s.db.Run.Extend(s.ctx, identity, storyOf(scenes...), nil)
	return err
}

// next is the number of the scene that is to be read next; 0 for none.
func (s *story) next() int {
	s.Helper()
	row, err := s.db.Scenes.Next(s.ctx)
	if errors.Is(err, annotator.NotFound) {
		return 0
	}
	s.ok(err)
	return row.N
}

// retry puts all quarantined scenes back to be read.
func (s *story) retry() {
	s.Helper()
	_, err := s.db.Scenes.Retry(s.ctx)
	s.ok(err)
}

// begin opens the next scene, whose message shows the given entries.
func (s *story) begin(content string, shows ...annotator.Shown) {
	s.Helper()
	row := annotator.Trace{Scene: s.next(), Content: content, Shows: shows, Tokens: len(content)}
	s.ok(s.db.Scenes.Open(s.ctx, &row))
	s.scene, s.turn, s.turns, s.begun, s.answer = row.Scene, row.Turn, row.Turn, true, false
	s.take(row)
}

// take adds rows to the model.
func (s *story) take(rows ...annotator.Trace) {
	s.rows = append(s.rows, rows...)
	last := &rows[len(rows)-1]
	s.seq, s.past[last.ID] = last.Seq+1, s.window()
}

func (s *story) row(kind annotator.TraceKind, content string) annotator.Trace {
	return annotator.Trace{Turn: s.turn, Seq: s.seq, Kind: kind, Scene: s.scene, Content: content, Tokens: len(content)}
}

// call begins a call to the model.
func (s *story) call() *annotator.Call {
	s.Helper()
	c := &annotator.Call{Turn: s.turn, Scene: s.scene, Purpose: "annotate", Attempt: 1, Estimate: 100}
	s.ok(s.db.Calls.Open(s.ctx, c))
	return c
}

// reply records an answer of the model with text and tool calls.
func (s *story) reply(text string, tools ...string) {
	s.Helper()
	c := s.call()
	rows := []annotator.Trace{s.row(annotator.TraceReply, text)}
	for i, tool := range tools {
		row := s.row(annotator.TraceCall, "")
		row.Seq, row.Tool, row.Arguments = s.seq+1+i, tool, `{"a":1}`
		row.Parsed.Arguments = []byte(row.Arguments)
		row.CallID = fmt.Sprintf("t%ds%d", s.turn, row.Seq)
		rows = append(rows, row)
	}
	c.Usage = annotator.Usage{
		Prompt: 100 + len(text), Told: 100 + len(text), Cached: 64, Completion: len(text),
		Exact: true,
	}
	s.ok(s.db.Calls.Reply(s.ctx, c, rows))
	s.take(rows...)
	s.calls, s.answer = slices.Clone(rows[1:]), len(tools) == 0
}

// fail records a call to the model that fails.
func (s *story) fail(kind annotator.Kind) {
	s.Helper()
	c := s.call()
	c.Outcome, c.Fault, c.Decision, c.Raw, c.Usage.Prompt = annotator.CallOutcome(kind), "no", "retry", []byte("{"), 7
	s.ok(s.db.Calls.Fail(s.ctx, c))
}

// tool answers the oldest call that has no result.
func (s *story) tool(run edit) {
	s.Helper()
	row := s.row(annotator.TraceResult, "")
	row.CallID, row.Tool = s.calls[0].CallID, s.calls[0].Tool
	s.calls = s.calls[1:]
	s.run(row, run)
}

// update does an item of a text reply's updates.
func (s *story) update(run edit) {
	s.Helper()
	row := s.row(annotator.TraceUpdate, "")
	row.CallID, row.Tool = fmt.Sprintf("u%ds%d", s.turn, row.Seq), "glossary_create"
	s.run(row, run)
}

func (s *story) run(row annotator.Trace, run edit) {
	s.Helper()
	s.ok(s.db.Journal.RunTool(s.ctx, &row, nil, func(g *storage.Glossary, row *annotator.Trace) error {
		err := run(s.inScene(), g)
		if r := (*codex.Refusal)(nil); errors.As(err, &r) {
			row.Content, row.Error = r.Message, r.Code
			return nil
		}
		row.Content = "done"
		return err
	}, func(row *annotator.Trace, _ error) { row.Content, row.Error = "there is one", "DUPLICATE" }))
	s.take(row)
}

func (s *story) note(content string) {
	s.Helper()
	row := s.row(annotator.TraceNote, content)
	s.ok(s.db.Journal.Append(s.ctx, &row))
	s.take(row)
	s.answer = false
}

// record ends the scene at hand or, where none is open, the next one without asking the model.
func (s *story) record(state annotator.SceneState) {
	s.Helper()
	o := storage.Outcome{Scene: s.scene, Turn: s.turn, State: state, Reason: "because"}
	if !s.begun {
		o.Scene, o.Turn = s.next(), 0
	}
	if state == annotator.SceneQuarantined {
		o.Fault, o.Raw = annotator.Malformed, []byte("{")
	}
	if s.begun && state == annotator.SceneRecorded && !s.answer {
		row := s.row(annotator.TraceClose, "No more.")
		o.Close = &row
	}
	s.ok(s.db.Scenes.Record(s.ctx, o))
	if o.Close != nil {
		s.take(*o.Close)
	}
	if state == annotator.SceneQuarantined {
		s.gone[o.Turn] = true
	}
	s.scene, s.turn, s.begun, s.due = o.Scene, 0, false, true
}

func (s *story) checkpoint() {
	s.Helper()
	scene := func(_ context.Context, n int) (*annotator.Scene, error) { return s.scenes[n-1], nil }
	mentions, err := entries.PendingMentions(s.ctx, s.db.Mentions, s.namesNow(), scene)
	s.ok(err)
	snapshot, err := s.db.Scenes.Checkpoint(s.ctx, s.scene, 1234, mentions)
	s.ok(err)
	s.past[snapshot.Trace] = s.window()
	s.snapshot, s.due = snapshot.ID, false
}

// namesNow is the index of names, read anew unless the story keeps it as a run does.
func (s *story) namesNow() *mention.Cache {
	s.Helper()
	if s.kept == nil {
		return mention.NewCache(s.db.Glossary)
	}
	if s.turn > 0 {
		changed, err := s.db.Glossary.ChangedIn(s.ctx,
			&annotator.Episode{FromTurn: s.turn, ToTurn: s.turn, To: math.MaxInt64})
		s.ok(err)
		for i := range changed {
			s.kept.Invalidate(changed[i].ID)
		}
	}
	return s.kept
}

func (s *story) createSnapshot() {
	s.Helper()
	snapshot, err := s.db.Snapshots.Create(s.ctx, "by hand")
	s.ok(err)
	s.past[snapshot.Trace] = s.window()
	s.snapshot = snapshot.ID
}

func (s *story) compact(through int64, episodes ...annotator.Episode) {
	s.Helper()
	c := &annotator.Compaction{
		State: annotator.WindowState{Tier: "5", Through: through}, Before: 100, After: 50,
		Reason: "full", Episodes: episodes,
	}
	for i := range episodes {
		if episodes[i].Supersedes != 0 {
			c.Gone = append(c.Gone, episodes[i].Supersedes)
		}
	}
	s.ok(s.db.Episodes.Compact(s.ctx, c))
	s.through = through
}

// window is the model of Window: the rows of the turns that are not gone.
func (s *story) window() []annotator.Trace {
	return slices.DeleteFunc(slices.Clone(s.rows), func(row annotator.Trace) bool {
		return row.Turn <= s.through || s.gone[row.Turn]
	})
}

// edit is what a tool does to the glossary.
type edit func(context.Context, *storage.Glossary) error

func reads(context.Context, *storage.Glossary) error { return nil }

// creates is a tool that makes an entry, with a quotation out of post 10.
func creates(name, definition string, tags ...string) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		e, _ := codex.Ground(bodyOf(10), "Dawn - the ship")
		e.Post = 10
		return revises(0, codex.Edit{Name: &name, Facts: factsOf(definition, &e), Tags: tags})(ctx, g)
	}
}

// factsOf returns the sentences of a text as facts, with a quotation of one of them; nil for none.
func factsOf(text string, quoted *annotator.Evidence) (facts []codex.Fact) {
	sentences := codex.Sentences(text)
	for _, sentence := range sentences {
		facts = append(facts, codex.Fact{Text: sentence})
	}
	if quoted != nil {
		facts[codex.Closest(sentences, quoted.Quote)].Quotes = []annotator.Evidence{*quoted}
	}
	return facts
}

// sceneKey is the key of the scene at hand in the context of a tool.
type sceneKey struct{}

// inScene returns the context of a tool that runs in the scene at hand.
func (s *story) inScene() context.Context {
	return context.WithValue(s.ctx, sceneKey{}, s.scenes[max(s.scene, 1)-1].Order)
}

// placeOf returns the place of the scene at hand, the first where a tool runs without a story.
func placeOf(ctx context.Context) annotator.Place {
	order, _ := ctx.Value(sceneKey{}).(annotator.Order)
	return annotator.PlaceAt(max(order, orderOf(1)), 0)
}

// revises is a tool that changes an entry, or makes one where the id is 0. It is dated to the scene at hand.
func revises(id int64, wanted codex.Edit) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		e := &annotator.Entry{}
		if id != 0 {
			var err error
			if e, err = g.Entry(ctx, id); err != nil {
				return err
			}
		}
		wanted.Actor, wanted.At = annotator.ActorModel, placeOf(ctx)
		revisions, err := codex.Revise(e, wanted)
		if err != nil || len(revisions) == 0 {
			return err
		}
		_, err = g.Revise(ctx, revisions)
		return err
	}
}

// restates is a tool that says anew what an entry is now.
func restates(id int64, statement string) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		e, err := g.Entry(ctx, id)
		if err != nil {
			return err
		}
		revisions, err := codex.Restate(e, statement, annotator.ActorModel, placeOf(ctx))
		if err == nil && len(revisions) > 0 {
			_, err = g.Revise(ctx, revisions)
		}
		return err
	}
}

// inTurn is a tool that makes several edits.
func inTurn(edits ...edit) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		for _, e := range edits {
			if err := e(ctx, g); err != nil {
				return err
			}
		}
		return nil
	}
}

// rewords is a tool that puts other words in the place of a fact.
func rewords(id, fact int64, text string) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		e, err := g.Entry(ctx, id)
		if err != nil {
			return err
		}
		place := placeOf(ctx)
		revisions, err := codex.Reword(e, fact, text, annotator.ActorModel, place)
		if err == nil {
			_, err = g.Revise(ctx, revisions)
		}
		return err
	}
}

// moves is a tool that moves a fact to another entry.
func moves(from, to, fact int64) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		source, err := g.Entry(ctx, from)
		if err != nil {
			return err
		}
		target, err := g.Entry(ctx, to)
		if err != nil {
			return err
		}
		place := placeOf(ctx)
		revisions, err := codex.Move(source, target, fact, annotator.ActorModel, place)
		if err != nil {
			return err
		}
		own := len(revisions) - 1
		if own > 0 { // the target may have the fact already
			_, err = g.Revise(ctx, revisions[:own])
		}
		if err == nil {
			_, err = g.Revise(ctx, revisions[own:])
		}
		return err
	}
}

func retires(id int64) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		e, err := g.Entry(ctx, id)
		if err != nil {
			return err
		}
		revisions, err := codex.Retire(e, "not worth it", annotator.ActorModel, placeOf(ctx))
		if err != nil {
			return err
		}
		_, err = g.Revise(ctx, revisions)
		return err
	}
}

// read reads a scene from its beginning to its checkpoint; each edit is a tool call.
func (s *story) read(edits ...edit) {
	s.Helper()
	s.begin("scene " + strconv.Itoa(s.scene+1))
	if len(edits) > 0 {
		s.reply("Let me see.", slices.Repeat([]string{"glossary_create"}, len(edits))...)
	}
	for _, e := range edits {
		s.tool(e)
	}
	s.reply("Nothing more.")
	s.record(annotator.SceneRecorded)
	s.checkpoint()
}

// promptOf is a system prompt without tools.
func promptOf(text string) storage.Prompt {
	return storage.Prompt{Hash: storage.HashPrompt(text, "[]", ""), SystemPrompt: text, Tools: "[]"}
}

// sourceOf is the corpus of scenes that scenesOf makes.
func sourceOf(scenes []*annotator.Scene) *storage.Source {
	return &storage.Source{Body: corpusBody, Story: storyOf(inOrder(scenes)...), Finder: entries.FindMentions}
}

// corpusBody reads the bodies of the posts that scenesOf makes.
func corpusBody(_ context.Context, id int64) (string, error) { return bodyOf(id), nil }

// clean fails unless the database satisfies all laws.
func (s *story) clean() {
	s.Helper()
	findings, err := s.db.Maintenance.Verify(s.ctx, sourceOf(s.scenes))
	s.ok(err)
	for _, f := range findings {
		if len(f.Violations) > 0 {
			s.Fatalf("%s: %v", f.Check, f.Violations)
		}
	}
}

func TestStoryIsClean(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2, 1))
	s.clean()
	s.read(creates("Dawn (ship)", "Dawn is a ship. She sails.", "ship"))
	s.clean()
}
