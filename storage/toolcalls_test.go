package storage_test

import (
	"context"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

// decided runs a tool with a decision about the call.
func (s *story) decided(d *storage.ToolDecision, run edit) {
	s.Helper()
	row := *s.result()
	s.calls = s.calls[1:]
	s.ok(s.db.Journal.RunTool(s.ctx, &row, d, func(g *storage.Glossary, row *annotator.Trace) error {
		if d.Verdict == storage.Deny {
			row.Content, row.Error = "no", d.Rule
			return nil
		}
		row.Content = "done"
		return run(s.inScene(), g)
	}, func(row *annotator.Trace, _ error) { row.Content, row.Error = "there is one", "DUPLICATE" }))
	s.take(row)
}

func TestAudit(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read(creates("Dawn", "A ship."))
	s.begin("scene 2")
	s.reply("Let me see.", "glossary_create", "glossary_delete", "glossary_create", "read_post")
	allowed := storage.ToolDecision{Mode: "annotate", Intent: "PROPOSE", Verdict: storage.Allow}
	denied := storage.ToolDecision{
		Mode: "annotate", Intent: "PROPOSE", Verdict: storage.Deny, Rule: "NOT_PERMITTED",
		Reason: "it is not permitted",
	}
	s.decided(&allowed, creates("Mik", "A sailor."))
	s.decided(&denied, nil)
	// the schema refuses it, and both the decision and the refusal are recorded
	s.decided(&allowed, creates("dawn", "A horse."))
	type line struct {
		Scene     int
		Status    storage.InteractionStatus
		Error     string
		Decision  *storage.ToolDecision
		Revisions int
	}
	var got []line
	for call, err := range s.db.Journal.Audit(s.ctx, storage.AuditFilter{}) {
		s.ok(err)
		got = append(got, line{call.Scene, call.Status, call.Error, call.Decision, len(call.Revisions)})
	}
	want := []line{
		{1, storage.Success, "", nil, 4},
		{2, storage.Success, "", &allowed, 4},
		{2, storage.Failed, "NOT_PERMITTED", &denied, 0},
		{2, storage.Failed, "DUPLICATE", &allowed, 0},
		{2, storage.Pending, "", nil, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for filter, want := range map[storage.AuditFilter][]string{
		{Scene: 1}:                                        {"glossary_create"},
		{Tool: "read_post"}:                               {"read_post"},
		{Denied: true}:                                    {"glossary_delete"},
		{Scene: 2, Tool: "glossary_create"}:               {"glossary_create", "glossary_create"},
		{Scene: 1, Denied: true}:                          nil,
		{Tool: "glossary_create", Denied: true}:           nil,
		{Scene: 2, Tool: "glossary_d%"}:                   nil,
		{Scene: 9, Tool: "glossary_delete"}:               nil,
		{Scene: 2, Tool: "glossary_delete", Denied: true}: {"glossary_delete"},
	} {
		var tools []string
		for call, err := range s.db.Journal.Audit(s.ctx, filter) {
			s.ok(err)
			tools = append(tools, call.Tool)
		}
		if diff := cmp.Diff(want, tools); diff != "" {
			t.Errorf("%+v: %s", filter, diff)
		}
	}
	s.clean()
}

// TestOfScene counts within the transaction what a turn has done so far.
func TestOfScene(t *testing.T) {
	t.Parallel()
	s := asked(t)
	s.ok(s.db.Journal.RunTool(s.ctx, s.result(), nil, func(g *storage.Glossary, row *annotator.Trace) error {
		s.ok(creates("Mik", "A sailor.")(s.ctx, g))
		made, err := g.OfScene(s.ctx, row.Scene, row.Turn)
		s.ok(err)
		if len(made) != 4 || made[0].Entry != 2 || made[0].Turn != row.Turn {
			t.Errorf("made: %+v", made)
		}
		return nil
	}, noFallback))
}

// TestBranchCutsDecisions branches at a point before the decision about a call.
func TestBranchCutsDecisions(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	s.read(creates("Dawn", "A ship."))
	s.begin("scene 2")
	s.reply("Let me see.", "glossary_update")
	s.decided(&storage.ToolDecision{
		Mode: "annotate", Verdict: storage.WouldDeny, Rule: "INTENT_REQUIRED",
		Reason: "none",
	},
		revises(1, codex.Edit{Facts: factsOf("She sails.", nil)}))
	s.reply("Done.")
	s.record(annotator.SceneRecorded)
	s.checkpoint()
	branch := s.path + ".branch"
	s.ok(storage.Branch(context.Background(), s.path, branch, 1))
	db, err := storage.Open(s.ctx, branch)
	s.ok(err)
	defer func() { _ = db.Close() }()
	for call, err := range db.Journal.Audit(s.ctx, storage.AuditFilter{}) {
		s.ok(err)
		if call.Scene > 1 || call.Decision != nil {
			t.Errorf("the branch has %+v", call)
		}
	}
	findings, err := db.Maintenance.Verify(s.ctx, nil)
	s.ok(err)
	if !storage.Clean(findings) {
		t.Errorf("%+v", findings)
	}
}
