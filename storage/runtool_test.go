package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

// asked is a story whose model has asked for a tool; the codex holds Dawn.
func asked(t *testing.T) *story {
	t.Helper()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read(creates("Dawn", "A ship."))
	s.begin("scene 2")
	s.reply("Let me see.", "glossary_create")
	return s
}

// result is the row that the tool's answer is to have.
func (s *story) result() *annotator.Trace {
	row := s.row(annotator.TraceResult, "")
	row.CallID, row.Tool = s.calls[0].CallID, s.calls[0].Tool
	return &row
}

func noFallback(*annotator.Trace, error) { panic("a fallback was not called for") }

func TestRunToolCommitsBothOrNeither(t *testing.T) {
	t.Parallel()
	s := asked(t)
	before := s.everything()
	stop := errors.New("the tool fails")
	err := s.db.Journal.RunTool(s.ctx, s.result(), nil, func(g *storage.Glossary, _ *annotator.Trace) error {
		s.ok(creates("Mik", "A sailor.")(s.ctx, g))
		if _, err := g.Lookup(s.ctx, "mik"); err != nil {
			t.Errorf("a tool does not see its own change: %v", err)
		}
		if _, err := s.db.Glossary.Lookup(s.ctx, "mik"); annotator.KindOf(err) != annotator.NotFound {
			t.Errorf("others see the change before it commits: %v", err)
		}
		return stop
	}, noFallback)
	if !errors.Is(err, stop) {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("a tool that failed left something (-before +after):\n%s", diff)
	}
	s.tool(creates("Mik", "A sailor."))
	s.clean()
	revisions, err := s.db.Glossary.Revisions(s.ctx, 2)
	s.ok(err)
	if row := s.rows[len(s.rows)-1]; revisions[0].Trace != row.ID || revisions[0].Turn != row.Turn {
		t.Errorf("revision %+v is not of row %d, turn %d", revisions[0], row.ID, row.Turn)
	}
}

// TestRunToolFallsBack violates constraints of the schema. The row has the error, and nothing else changes.
func TestRunToolFallsBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  edit
	}{
		{"a second entry of one name", creates("DAWN", "A horse.")},
		{"half of it done", func(ctx context.Context, g *storage.Glossary) error {
			return errors.Join(creates("Mik", "A sailor.")(ctx, g), creates("dawn", "A horse.")(ctx, g))
		}},
		{"an unknown kind of claim", revises(1, codex.Edit{Facts: []codex.Fact{{Text: "Gone.", Kind: "dreamt"}}})},
		{"an alias twice", twice(annotator.FieldAlias, `{"name":"The Lady","from":1000000}`)},
		{"a tag twice", twice(annotator.FieldTag, "ship")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := asked(t)
			before := s.everything()
			row := s.result()
			err := s.db.Journal.RunTool(s.ctx, row, nil, func(g *storage.Glossary, row *annotator.Trace) error {
				row.Shows = []annotator.Shown{{Entry: 1, Revision: 99}}
				return test.run(s.ctx, g)
			}, func(row *annotator.Trace, cause error) {
				if !sqlite.IsConstraint(cause) || row.Shows != nil {
					t.Errorf("fallback for %v, of %+v", cause, row)
				}
				row.Error, row.Content = "DUPLICATE", "there is one"
			})
			s.ok(err)
			after := s.everything()
			if last := after.Window[len(after.Window)-1]; last.Error != "DUPLICATE" || last.ID != row.ID {
				t.Errorf("the row is %+v", last)
			}
			after.Window = before.Window
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("a refused change left something (-before +after):\n%s", diff)
			}
			s.clean()
			s.take(*row)
			s.reply("And so on.", "glossary_create")
			s.tool(creates("Mik", "A sailor."))
			s.clean()
		})
	}
}

// twice is a tool that makes the same addition two times, as no rule of the codex does.
func twice(field annotator.Field, value string) edit {
	return func(ctx context.Context, g *storage.Glossary) error {
		r := annotator.Revision{
			Entry: 1, Field: field, New: value, At: annotator.PlaceAt(orderOf(1), 0),
			Actor: annotator.ActorModel,
		}
		_, err := g.Revise(ctx, []annotator.Revision{r, r})
		return err
	}
}

func TestReviseNeedsATool(t *testing.T) {
	t.Parallel()
	s := asked(t)
	if err := creates("Mik", "A sailor.")(s.ctx, s.db.Glossary); err == nil ||
		!strings.Contains(err.Error(), "reading only") {
		t.Errorf("outside a tool: %v", err)
	}
	err := s.db.Journal.RunTool(s.ctx, s.result(), nil, func(g *storage.Glossary, _ *annotator.Trace) error {
		_, err := g.Revise(s.ctx, nil)
		return err
	}, noFallback)
	if err == nil {
		t.Error("nothing to revise is taken for a revision")
	}
	err = s.db.Journal.RunTool(s.ctx, s.result(), nil, func(g *storage.Glossary, _ *annotator.Trace) error {
		_, err := g.Revise(s.ctx, []annotator.Revision{{Entry: 99, Field: annotator.FieldTag, New: "x"}})
		return err
	}, noFallback)
	if annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("an entry that is not there: %v", err)
	}
	s.clean()
}

// TestCommitsWhenCancelled cancels the context while a tool runs. Both its effects and its row are committed.
func TestCommitsWhenCancelled(t *testing.T) {
	t.Parallel()
	s := asked(t)
	ctx, cancel := context.WithCancel(t.Context())
	row := s.result()
	s.ok(s.db.Journal.RunTool(ctx, row, nil, func(g *storage.Glossary, row *annotator.Trace) error {
		cancel()
		row.Content = "done"
		return creates("Mik", "A sailor.")(s.inScene(), g)
	}, noFallback))
	s.take(*row)
	s.remembers()
	if _, err := s.db.Glossary.Lookup(s.ctx, "Mik"); err != nil {
		t.Error(err)
	}
	s.clean()
}

func TestReaderDoesNotWrite(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	db, err := storage.Open(t.Context(), s.path)
	s.ok(err)
	defer func() { _ = db.Close() }()
	if err := db.Run.Halt(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "for reading only") {
		t.Errorf("a reader writes: %v", err)
	}
}

// TestRecordOnce ends a scene twice.
func TestRecordOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.begin("scene 1")
	s.reply("Nothing.")
	s.record(annotator.SceneRecorded)
	before := s.everything()
	for _, state := range []annotator.SceneState{annotator.SceneRecorded, annotator.SceneQuarantined} {
		if err := s.db.Scenes.Record(s.ctx, storage.Outcome{Scene: 1, Turn: 1, State: state}); annotator.KindOf(
			err) != annotator.Storage {
			t.Errorf("recorded, then %s: %v", state, err)
		}
	}
	if err := s.db.Scenes.Open(s.ctx, &annotator.Trace{Scene: 1}); err == nil {
		t.Error("a scene that was recorded is opened again")
	}
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("the second time left something (-before +after):\n%s", diff)
	}
	s.checkpoint()
	if _, err := s.db.Scenes.Checkpoint(s.ctx, 1, 0, nil); err == nil {
		t.Error("one scene, two checkpoints")
	}
	s.clean()
}

// TestCallsEndOnce ends a call twice.
func TestCallsEndOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.begin("scene 1")
	c := s.call()
	c.Outcome, c.Fault, c.Decision = annotator.CallOutcome(annotator.Transient), "no", "retry"
	s.ok(s.db.Calls.Fail(s.ctx, c))
	if err := s.db.Calls.Fail(s.ctx, c); annotator.KindOf(err) != annotator.Storage {
		t.Errorf("failed twice: %v", err)
	}
	if err := s.db.Calls.Reply(s.ctx, c, []annotator.Trace{s.row(annotator.TraceReply, "late")}); annotator.KindOf(
		err) != annotator.Storage {
		t.Errorf("answered after it failed: %v", err)
	}
	if err := s.db.Calls.Reply(s.ctx, s.call(), nil); err == nil {
		t.Error("a reply without a row")
	}
	s.clean()
}
