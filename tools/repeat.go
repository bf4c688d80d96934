package tools

import (
	"slices"

	"annotator"
	"annotator/codex"
)

// elsewhere is a fact that was not taken because another entry has it.
type elsewhere struct {
	Fact  int   `json:"fact"`  // its index in the call, from 1
	Entry int64 `json:"entry"` // that has it
	Has   int64 `json:"has"`   // its number there
}

// repeats reports whether another entry has a fact of the call by the same quotation, and then links this entry there.
// The first fact of an entry is always taken, and so are one that says who or what the entry is, and one that closes
// another.
func (ed *editor) repeats(index int, f *groundedFact, closings []closeArguments) bool {
	if ed.env.Repeats == nil || f.Quotes == nil || f.Identity || len(ed.entry.Claims) == 0 ||
		slices.ContainsFunc(closings, func(c closeArguments) bool { return c.By == int64(index+1) }) {
		return false
	}
	entries, err := ed.env.Glossary.Quoting(ed.ctx, f.Quotes[0].Post)
	if err != nil {
		ed.err = err
		return false
	}
	for i := range entries {
		e := &entries[i]
		if e.ID == ed.entry.ID {
			continue
		}
		for k := range e.Claims {
			claim := &e.Claims[k]
			if !codex.Alike(&f.Fact, claim) {
				continue
			}
			linked, err := ed.env.Repeats(ed.ctx, f.Text, &ed.entry, claim.Text, e)
			if err != nil {
				ed.err = err
				return false
			}
			if linked != "" {
				ed.elsewhere = append(ed.elsewhere, elsewhere{index + 1, e.ID, claim.ID})
				ed.link(e, claim, linked, f.at)
				return true
			}
		}
	}
	return false
}

// link puts a text that refers to this entry in the place of another entry's fact, which names it without a link. The
// fact is left as it is if the rules do not allow the change.
func (ed *editor) link(e *annotator.Entry, claim *annotator.Claim, text string, at annotator.Place) {
	if text == claim.Text {
		return
	}
	to := ed.targetOf(e)
	revisions, err := codex.Reword(&to.entry, claim.ID, text, ed.env.Actor, at)
	if err == nil && ed.env.CheckEdit != nil {
		err = ed.env.CheckEdit(ed.ctx, &CheckedEdit{Before: e, Now: &to.entry, Revisions: revisions})
	}
	switch {
	case err == nil:
		ed.give(to, revisions)
	case failureOf(err) == nil:
		ed.err = err
	}
}
