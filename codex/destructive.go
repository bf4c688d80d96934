package codex

import (
	"slices"

	"annotator"
)

// Destructive reports whether an edit takes something out of the codex that stood in it: an entry, its name, a claim that held, a
// tag, a confirmation. What it takes stays in the revisions.
func Destructive(revisions []annotator.Revision) bool {
	return slices.ContainsFunc(revisions, func(r annotator.Revision) bool {
		switch r.Field {
		case annotator.FieldRetired, annotator.FieldMerge:
			return true
		case annotator.FieldTerm, annotator.FieldTag, annotator.FieldAlias:
			return r.Old != ""
		case annotator.FieldStatus:
			return annotator.Status(r.Old) == annotator.Confirmed
		case annotator.FieldClaim:
			return r.Old != "" && closesClaim(r.New)
		}
		return false
	})
}

// closes reports whether a claim no longer holds. One that cannot be read does not.
func closesClaim(value string) bool {
	claim, err := decode[annotator.Claim](value)
	return err != nil || claim.Until != 0
}
