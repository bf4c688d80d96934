package storage_test

import (
	"testing"

	"annotator"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

// summon answers the oldest call without a result by a change of the conversations. A question that is not empty gets
// its answer from another call.
func (s *story) summon(change storage.ConversationChange, question string) {
	s.Helper()
	row := s.row(annotator.TraceResult, "done")
	row.CallID, row.Tool = s.calls[0].CallID, s.calls[0].Tool
	s.calls = s.calls[1:]
	if question != "" {
		change.Exchange = &storage.Exchange{Question: question, Answer: "It was so."}
		change.Call = s.asks()
	}
	s.ok(s.db.Conversations.Apply(s.ctx, &row, nil, &change))
	s.take(row)
}

// asks begins a call to a snapshot.
func (s *story) asks() *annotator.Call {
	s.Helper()
	c := &annotator.Call{Turn: s.turn, Scene: s.scene, Purpose: "ask", Attempt: 1, Estimate: 100}
	s.ok(s.db.Calls.Open(s.ctx, c))
	c.Usage = annotator.Usage{Prompt: 90, Told: 90, Cached: 64, Completion: 9, Exact: true}
	return c
}

// asking begins the second scene of a fresh story, in which the model calls tools.
func asking(t tester, dir string, tools ...string) *story {
	t.Helper()
	s := newStory(t, dir, scenesOf(3))
	s.read(creates("Dawn (ship)", "Dawn is a ship. She sails.", "ship"))
	s.begin("scene 2")
	s.reply("Let me ask.", tools...)
	return s
}

func TestOneConversation(t *testing.T) {
	t.Parallel()
	s := asking(t, t.TempDir(), "summon_snapshot", "summon_continue", "summon_dismiss", "summon_snapshot")
	s.summon(storage.ConversationChange{Open: 1}, "Who is Dawn?")
	s.summon(storage.ConversationChange{}, "Where is she?")
	s.reopen()
	open, err := s.db.Conversations.Current(s.ctx)
	s.ok(err)
	want := &storage.Conversation{ID: 1, Snapshot: 1, Turn: 2, Exchanges: []storage.Exchange{
		{Question: "Who is Dawn?", Answer: "It was so."}, {Question: "Where is she?", Answer: "It was so."},
	}}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Error(diff)
	}
	s.summon(storage.ConversationChange{Dismiss: true, Summary: "A ship."}, "")
	if open, err = s.db.Conversations.Current(s.ctx); err != nil || open != nil {
		t.Errorf("%+v, %v", open, err)
	}
	s.summon(storage.ConversationChange{Open: 1}, "Once more?")
	if n, err := s.db.Conversations.Questions(s.ctx, 2); n != 3 || err != nil {
		t.Errorf("%d questions, %v", n, err)
	}
	s.clean()
	s.reply("Nothing more.")
	s.record(annotator.SceneRecorded)
	if open, err = s.db.Conversations.Current(s.ctx); err != nil || open != nil {
		t.Errorf("the scene has ended, the conversation has not: %+v, %v", open, err)
	}
	s.checkpoint()
	s.clean()
}

// TestConversationCommitsWhole violates a constraint in the middle. Afterwards there is neither the result nor the
// conversation.
func TestConversationCommitsWhole(t *testing.T) {
	t.Parallel()
	s := asking(t, t.TempDir(), "summon_snapshot", "summon_snapshot")
	s.summon(storage.ConversationChange{Open: 1}, "Who is Dawn?")
	before := s.everything()
	row := s.row(annotator.TraceResult, "done")
	row.CallID, row.Tool = s.calls[0].CallID, s.calls[0].Tool
	for name, change := range map[string]storage.ConversationChange{
		"a second one":   {Open: 1},
		"no such":        {Dismiss: true, Open: 404},
		"no such call":   {Exchange: &storage.Exchange{Question: "?", Answer: "!"}, Call: &annotator.Call{ID: 404}},
		"an empty reply": {Exchange: &storage.Exchange{Question: "?"}, Call: &annotator.Call{ID: 404}},
	} {
		if err := s.db.Conversations.Apply(s.ctx, &row, nil, &change); err == nil {
			t.Errorf("%s is possible", name)
		}
	}
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Error(diff)
	}
}

// TestSnapshotWriterBesideTheWriter asks questions of people while a run goes on. Neither affects the other, and a
// SnapshotWriter writes only these conversations.
func TestSnapshotWriterBesideTheWriter(t *testing.T) {
	t.Parallel()
	s := asking(t, t.TempDir(), "glossary_create")
	before := s.dumped(unaskedTables...)
	g, err := storage.OpenSnapshotWriter(s.ctx, s.path, clock)
	s.ok(err)
	defer func() { _ = g.Close() }()
	conversation := &storage.Conversation{Snapshot: 1}
	for _, question := range []string{"Who is Dawn?", "Where is she?"} {
		c := &annotator.Call{
			Scene: 1, Purpose: "ask", Attempt: 1, Outcome: annotator.CallOutcome(annotator.Transient),
			Fault: "no", Decision: "retry", Usage: annotator.Usage{Prompt: 7},
		}
		s.ok(g.Open(s.ctx, c))
		s.ok(g.Fail(s.ctx, c))
		c = &annotator.Call{
			Scene: 1, Purpose: "ask", Attempt: 2,
			Usage: annotator.Usage{Prompt: 90, Told: 90, Cached: 64, Completion: 9, Exact: true},
		}
		s.ok(g.Open(s.ctx, c))
		s.ok(g.Answer(s.ctx, conversation, c, storage.Exchange{Question: question, Answer: "So."}))
	}
	if diff := cmp.Diff(before, s.dumped(unaskedTables...)); diff != "" {
		t.Error(diff)
	}
	if conversation.ID == 0 || len(conversation.Exchanges) != 2 {
		t.Errorf("%+v", conversation)
	}
	if n := ask[int](t, s.path,
		`SELECT count(*) FROM summon_exchange JOIN summon ON id = summon_id WHERE asker = 'person' AND dismissed_at IS NOT NULL`); n != 2 {
		t.Errorf("%d exchanges", n)
	}
	s.tool(creates("Mik", "Mik is a sailor.")) // the run goes on
	s.reply("Nothing more.")
	s.record(annotator.SceneRecorded)
	s.checkpoint()
	s.clean()
	s.reopen()
	s.clean()
}

// TestSnapshotWriterIsKilled: a call of a person that has not ended is recorded. A call that takes long may end after a
// run has begun.
func TestSnapshotWriterIsKilled(t *testing.T) {
	t.Parallel()
	s := asking(t, t.TempDir(), "glossary_create")
	g, err := storage.OpenSnapshotWriter(s.ctx, s.path, clock)
	s.ok(err)
	defer func() { _ = g.Close() }()
	calls := make([]annotator.Call, 3)
	for i := range calls {
		calls[i] = annotator.Call{Scene: 1, Purpose: "ask", Attempt: i + 1}
		s.ok(g.Open(s.ctx, &calls[i]))
	}
	s.clean()
	s.reopen()
	if open, lost := s.outcomes("open"), s.outcomes("lost"); open != 0 || lost != len(calls) {
		t.Errorf("%d calls are open and %d lost, of %d", open, lost, len(calls))
	}
	calls[1].Outcome, calls[1].Fault, calls[1].Decision, calls[1].Usage.Prompt =
		annotator.CallOutcome(annotator.Transient), "no", "retry", 7
	s.ok(g.Fail(s.ctx, &calls[1]))
	calls[2].Usage.Prompt = 90
	s.ok(g.Answer(s.ctx, &storage.Conversation{Snapshot: 1}, &calls[2],
		storage.Exchange{Question: "Who is Dawn?", Answer: "A ship."}))
	if err := g.Fail(s.ctx, &calls[2]); err == nil {
		t.Error("a call that has ended ends again")
	}
	if lost := s.outcomes("lost"); lost != 1 {
		t.Errorf("%d calls are lost, of one", lost)
	}
	s.clean()
}

// unaskedTables are those that a SnapshotWriter does not touch.
var unaskedTables = []string{
	"snapshot_context", "thread_state", "scene", "trace", "compaction", "episode", "entry", "value", "revision",
	"snapshot",
}
