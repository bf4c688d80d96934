package edits_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/edits"
	"annotator/exporters"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestLogsCarryEdits: a log of edits makes of another run with the same codex what they have made of the first. The log
// of that run is the same. Applied twice, it changes nothing more.
func TestLogsCarryEdits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := newMemory(t)
		other := first.copy()
		var made []annotator.Operation
		for range rapid.IntRange(1, 6).Draw(t, "operations") {
			op := someOperation(t, first)
			if first.performs(&op) {
				made = append(made, op)
			}
		}
		log, left, err := edits.NewLog(exporters.Story{}, made, &edits.History{Past: first.codex().Past})
		if err != nil || len(left) > 0 {
			t.Fatalf("%v, %v", left, err)
		}
		text := []byte(annotator.EncodeJSON(log))
		plan := other.resolve(text)
		if len(plan.Left) > 0 {
			t.Fatalf("%s\n%+v", text, plan.Left)
		}
		applied := other.performAll(plan)
		want, got := first.document(), other.document()
		// A name that was given in between stays in the first.
		withoutNames := gocmp.FilterPath(func(p gocmp.Path) bool {
			return strings.HasSuffix(p.GoString(), `["names"]`)
		}, gocmp.Ignore())
		if diff := gocmp.Diff(essence(&want), essence(&got), cmpopts.EquateEmpty(), withoutNames); diff != "" {
			t.Fatalf("%s\n(-first +other)\n%s", text, diff)
		}
		second, left, err := edits.NewLog(exporters.Story{}, applied, &edits.History{Past: other.codex().Past})
		if err != nil || len(left) > 0 {
			t.Fatalf("%v, %v", left, err)
		}
		if diff := gocmp.Diff(log.Edits, second.Edits, cmpopts.IgnoreUnexported(edits.LogEdit{})); diff != "" {
			t.Fatalf("%s\nits log (-first +other)\n%s", text, diff)
		}
		if again := other.resolve(text); len(again.Changes)+len(again.Left) > 0 {
			t.Fatalf("%s\napplied again: %+v", text, again)
		}
	})
}

// TestLogsFindFactsInOtherWords: in another run a fact has other words and the same quotation, and an entry another
// name. What is not there is listed.
func TestLogsFindFactsInOtherWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &memory{t, map[int64]*annotator.Entry{}, map[int64][]annotator.Revision{}, 0}
		name := "The Dawn"
		found, _ := codex.Ground(post, "a ship of oak")
		found.Post = 1
		m.apply(codex.Revise(&annotator.Entry{ID: 7, Status: annotator.Tentative}, codex.Edit{
			Name: &name, Aliases: []string{"Dawn"}, Facts: []codex.Fact{{
				Text: "The Dawn is oaken.", Quotes: []annotator.Evidence{found},
			}},
		}))
		plan := m.resolve([]byte(`{"format": "annotator-edits", "version": 1, "edits": [
			{"do": "edit", "entry": {"term": "Dawn (ship)", "names": ["Dawn"]}, "text": "It is a ship of oak.",
			 "fact": {"text": "Dawn is a ship.", "kind": "narrated", "quotations": [{"post": 1, "quote": "ship of oak"}]}},
			{"do": "reject", "entry": {"term": "Dawn"}, "fact": {"text": "It is red."}},
			{"do": "hide", "entry": {"term": "Mik"}, "text": "x"}]}`))
		if len(plan.Changes) != 1 || plan.Changes[0].Operation.Fact != 1 || len(plan.Left) != 2 ||
			!strings.Contains(plan.Left[0].Text, "It is red.") ||
			!strings.Contains(plan.Left[1].Text, `no entry "Mik"`) {
			t.Fatalf("%+v", plan)
		}
	})
}

// copy returns another run with the same codex.
func (m *memory) copy() *memory {
	c := &memory{m.TB, map[int64]*annotator.Entry{}, map[int64][]annotator.Revision{}, m.last}
	for id, e := range m.entries {
		c.entries[id] = new(codex.Clone(e))
		c.past[id] = slices.Clone(m.past[id])
	}
	return c
}

// resolve reads a log and resolves it.
func (m *memory) resolve(text []byte) *edits.Plan {
	m.Helper()
	log, lines, err := edits.ReadLog(text)
	if err != nil {
		m.Fatal(err)
	}
	target := &edits.Target{Codex: m.codex()}
	var all []annotator.Entry
	for _, e := range m.entries {
		all = append(all, *e)
	}
	target.SetEntries(all)
	plan, err := edits.Resolve(log, lines, target)
	if err != nil {
		m.Fatal(err)
	}
	return plan
}

// performs applies an operation, and reports whether the rules take it.
func (m *memory) performs(op *annotator.Operation) bool {
	for id, e := range m.entries { // as storage does
		if op.Do == annotator.DeedRename && id != op.Entry && e.Name() == op.Name {
			return false
		}
	}
	on := codex.Subject{Entries: m.entries, At: 1}
	for _, r := range m.past[op.Entry] {
		if op.Do == annotator.DeedRevert && r.ID == op.Revision {
			on.Former = []annotator.Revision{r}
		}
	}
	if op.Do == annotator.DeedCreate {
		for _, e := range m.entries {
			if e.Name() == op.Name {
				return false
			}
		}
		defer func() { op.Entry = int64(len(m.entries)) }()
	}
	revisions, err := codex.Perform(op, &on)
	if refusal := (*codex.Refusal)(nil); errors.As(err, &refusal) {
		return false
	}
	m.apply(revisions, err)
	return true
}

// performAll applies a plan as a batch is, and returns its operations.
func (m *memory) performAll(plan *edits.Plan) (all []annotator.Operation) {
	var made []int64
	for i := range plan.Changes {
		op := plan.Changes[i].Operation
		for _, id := range []*int64{&op.Entry, &op.Other} {
			if *id < 0 {
				*id = made[-*id-1]
			}
		}
		m.perform(&op)
		if op.Do == annotator.DeedCreate {
			op.Entry = int64(len(m.entries))
			made = append(made, op.Entry)
		}
		all = append(all, op)
	}
	return all
}

// someOperation is an operation that a log can tell.
func someOperation(t *rapid.T, m *memory) annotator.Operation {
	entry := rapid.Int64Range(1, int64(len(m.entries)))
	op := annotator.Operation{
		Do: rapid.SampledFrom([]annotator.Deed{
			annotator.DeedEdit, annotator.DeedEdit, annotator.DeedAdd, annotator.DeedReject, annotator.DeedRename,
			annotator.DeedRetag, annotator.DeedKeep, annotator.DeedMerge, annotator.DeedNever, annotator.DeedEnd,
			annotator.DeedCreate, annotator.DeedRevert,
		}).Draw(t, "deed"),
		Entry: entry.Draw(t, "entry"),
	}
	switch op.Do {
	case annotator.DeedCreate:
		op.Entry, op.Name = 0, rapid.SampledFrom([]string{"Key", "Door (oak)"}).Draw(t, "name")
		op.Parts = []annotator.Operation{
			{Do: annotator.DeedAdd, Name: "the " + op.Name}, {Do: annotator.DeedAdd, Text: "New."},
		}
	case annotator.DeedRevert:
		var models []annotator.Revision
		for _, r := range m.past[op.Entry] {
			if r.Actor != annotator.ActorPerson && r.Field != annotator.FieldEvidence {
				models = append(models, r)
			}
		}
		if len(models) > 0 {
			op.Revision = rapid.SampledFrom(models).Draw(t, "revision").ID
		}
	case annotator.DeedEdit, annotator.DeedEnd, annotator.DeedReject:
		op.Fact = rapid.Int64Range(1, 5).Draw(t, "fact")
		if op.Do == annotator.DeedEdit {
			op.Text = rapid.SampledFrom([]string{"One.", "Two.", "Three."}).Draw(t, "text")
			op.Relation = rapid.SampledFrom([]string{"", "", "owns", "built"}).Draw(t, "relation")
			for i := range m.entries[op.Entry].Claims {
				if c := &m.entries[op.Entry].Claims[i]; c.ID == op.Fact && rapid.Bool().Draw(t, "same words") {
					op.Was, op.Text, op.Relation = c.Text, c.Text, cmp.Or(op.Relation, "built")
				}
			}
		}
	case annotator.DeedAdd:
		if op.Text = rapid.SampledFrom([]string{"Four.", "Five."}).Draw(t, "text"); rapid.Bool().Draw(t, "name") {
			op.Name, op.Text = "Sixth "+op.Text, ""
		} else if rapid.Bool().Draw(t, "related") {
			op.Relation, op.Object = "owns", rapid.SampledFrom([]string{"", "Dawn"}).Draw(t, "object")
		}
	case annotator.DeedRename:
		op.Name = rapid.SampledFrom([]string{"Dusk", "Dusk (ship)", "Mika"}).Draw(t, "name")
	case annotator.DeedRetag:
		op.Tags = []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "tag")}
	case annotator.DeedMerge, annotator.DeedNever:
		op.Other = entry.Draw(t, "other")
	}
	return op
}
