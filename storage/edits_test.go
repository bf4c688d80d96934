package storage_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/storage"
	"annotator/view"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestEditsOfAll: people, the model and the curator edit in any order, with kills between. Verify finds that the codex
// is the replay of its rows, at each limit as well. No edit but a person's changes what a person has locked.
func TestEditsOfAll(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		s := newStory(t, inside, scenesOf(3, 4, 2))
		s.read(creates("Dawn", "One. Two. Three.", "ship"), creates("Mik", "Four. Five.", "person"))
		s.read(creates("port", "One. Six."))
		for range rapid.IntRange(3, 8).Draw(t, "steps") {
			for range rapid.IntRange(0, 5).Draw(t, "operations") {
				s.decides(s.someOperation(t))
			}
			moves := map[string]func(){
				"reopen":  s.reopen,
				"pending": func() { s.files(t) },
				"curator": func() { s.curatorMerges(t) },
			}
			if s.next() > 0 {
				moves["question"] = func() { s.asksPerson(rapid.Int64Range(1, 3).Draw(t, "asked about")) }
				moves["scene"] = func() { s.read(s.keepsLocks(s.someEdit(t)), s.keepsLocks(s.modelMerges(t))) }
			}
			moves[rapid.SampledFrom(slices.Sorted(maps.Keys(moves))).Draw(t, "move")]()
		}
		s.clean()
		s.replaysAtEachLimit()
		s.questionsAtEachLimit()
	})
}

// asksPerson reads a scene in which the model asks a person about an entry.
func (s *story) asksPerson(entry int64) {
	s.Helper()
	s.begin("scene " + strconv.Itoa(s.scene+1))
	s.reply("Let me ask.", "ask_person")
	row := s.row(annotator.TraceResult, "")
	row.CallID, row.Tool = s.calls[0].CallID, s.calls[0].Tool
	s.calls = nil
	s.ok(s.db.Journal.RunTool(s.ctx, &row, nil, func(g *storage.Glossary, row *annotator.Trace) error {
		asked, err := g.Questions(s.ctx)
		row.Content = `{"ok":true}`
		row.Parsed.Question = &annotator.Question{
			ID: int64(len(asked)) + 1, Entry: entry, Text: "Is it so?", Scene: s.scene,
		}
		return err
	}, nil))
	s.take(row)
	s.reply("Nothing more.")
	s.record(annotator.SceneRecorded)
	s.checkpoint()
}

// questionsAtEachLimit: a limit shows the questions that were asked by then. Each has the newest answer that was not
// undone and that is known by then.
func (s *story) questionsAtEachLimit() {
	s.Helper()
	asked, err := s.db.Glossary.Questions(s.ctx)
	s.ok(err)
	for n := 1; n <= s.scene; n++ {
		point, err := view.ParsePoint(strconv.Itoa(n))
		s.ok(err)
		moment, err := view.MomentAt(s.ctx, s.db, point)
		s.ok(err)
		found, err := view.At(s.db, moment).Questions(s.ctx)
		s.ok(err)
		want, got := map[int64]string{}, map[int64]string{}
		for _, q := range asked {
			if q.Scene <= n {
				want[q.ID] = ""
			}
		}
		for _, row := range slices.Sorted(maps.Keys(s.answers)) {
			a := s.answers[row]
			if _, is := want[a.Question]; is && a.From <= orderOf(n) {
				want[a.Question] = a.Text
			}
		}
		for _, q := range found {
			got[q.ID] = ""
			if q.Answer != nil {
				got[q.ID] = q.Answer.Text
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			s.Fatalf("the questions at scene %d (-asked +view):\n%s", n, diff)
		}
	}
}

// keepsAnswers records what an operation does to the answers of people.
func (s *story) keepsAnswers(applied *storage.AppliedEdit) {
	switch op := applied.Operation; {
	case applied.Refusal != nil:
	case op.Do == annotator.DeedAnswer:
		s.answers[applied.Row] = op
	case op.Do == annotator.DeedUndo:
		delete(s.answers, op.Row)
	}
}

// decides applies an operation of a person, and reports whether it was not refused.
func (s *story) decides(op annotator.Operation) bool {
	s.Helper()
	applied, err := s.db.Edits.Apply(s.ctx, op)
	if r := (*codex.Refusal)(nil); errors.As(err, &r) {
		check := s.db.Edits.Check(s.ctx, op)
		if op.Do != annotator.DeedBatch && (check == nil || check.Error() != r.Error()) {
			s.Errorf("%+v is refused: %v, and the check says %v", op, r, check)
		}
		return false
	}
	s.ok(err)
	s.keepsAnswers(applied)
	return true
}

// files stores operations as another process does while the run goes on, and has the run apply them.
func (s *story) files(t *rapid.T) {
	ops := rapid.SliceOfN(rapid.Custom(s.someOperation), 1, 3).Draw(t, "pending")
	for i := range ops {
		s.ok(storage.FileEdit(s.ctx, s.path, clock, &ops[i]))
	}
	waiting, err := s.db.Edits.Pending(s.ctx)
	s.ok(err)
	if diff := gocmp.Diff(ops, waiting, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("what waits (-asked +stored):\n%s", diff)
	}
	if rapid.Bool().Draw(t, "kill") {
		s.reopen()
	}
	applied, err := s.db.Edits.ApplyPending(s.ctx)
	s.ok(err)
	waiting, err = s.db.Edits.Pending(s.ctx)
	s.ok(err)
	for i := range applied {
		s.keepsAnswers(&applied[i])
	}
	if len(applied) != len(ops) || len(waiting) > 0 {
		s.Errorf("%d of %d are applied, and %d wait", len(applied), len(ops), len(waiting))
	}
}

// someOperation is any operation of a person, or some together. It may well be refused.
func (s *story) someOperation(t *rapid.T) annotator.Operation {
	if rapid.IntRange(0, 3).Draw(t, "batch") > 0 {
		return s.oneOperation(t)
	}
	return annotator.Operation{
		Do: annotator.DeedBatch, Parts: rapid.SliceOfN(rapid.Custom(s.oneOperation), 1, 3).Draw(t, "parts"),
	}
}

func (s *story) oneOperation(t *rapid.T) annotator.Operation {
	entry, name := rapid.Int64Range(1, 3), rapid.SampledFrom([]string{"Dawn", "Dawn (ship)", "Mik", "漢字", "port"})
	text := rapid.SampledFrom([]string{"One.", "Two.", "Seven [[Dawn]].", "Eight."})
	op := annotator.Operation{
		Do: rapid.SampledFrom([]annotator.Deed{
			annotator.DeedEdit, annotator.DeedAdd, annotator.DeedReject, annotator.DeedRename, annotator.DeedRetag,
			annotator.DeedHide, annotator.DeedMerge, annotator.DeedSplit, annotator.DeedNever, annotator.DeedLock,
			annotator.DeedEnd, annotator.DeedKeep, annotator.DeedCreate, annotator.DeedAnswer, annotator.DeedAnswer,
			annotator.DeedUnlock, annotator.DeedRevert, annotator.DeedUndo, annotator.DeedUndo,
		}).Draw(t, "deed"),
		Entry: entry.Draw(t, "entry"),
	}
	switch op.Do {
	case annotator.DeedUndo:
		op = annotator.Operation{Do: op.Do}
	case annotator.DeedCreate:
		op.Entry, op.Hint = 0, rapid.Bool().Draw(t, "hint")
		op.Name = rapid.SampledFrom([]string{"Key", "Mik"}).Draw(t, "name")
		op.Parts = rapid.SliceOfN(rapid.SampledFrom([]annotator.Operation{
			{Text: "Eight.", Identity: true}, {Text: "Nine."}, {Name: "the key"}, {Name: "Mik"},
		}), 0, 3).Draw(t, "parts")
	case annotator.DeedAnswer:
		op = annotator.Operation{
			Do: op.Do, Question: rapid.Int64Range(1, 2).Draw(t, "question"), Text: text.Draw(t, "answer"),
		}
	case annotator.DeedRevert:
		return annotator.Operation{Do: op.Do, Revision: rapid.Int64Range(1, 60).Draw(t, "revision")}
	case annotator.DeedRename:
		op.Name = name.Draw(t, "name")
	case annotator.DeedRetag:
		op.Tags = rapid.SliceOfN(rapid.SampledFrom([]string{"Ship", "person"}), 0, 2).Draw(t, "tags")
	case annotator.DeedMerge, annotator.DeedNever:
		op.Other = entry.Draw(t, "other")
	case annotator.DeedHide:
		op.Text = "a word"
	case annotator.DeedLock, annotator.DeedUnlock, annotator.DeedEdit, annotator.DeedEnd:
		op.Fact, op.Text = rapid.Int64Range(0, 3).Draw(t, "fact"), text.Draw(t, "text")
		if op.Do == annotator.DeedEdit {
			op.Relation = rapid.SampledFrom([]string{"", "owns", "sister of"}).Draw(t, "relation")
		}
	case annotator.DeedAdd, annotator.DeedReject:
		op.Fact, op.Text = rapid.Int64Range(0, 4).Draw(t, "fact"), text.Draw(t, "text")
		if rapid.Bool().Draw(t, "a name") {
			op.Name = name.Draw(t, "name")
		} else if rapid.Bool().Draw(t, "a quotation") {
			quote, _ := codex.Ground(bodyOf(20), "Dawn - the ship")
			quote.Post = 20
			op.Evidence = &quote
		} else {
			op.Relation = rapid.SampledFrom([]string{"", "owns", "sister of"}).Draw(t, "relation")
			op.Object = name.Draw(t, "object")
		}
	}
	if rapid.Bool().Draw(t, "from") {
		op.From = orderOf(rapid.IntRange(1, 4).Draw(t, "scene"))
	}
	return op
}

// curatorMerges has the curator merge two entries, if the rules let it.
func (s *story) curatorMerges(t *rapid.T) {
	source, target := rapid.Int64Range(1, 3).Draw(t, "source"), rapid.Int64Range(1, 3).Draw(t, "target")
	revisions, err := s.merge(s.db.Glossary, annotator.ActorCurator, source, target, annotator.PlaceAt(orderOf(2), 0))
	if err != nil {
		return
	}
	call := s.curates()
	answer := &annotator.Trace{Kind: annotator.TraceReply, Content: "MERGE"}
	s.ok(s.db.Curation.Decide(s.ctx, call, answer, revisions, nil))
}

// merge returns the revisions of a merge of two whole entries.
func (s *story) merge(g *storage.Glossary, actor annotator.Actor, source, target int64, at annotator.Place,
) ([]annotator.Revision, error) {
	found, err := g.Entries(s.ctx, []int64{source, target})
	s.ok(err)
	return codex.Merge(found[source], found[target], actor, at)
}

// modelMerges is a tool that merges two entries, as glossary_delete does.
func (s *story) modelMerges(t *rapid.T) edit {
	source, target := rapid.Int64Range(1, 3).Draw(t, "source"), rapid.Int64Range(1, 3).Draw(t, "target")
	return func(ctx context.Context, g *storage.Glossary) error {
		revisions, err := s.merge(g, annotator.ActorModel, source, target, placeOf(ctx))
		if err != nil {
			return err
		}
		own := slices.IndexFunc(revisions, func(r annotator.Revision) bool { return r.Entry == source })
		if own > 0 {
			if _, err := g.Revise(ctx, revisions[:own]); err != nil {
				return err
			}
		}
		_, err = g.Revise(ctx, revisions[own:])
		return err
	}
}

// keepsLocks is an edit of the model after which what a person has locked is as before.
func (s *story) keepsLocks(run edit) edit {
	before := map[int64]*annotator.Entry{}
	for e, err := range s.db.Glossary.All(s.ctx) {
		s.ok(err)
		before[e.ID] = e
	}
	return func(ctx context.Context, g *storage.Glossary) error {
		err := run(ctx, g)
		for id, was := range before {
			is, readErr := g.WholeEntry(ctx, id)
			s.ok(readErr)
			for _, lock := range was.Locks {
				if a, b := lockedPart(was, lock), lockedPart(is, lock); !reflect.DeepEqual(a, b) {
					s.Errorf("%s of entry %d was %v, and the model made it %v", lock, id, a, b)
				}
			}
		}
		return err
	}
}

// lockedPart returns what a lock of an entry is on.
func lockedPart(e *annotator.Entry, lock string) any {
	switch lock {
	case codex.LockName:
		return e.Name()
	case codex.LockTags:
		return slices.Clip(e.Tags)
	case codex.LockStatus:
		return e.Status
	}
	for i := range e.Claims {
		c := e.Claims[i]
		if lock == codex.LockFact(c.ID) {
			c.Evidence, c.Identity = nil, false // these may be added
			return c
		}
	}
	return slices.ContainsFunc(e.Names(), func(name string) bool { return lock == codex.LockAlias(name) })
}

// replaysAtEachLimit compares the codex at each limit with the replay of the revisions that are seen by then.
func (s *story) replaysAtEachLimit() {
	s.Helper()
	var all []annotator.Revision
	for id := range int64(20) {
		revisions, err := s.db.Glossary.Revisions(s.ctx, id)
		s.ok(err)
		all = append(all, revisions...)
	}
	for n := 1; n <= s.scene; n++ {
		point, err := view.ParsePoint(strconv.Itoa(n))
		s.ok(err)
		moment, err := view.MomentAt(s.ctx, s.db, point)
		s.ok(err)
		want := map[int64]*annotator.Entry{}
		for _, r := range all {
			if r.Seen > orderOf(n) {
				continue
			}
			e := want[r.Entry]
			if e == nil {
				e = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
				want[r.Entry] = e
			}
			s.ok(codex.Apply(e, &r))
		}
		got := map[int64]*annotator.Entry{}
		for e, err := range view.At(s.db, moment).All(s.ctx) {
			s.ok(err)
			got[e.ID] = e
		}
		ignored := cmpopts.IgnoreFields(annotator.Entry{}, "First", "Last", "Revision", "PresentScene", "Claimed")
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), ignored); diff != "" {
			s.Fatalf("at scene %d (-replay +view):\n%s", n, diff)
		}
	}
}

// TestUndoIsSeenAfterWhatItTakesBack: a part that an edit set and ended is seen no earlier than it ended, though it
// was set earlier. A fact is not gone before its quotations are.
func TestUndoIsSeenAfterWhatItTakesBack(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(3))
	s.read(creates("Dawn", "One. Two. Three.", "ship"))
	s.read()
	s.read()
	quote, _ := codex.Ground(bodyOf(20), "Dawn - the ship")
	quote.Post = 20
	for _, op := range []annotator.Operation{
		{Do: annotator.DeedBatch, Parts: []annotator.Operation{
			{Do: annotator.DeedAdd, Entry: 1, Text: "Eight.", Evidence: &quote},
			{Do: annotator.DeedUnlock, Entry: 1, Fact: 4, From: orderOf(3)},
		}},
		{Do: annotator.DeedUndo},
		{Do: annotator.DeedAdd, Entry: 1, Text: "Nine.", From: orderOf(1)},
		{Do: annotator.DeedAdd, Entry: 1, Text: "Nine.", Kind: annotator.Noted, Evidence: &quote},
		{Do: annotator.DeedUndo, From: orderOf(3)},
		{Do: annotator.DeedUndo},
	} {
		if !s.decides(op) {
			t.Fatalf("%+v is refused", op)
		}
		s.clean()
		s.replaysAtEachLimit()
	}
}

// TestTakingBackIsTheIdentity: an operation and its undo leave every entry as it was. So do a merge by anyone and its
// split, but for the word that the two are not the same.
func TestTakingBackIsTheIdentity(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		s := newStory(t, inside, scenesOf(3))
		s.read(creates("Dawn", "One. Two. Three.", "ship"), creates("Mik", "One. Five.", "person"))
		s.read(creates("port", "One. Six."), s.someEdit(t))
		for range rapid.IntRange(0, 6).Draw(t, "before") {
			s.decides(s.someOperation(t))
		}
		before := s.present()
		op := s.someOperation(t)
		isUndo := func(op annotator.Operation) bool { return op.Do == annotator.DeedUndo }
		if !isUndo(op) && !slices.ContainsFunc(op.Parts, isUndo) && s.decides(op) {
			if !s.decides(annotator.Operation{Do: annotator.DeedUndo}) {
				t.Errorf("%+v cannot be undone", op)
			}
			s.unchanged(before)
		}
		merge := annotator.Operation{Do: annotator.DeedMerge, Entry: 2, Other: 1, From: orderOf(1)}
		switch merged := s.db.Edits.Check(s.ctx, merge) == nil; {
		case merged && rapid.Bool().Draw(t, "by the curator"):
			revisions, err := s.merge(s.db.Glossary, annotator.ActorCurator, 2, 1, annotator.PlaceAt(orderOf(2), 0))
			if err != nil {
				break
			}
			answer := &annotator.Trace{Kind: annotator.TraceReply, Content: "MERGE"}
			s.ok(s.db.Curation.Decide(s.ctx, s.curates(), answer, revisions, nil))
			s.splits(before)
		case merged && s.decides(merge):
			s.splits(before)
		}
		s.clean()
	})
}

// splits splits entry 2, and fails unless the codex is as before.
func (s *story) splits(before map[int64]annotator.Entry) {
	s.Helper()
	if !s.decides(annotator.Operation{Do: annotator.DeedSplit, Entry: 2}) {
		s.Error("the merge cannot be split")
	}
	for _, id := range []int64{1, 2} {
		e := before[id]
		e.Locks = slices.Sorted(slices.Values(append(slices.Clone(e.Locks), codex.LockOther(3-id))))
		before[id] = e
	}
	s.unchanged(before)
}

// present returns the entries without what is counted of their revisions.
func (s *story) present() map[int64]annotator.Entry {
	s.Helper()
	all := map[int64]annotator.Entry{}
	for e, err := range s.db.Glossary.All(s.ctx) {
		s.ok(err)
		e.First, e.Last, e.Revision, e.Revisions, e.Claimed, e.PresentRevision = 0, 0, 0, 0, 0, 0
		for i := range e.Claims {
			e.Claims[i].Revision = 0
			slices.SortFunc(e.Claims[i].Evidence, func(a, b annotator.Evidence) int {
				return cmp.Compare(a.Post, b.Post)
			})
		}
		all[e.ID] = *e
	}
	return all
}

func (s *story) unchanged(before map[int64]annotator.Entry) {
	s.Helper()
	after := s.present()
	maps.DeleteFunc(after, func(id int64, e annotator.Entry) bool { // one that was made and taken back is retired
		_, was := before[id]
		return !was && e.Status == annotator.Retired
	})
	if diff := gocmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("what was taken back (-before +after):\n%s", diff)
	}
}
