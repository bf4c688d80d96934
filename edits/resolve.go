package edits

import (
	"cmp"
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
)

// Target is the codex that the edits of a log are applied to.
type Target struct {
	*Codex
	Order func(annotator.Position) (annotator.Order, error) // of a scene
	// Question returns the number of a question of the model about an entry, and its answer; 0 for none.
	Question func(entry int64, text string) (number int64, answer string, err error)
	terms    map[string][]int64 // entries by full names, live ones first
	names    map[string][]int64 // live entries by all names
}

// SetEntries sets the entries in which those of a log are looked for.
func (t *Target) SetEntries(entries []annotator.Entry) {
	t.terms, t.names = map[string][]int64{}, map[string][]int64{}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b annotator.Entry) int { return cmp.Compare(rankOf(&a), rankOf(&b)) })
	for i := range entries {
		e := &entries[i]
		name := codex.Normalize(e.Name())
		t.terms[name] = append(t.terms[name], e.ID)
		for _, alias := range e.Names() {
			if key := codex.Normalize(alias); e.Status.Live() {
				t.names[key] = append(t.names[key], e.ID)
			}
		}
	}
}

func rankOf(e *annotator.Entry) int {
	if e.Status.Live() {
		return 0
	}
	return 1
}

// Resolve returns the operations that apply a log to a codex. What the codex says already is no change. Left is what
// does not fit: entries and facts that are not there, and what the rules reject.
func Resolve(log *Log, lines []int, t *Target) (*Plan, error) {
	p := &Plan{Changes: []Change{}, Conflicts: []Note{}, Left: []Note{}}
	asked := map[string]int{}
	for i := range log.Edits {
		r := &resolver{t, p, &log.Edits[i], lines[i], asked}
		if err := r.take(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// take puts the operations of an edit in the plan.
func (r *resolver) take() error {
	if r.edit.Do == annotator.DeedCreate {
		return r.create()
	}
	op, err := r.resolve()
	if err == nil && op != nil {
		op.By = r.edit.By
		err = r.plan.tryAll(r.Draft, []wanted{{r.line, *op}})
	}
	return err
}

// create makes an entry, unless there is one with its name: then that gets what the new one would have.
func (r *resolver) create() error {
	there, err := r.entry(r.named(&r.edit.Entry))
	if err != nil {
		return err
	}
	isUndone, err := r.isUndone(there)
	if err != nil {
		return err
	}
	if there != nil && !isUndone {
		for i := range r.edit.Parts {
			part := r.edit.Parts[i]
			part.Entry = r.edit.Entry
			if err := (&resolver{r.Target, r.plan, &part, r.line, r.asked}).take(); err != nil {
				return err
			}
		}
		return nil
	}
	op := annotator.Operation{
		Do: annotator.DeedCreate, Name: r.edit.Name, Tags: r.edit.Tags, Hint: r.edit.Hint, By: r.edit.By,
	}
	if err := r.date(&op, r.edit); err != nil {
		return err
	}
	for i := range r.edit.Parts {
		part := &r.edit.Parts[i]
		added := operationOf(part)
		fits, err := r.quote(&added, part.Evidence, nil)
		if err == nil {
			err = r.date(&added, part)
		}
		if err != nil {
			return err
		}
		if fits {
			op.Parts = append(op.Parts, added)
		}
	}
	before := r.made
	err = r.plan.tryAll(r.Draft, []wanted{{r.line, op}})
	if err == nil && r.made > before {
		name := codex.Normalize(op.Name)
		r.terms[name] = append(r.terms[name], -r.made)
	}
	return err
}

// isUndone reports whether the operation that made an entry was undone. Then no edit finds it any longer.
func (r *resolver) isUndone(e *annotator.Entry) (bool, error) {
	if e == nil || e.Status != annotator.Retired {
		return false, nil
	}
	past, err := r.history(e.ID)
	isUndone := slices.ContainsFunc(past, func(rev annotator.Revision) bool {
		return rev.Field == annotator.FieldRetired && rev.New == codex.TakenBack
	})
	for name := range r.terms {
		r.terms[name] = slices.DeleteFunc(r.terms[name], func(id int64) bool { return isUndone && id == e.ID })
	}
	return isUndone, err
}

// operationOf returns what an edit of a log says without the entry and its facts.
func operationOf(edit *LogEdit) annotator.Operation {
	return annotator.Operation{
		Do: edit.Do, Name: edit.Name, Text: edit.Text, Tags: edit.Tags, Kind: edit.Kind,
		Speaker: edit.Speaker, State: edit.State, Identity: edit.Identity, Relation: edit.Relation,
		Object: edit.Object, Ended: edit.Ended,
	}
}

// date sets the scene from which an operation is seen.
func (r *resolver) date(op *annotator.Operation, edit *LogEdit) (err error) {
	if edit.From != nil {
		op.From, err = r.Order(*edit.From)
	}
	return err
}

// resolver finds what an edit of a log is about.
type resolver struct {
	*Target
	plan *Plan
	edit *LogEdit
	line int
	// asked counts the edits of each fact so far, by what they do. A merge may bring a fact back, which is then closed
	// again.
	asked map[string]int
}

// isDone reports whether people have closed the facts with some words, or added them, as often as the log asks for.
func (r *resolver) isDone(e *annotator.Entry, do, text string) bool {
	key := fmt.Sprint(do, "\n", e.ID, "\n", codex.Normalize(text))
	r.asked[key]++
	closed := 0
	for i := range e.Claims {
		c := &e.Claims[i]
		if c.Until != 0 && codex.Normalize(c.Text) == codex.Normalize(text) &&
			slices.Contains(e.Locks, codex.LockFact(c.ID)) {
			closed++
		}
	}
	return closed >= r.asked[key]
}

// resolve returns the operation; nil if it is applied already, or does not fit.
func (r *resolver) resolve() (*annotator.Operation, error) {
	edit := r.edit
	e, err := r.find(&edit.Entry)
	if err != nil || e == nil {
		return nil, err
	}
	op := new(operationOf(edit))
	op.Entry = e.ID
	if err := r.date(op, edit); err != nil {
		return nil, err
	}
	switch edit.Do {
	case annotator.DeedAnswer:
		return r.answer(op)
	case annotator.DeedRevert:
		return r.revert(op)
	}
	var other *annotator.Entry
	if edit.Other != nil {
		if other, err = r.find(edit.Other); err != nil || other == nil {
			return nil, err
		}
		isTold := slices.Contains(e.Locks, codex.LockOther(other.ID))
		if other, err = r.live(other); err != nil {
			return nil, err
		}
		if op.Other = other.ID; isTold && op.Do == annotator.DeedNever && e.MergedInto != other.ID {
			return nil, nil
		}
	}
	isSo, err := r.settle(op, e)
	if err != nil || isSo {
		return nil, err
	}
	if e, err = r.entry(op.Entry); err != nil {
		return nil, err
	}
	return r.complete(op, e)
}

// complete sets what the operation says of the entry: facts and a quotation. It returns nil if that is so already, or
// does not fit.
func (r *resolver) complete(op *annotator.Operation, e *annotator.Entry) (*annotator.Operation, error) {
	edit := r.edit
	isRelated := edit.Do == annotator.DeedEdit && edit.Fact != nil && edit.Fact.Text == edit.Text
	isOpen := func(c annotator.Claim) bool {
		isSo := !isRelated || c.Relation == codex.CleanName(edit.Relation) && c.Object == codex.CleanName(edit.Object)
		return c.Until == 0 && c.Text == edit.Text && isSo
	}
	switch {
	case op.Do == annotator.DeedReject && op.Name != "" && !hasName(e, op.Name):
		if !slices.Contains(e.Locks, codex.LockAlias(op.Name)) {
			r.plan.leave(e, r.line, "%s: it has no name %q", op.Do, op.Name)
		}
		return nil, nil
	case op.Do == annotator.DeedEdit && slices.ContainsFunc(e.Claims, isOpen),
		op.Do == annotator.DeedAdd && op.Name == "" && r.isDone(e, "add", op.Text):
		return nil, nil
	}
	for _, f := range []struct {
		want   *LogFact
		number *int64
		was    *string
	}{{edit.Fact, &op.Fact, &op.Was}, {edit.ReplacedBy, &op.ReplacedBy, new(string)}} {
		if f.want == nil {
			continue
		}
		claim := r.fact(e, f.want)
		if claim == nil {
			return nil, nil
		}
		*f.number, *f.was = claim.ID, claim.Text
	}
	if fits, err := r.quote(op, edit.Evidence, e); !fits {
		return nil, err
	}
	return op, nil
}

// quote sets the quotation of an operation. It reports false, and notes it, if the story does not have it.
func (r *resolver) quote(op *annotator.Operation, want *LogQuotation, e *annotator.Entry) (fits bool, err error) {
	if want == nil {
		return true, nil
	}
	found, err := r.Ground(want.Post, want.Quote)
	switch annotator.KindOf(err) {
	case "":
		op.Evidence = &found
		return true, nil
	case annotator.NotFound, annotator.Misused:
		r.plan.leave(e, r.line, "%s: %v", op.Do, err)
		return false, nil
	}
	return false, err
}

// answer finds the question that is answered.
func (r *resolver) answer(op *annotator.Operation) (*annotator.Operation, error) {
	number, answer, err := r.Question(op.Entry, r.edit.Question)
	switch {
	case err != nil || number != 0 && answer == op.Text:
		return nil, err
	case number == 0:
		r.leave("the model has not asked: %s", r.edit.Question)
		return nil, nil
	}
	op.Question = number
	return op, nil
}

// revert finds the newest revision of others than people that makes the change which was taken back. It returns nil if
// people have taken it back as often as the log asks for.
func (r *resolver) revert(op *annotator.Operation) (*annotator.Operation, error) {
	past, err := r.history(op.Entry)
	if err != nil {
		return nil, err
	}
	change := *r.edit.Change
	back := LogChange{change.Field, change.New, change.Old}
	key := fmt.Sprint("revert\n", op.Entry, change)
	r.asked[key]++
	takenBack := 0
	for i := range past {
		switch isPersons := past[i].Actor == annotator.ActorPerson; changeOf(&past[i]) {
		case back:
			if isPersons {
				takenBack++
			}
		case change:
			if !isPersons {
				op.Revision = past[i].ID
			}
		}
	}
	switch {
	case takenBack >= r.asked[key]:
		return nil, nil
	case op.Revision == 0:
		r.leave("%q was not changed so here", r.edit.Entry.Term)
		return nil, nil
	}
	return op, nil
}

// settle sets the entry of the operation, which may be merged. It reports whether nothing is to be done.
func (r *resolver) settle(op *annotator.Operation, e *annotator.Entry) (isSo bool, err error) {
	live, err := r.live(e)
	if err != nil {
		return false, err
	}
	if e != live && r.isTakenOver(e) {
		return true, nil
	}
	isOne := e != live && op.Other == live.ID
	switch op.Do {
	case annotator.DeedSplit, annotator.DeedNever:
		if isOne {
			op.Do, op.Other = annotator.DeedSplit, 0
			return false, nil
		}
		op.Do = annotator.DeedNever // they are two here, and are to stay so
	case annotator.DeedHide:
		return !e.Status.Live(), nil
	case annotator.DeedRename, annotator.DeedRetag, annotator.DeedLock, annotator.DeedUnlock:
		isOwn := r.edit.Fact == nil && (op.Do != annotator.DeedRename || e.Name() == op.Name)
		if isOwn && e != live {
			return true, nil // the merge has taken it over
		}
	case annotator.DeedKeep:
		return e.Status != annotator.Tentative, nil
	case annotator.DeedMerge:
		op.Entry = live.ID
		return isOne || live.ID == op.Other, nil
	}
	op.Entry = live.ID
	return false, nil
}

func (r *resolver) leave(format string, args ...any) {
	r.plan.leave(nil, r.line, string(r.edit.Do)+": "+format, args...)
}
