package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"annotator"
)

// Subject is what an operation of a person is about.
type Subject struct {
	Entries map[int64]*annotator.Entry // those that it names or that its revisions are of, whole
	// Former are the revisions that revert, undo and split take back, in order. Those of a split end with the merge.
	Former []annotator.Revision
	// Past returns the revisions of an entry, in order.
	Past func(entry int64) ([]annotator.Revision, error)
	At   annotator.Place // to which the changes are dated, unless a quotation says where
}

// Already is the code of an operation that changes nothing.
const Already = "ALREADY"

// Perform returns the revisions of an operation of a person, without ids, times or trace. What it writes is locked. The
// error is a *Refusal if the rules reject it.
func Perform(op *annotator.Operation, on *Subject) ([]annotator.Revision, error) {
	revisions, err := (&performer{op: op, Subject: on}).perform()
	if err == nil && len(revisions) == 0 {
		err = refuse(Already, "that is so already")
	}
	return revisions, err
}

func (p *performer) perform() ([]annotator.Revision, error) {
	switch p.op.Do {
	case annotator.DeedCreate:
		return p.create()
	case annotator.DeedMerge:
		return p.merge()
	case annotator.DeedSplit:
		return p.split()
	case annotator.DeedNever:
		return p.both((*reviser).never)
	case annotator.DeedUndo:
		return p.takeBack(false)
	case annotator.DeedRevert:
		return p.takeBack(true)
	case annotator.DeedUnlock:
		if p.op.Other != 0 {
			return p.both(func(r *reviser, other *annotator.Entry) {
				for _, not := range nots(other) {
					r.unlock(not)
				}
			})
		}
	}
	return p.one()
}

// performer performs an operation.
type performer struct {
	*Subject
	op *annotator.Operation
}

// reviser returns a reviser of an entry for a person.
func (p *performer) reviser(entry int64) *reviser {
	e := p.Entries[entry]
	if e == nil {
		r := newReviser(&annotator.Entry{ID: entry}, Edit{Actor: annotator.ActorPerson, At: p.At})
		r.fail(refuse("NOT_FOUND", "there is no entry %d", entry))
		return r
	}
	return newReviser(e, Edit{Actor: annotator.ActorPerson, At: p.At})
}

// one performs an operation on one entry.
func (p *performer) one() ([]annotator.Revision, error) {
	r, op := p.reviser(p.op.Entry), p.op
	r.checkEditable()
	r.checkWas(op)
	switch op.Do {
	case annotator.DeedRename:
		r.edit.Name = &op.Name
		r.name()
		r.lock(LockName)
	case annotator.DeedRetag:
		r.edit.Tags = append([]string{}, op.Tags...)
		r.tags()
		r.lock(LockTags)
	case annotator.DeedHide:
		r.add(annotator.FieldRetired, string(r.entry.Status), r.text("reason", op.Text, MaxQuote))
		r.lock(LockStatus)
	case annotator.DeedKeep:
		confirmed := annotator.Confirmed
		r.edit.Status = &confirmed
		r.status()
		r.lock(LockStatus)
	case annotator.DeedLock:
		r.lock(r.part(op))
	case annotator.DeedUnlock:
		r.unlockAll(op)
	case annotator.DeedEdit:
		r.reword(op)
	case annotator.DeedAdd:
		r.addOne(op)
	case annotator.DeedEnd:
		r.endFact(op)
	case annotator.DeedReject:
		r.reject(op)
	default:
		r.fail(refuse("NOT_FOUND", "there is no operation %q", op.Do))
	}
	return r.result()
}

// checkWas refuses an operation on a fact that has other words than the person has seen.
func (r *reviser) checkWas(op *annotator.Operation) {
	at := claimIndex(&r.entry, op.Fact)
	if op.Was != "" && at >= 0 && Normalize(r.entry.Claims[at].Text) != Normalize(op.Was) {
		r.fail(refuse(Changed, "fact %d of entry %d is not %.200q", op.Fact, r.entry.ID, op.Was))
	}
}

// create makes an entry, which may have no fact. It is locked in what it has, unless it is only a hint.
func (p *performer) create() ([]annotator.Revision, error) {
	status := annotator.Confirmed
	if p.op.Hint {
		status = annotator.Tentative
	}
	edit := Edit{Name: &p.op.Name, Tags: p.op.Tags, Status: &status, Actor: annotator.ActorPerson, At: p.At}
	for i := range p.op.Parts {
		if part := &p.op.Parts[i]; part.Name != "" {
			edit.Aliases = append(edit.Aliases, part.Name)
		} else {
			edit.Facts = append(edit.Facts, factOf(part))
		}
	}
	revisions, err := Revise(&annotator.Entry{}, edit)
	r := newReviser(&annotator.Entry{}, edit)
	r.fail(err)
	r.take(revisions)
	if !p.op.Hint {
		r.lockAll()
	}
	return r.result()
}

// lockAll locks each part that an entry has.
func (r *reviser) lockAll() {
	r.lock(LockName)
	r.lock(LockStatus)
	if len(r.entry.Tags) > 0 {
		r.lock(LockTags)
	}
	for _, alias := range r.entry.Aliases {
		r.lock(LockAlias(alias.Name))
	}
	for i := range r.entry.Claims {
		r.lock(LockFact(r.entry.Claims[i].ID))
	}
}

// part returns the part that lock and unlock are about.
func (r *reviser) part(op *annotator.Operation) string {
	if op.Fact == 0 {
		return LockEntry
	}
	if claimIndex(&r.entry, op.Fact) < 0 {
		r.fail(refuse("NOT_FOUND", "entry %d has no fact %d", r.entry.ID, op.Fact))
	}
	return LockFact(op.Fact)
}

// unlockAll lifts the lock of a fact, or all locks of an entry but those of what it is not.
func (r *reviser) unlockAll(op *annotator.Operation) {
	if op.Fact != 0 {
		r.unlock(r.part(op))
		return
	}
	r.unlock(LockEntry)
	for _, lock := range slices.Clone(r.entry.Locks) {
		if !isBetween(lock) {
			r.unlock(lock)
		}
	}
}

// reword puts other words or another relation in the place of a fact's. Neither the new ones nor the old ones are the
// model's to change.
func (r *reviser) reword(op *annotator.Operation) {
	if r.err != nil {
		return
	}
	fact, was := op.Fact, r.openClaim(op.Fact)
	if r.err != nil {
		return
	}
	if op.Relation == "" || op.Text != was.Text {
		revisions, err := Reword(&r.entry, op.Fact, op.Text, annotator.ActorPerson, r.edit.At)
		r.fail(err)
		r.take(revisions)
		fact = lastClaim(&r.entry)
	}
	if r.err == nil && op.Relation != "" {
		relate := Fact{Text: op.Text, Relation: r.text("relation", op.Relation, MaxName), Object: op.Object}
		related, err := relate.clean()
		r.fail(err)
		r.complete(fact, false, related.Relation, related.Object)
	}
	r.lock(LockFact(op.Fact))
	r.lock(LockFact(fact))
}

// take applies revisions that were made by another function.
func (r *reviser) take(revisions []annotator.Revision) {
	for i := range revisions {
		r.add(revisions[i].Field, revisions[i].Old, revisions[i].New)
	}
}

// addOne adds a fact or a name.
func (r *reviser) addOne(op *annotator.Operation) {
	if op.Name != "" {
		r.edit.Aliases = []string{op.Name}
		r.aliases()
		r.lock(LockAlias(op.Name))
		return
	}
	fact := factOf(op)
	r.edit.Facts = []Fact{fact}
	r.facts()
	r.lock(LockFact(Known(&r.entry, fact)))
}

// factOf returns the fact that an operation adds.
func factOf(op *annotator.Operation) Fact {
	fact := Fact{
		Text: op.Text, Kind: op.Kind, Speaker: op.Speaker, State: op.State, Identity: op.Identity,
		Relation: op.Relation, Object: op.Object,
	}
	if fact.Kind == "" && fact.Speaker == "" && op.Evidence == nil {
		fact.Kind = annotator.Noted
	}
	if op.Evidence != nil {
		fact.Quotes = []annotator.Evidence{*op.Evidence}
	}
	return fact
}

// reject closes a fact as an error of the codex, or takes a name away.
func (r *reviser) reject(op *annotator.Operation) {
	if op.Name != "" {
		r.edit.DropAliases = []string{op.Name}
		r.dropAliases()
		r.lock(LockAlias(op.Name))
		return
	}
	r.edit.Close = []Closing{{Fact: op.Fact, Ended: annotator.EndWrong}}
	r.closings()
	r.lock(LockFact(op.Fact))
}

// endFact closes a fact: a state that is over, unless the operation says how it ends.
func (r *reviser) endFact(op *annotator.Operation) {
	r.edit.Close = []Closing{{Fact: op.Fact, By: op.ReplacedBy, Ended: cmp.Or(op.Ended, annotator.EndOver)}}
	r.closings()
	r.lock(LockFact(op.Fact))
}

// merge makes an entry another one.
func (p *performer) merge() ([]annotator.Revision, error) {
	from, into := p.reviser(p.op.Entry), p.reviser(p.op.Other)
	if err := cmp.Or(from.err, into.err); err != nil {
		return nil, err
	}
	return Merge(&from.entry, &into.entry, annotator.ActorPerson, p.At)
}

// both changes the operation's two entries, each with the other one as it was.
func (p *performer) both(change func(r *reviser, other *annotator.Entry)) ([]annotator.Revision, error) {
	a, b := p.reviser(p.op.Entry), p.reviser(p.op.Other)
	first, second := a.entry, b.entry
	change(a, &second)
	change(b, &first)
	if p.op.Entry == p.op.Other {
		a.fail(refuse("SAME", "these are one entry: %d", p.op.Entry))
	}
	if err := cmp.Or(a.err, b.err); err != nil {
		return nil, err
	}
	return append(a.revisions, b.revisions...), nil
}

// never says that an entry is not another one.
func (r *reviser) never(other *annotator.Entry) {
	r.checkEditable()
	r.lock(LockOther(other.ID))
}

// Describe says what an operation does, in a few words for people.
func Describe(op *annotator.Operation) string {
	text := string(op.Do)
	switch op.Do {
	case annotator.DeedBatch:
		text += " of " + annotator.Quantity(len(op.Parts), "edit")
	case annotator.DeedSeed:
		text += " of " + annotator.Quantity(len(op.Parts), "entry")
	}
	if op.Entry != 0 {
		text += fmt.Sprintf(" #%d", op.Entry)
	}
	if op.Fact != 0 {
		text += fmt.Sprintf(":%d", op.Fact)
	}
	if op.Other != 0 {
		text += fmt.Sprintf(" #%d", op.Other)
	}
	for _, n := range []int64{op.Question, op.Revision} {
		if n != 0 {
			text += fmt.Sprintf(" %d", n)
		}
	}
	if op.ReplacedBy != 0 {
		text += fmt.Sprintf(" by %d", op.ReplacedBy)
	}
	if op.Ended != "" {
		text += " " + string(op.Ended)
	}
	for _, words := range append([]string{op.Name, op.Text, op.Relation, op.Object}, op.Tags...) {
		if words != "" {
			text += " " + strconv.Quote(words)
		}
	}
	if op.By != "" {
		text += ", by " + strconv.Quote(op.By)
	}
	return text
}
