package tools

import (
	"slices"

	"annotator"
	"annotator/codex"
)

// reword puts other wordings in the place of facts, and gives them relations that they lack.
func (ed *editor) reword(list []rewordArguments, at annotator.Place) {
	ed.tooMany("reword", len(list))
	for _, a := range taken(list) {
		part, fact := refusedPart{Reword: a.Fact}, a.Fact
		if a.Text != "" || a.Relation == "" {
			revisions, err := codex.Reword(&ed.entry, fact, a.Text, ed.env.Actor, at)
			ed.suggest(err, &annotator.Operation{Do: annotator.DeedEdit, Fact: fact, Text: a.Text})
			if !ed.takeAll(part, revisions, err) {
				continue
			}
			fact = lastFact(&ed.entry)
		}
		if a.Relation != "" {
			ed.relate(part, fact, a, at)
		}
	}
}

// relate gives a fact a relation.
func (ed *editor) relate(part refusedPart, fact int64, a rewordArguments, at annotator.Place) {
	text := ""
	for i := range ed.entry.Claims {
		if c := &ed.entry.Claims[i]; c.ID == fact {
			text = c.Text
		}
	}
	object, err := ed.env.object(ed.ctx, a.Object, text)
	if err != nil {
		ed.err = err
		return
	}
	revisions, err := codex.Relate(&ed.entry, fact, a.Relation, object, ed.env.Actor, at)
	ed.takeAll(part, revisions, err)
}

// lastFact returns the number of the newest fact of an entry.
func lastFact(e *annotator.Entry) (last int64) {
	for i := range e.Claims {
		last = max(last, e.Claims[i].ID)
	}
	return last
}

// target is an entry that gets facts of the one that a call changes.
type target struct {
	entry     annotator.Entry      // with the facts that it gets
	revisions []annotator.Revision // which are written before those of the entry that loses the facts
}

// move moves facts to the entries that they are about.
func (ed *editor) move(list []moveArguments, at annotator.Place) {
	ed.tooMany("move", len(list))
	for _, a := range taken(list) {
		part := refusedPart{Move: a.Fact}
		to, err := ed.target(a.To)
		if err != nil {
			ed.refuse(part, err)
			continue
		}
		revisions, err := codex.Move(&ed.entry, &to.entry, a.Fact, ed.env.Actor, at)
		gets := max(len(revisions)-1, 0) // the last one is of the entry that loses it
		if !ed.takeAll(part, revisions[gets:], err) {
			continue
		}
		ed.give(to, revisions[:gets])
	}
}

// give applies revisions to an entry that gets facts.
func (ed *editor) give(to *target, revisions []annotator.Revision) {
	for i := range revisions {
		if err := codex.Apply(&to.entry, &revisions[i]); err != nil {
			ed.err = err
		}
	}
	to.revisions = append(to.revisions, revisions...)
}

// target returns an entry that gets facts, with those that it gets already.
func (ed *editor) target(ref entryRef) (*target, error) {
	e, err := ed.env.entryBy(ed.ctx, ref)
	if err != nil {
		return nil, err
	}
	return ed.targetOf(e), nil
}

// targetOf returns an entry with the facts that it gets.
func (ed *editor) targetOf(e *annotator.Entry) *target {
	at := slices.IndexFunc(ed.targets, func(t *target) bool { return t.entry.ID == e.ID })
	if at < 0 {
		at, ed.targets = len(ed.targets), append(ed.targets, &target{entry: codex.Clone(e)})
	}
	return ed.targets[at]
}
