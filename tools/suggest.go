package tools

import (
	"cmp"
	"errors"
	"slices"

	"annotator"
	"annotator/codex"
)

// suggest records what was refused because a person has locked it, as a person can do it.
func (ed *editor) suggest(err error, op *annotator.Operation) {
	if op == nil || !isLocked(err) {
		return
	}
	op.Entry = ed.stored.ID
	ed.suggests = append(ed.suggests, *op)
}

// isLocked reports whether an error refuses to change what a person has locked.
func isLocked(err error) bool {
	r := (*codex.Refusal)(nil)
	return errors.As(err, &r) && r.Code == codex.Locked
}

// operationOf returns an edit of one part as an operation of a person. It is nil for one that brings back what a person
// has rejected, and for one that no operation does.
func operationOf(e *annotator.Entry, edit *codex.Edit) *annotator.Operation {
	switch {
	case edit.Name != nil:
		return &annotator.Operation{Do: annotator.DeedRename, Name: *edit.Name}
	case len(edit.Aliases) > 0 && !slices.Contains(e.Locks, codex.LockAlias(edit.Aliases[0])):
		return &annotator.Operation{Do: annotator.DeedAdd, Name: edit.Aliases[0]}
	case len(edit.DropAliases) > 0:
		return &annotator.Operation{Do: annotator.DeedReject, Name: edit.DropAliases[0]}
	case edit.Tags != nil:
		return &annotator.Operation{Do: annotator.DeedRetag, Tags: edit.Tags}
	case len(edit.Facts) > 0 && !isRejected(e, &edit.Facts[0]):
		return addition(&edit.Facts[0])
	case len(edit.Close) > 0:
		return ending(e, &edit.Close[0])
	}
	return nil
}

// ending returns a closing as an operation; nil for a fact that the entry does not have, and for one that a fact of
// another entry settles.
func ending(e *annotator.Entry, c *codex.Closing) *annotator.Operation {
	at := slices.IndexFunc(e.Claims, func(claim annotator.Claim) bool { return claim.ID == c.Fact })
	if at < 0 || c.Elsewhere {
		return nil
	}
	ended := cmp.Or(c.Ended, codex.EndingOf(&e.Claims[at], c.By != 0))
	if ended == annotator.EndWrong {
		return &annotator.Operation{Do: annotator.DeedReject, Fact: c.Fact}
	}
	return &annotator.Operation{Do: annotator.DeedEnd, Fact: c.Fact, ReplacedBy: c.By, Ended: ended}
}

// addition returns a fact as an operation, with its first quotation.
func addition(f *codex.Fact) *annotator.Operation {
	op := &annotator.Operation{
		Do: annotator.DeedAdd, Text: f.Text, Kind: f.Kind, Speaker: f.Speaker, State: f.State, Identity: f.Identity,
		Relation: f.Relation, Object: f.Object,
	}
	if len(f.Quotes) > 0 {
		quote := f.Quotes[0]
		op.Evidence = &quote
	}
	return op
}

// isRejected reports whether an entry had a fact that a person has rejected.
func isRejected(e *annotator.Entry, f *codex.Fact) bool {
	return slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
		return c.Until != 0 && slices.Contains(e.Locks, codex.LockFact(c.ID)) &&
			codex.Normalize(c.Text) == codex.Normalize(f.Text)
	})
}

// suggested returns the error of a call that removes an entry, with what a person can do instead if it is locked.
func suggested(err error, op annotator.Operation) error {
	if !isLocked(err) {
		return err
	}
	failure := failureOf(err)
	failure.Suggests = []annotator.Operation{op}
	return failure
}
