package codex

import (
	"slices"

	"annotator"
)

// Destructive reports whether an edit removes something from the codex: an entry, a name, an open claim, a tag or a
// confirmation. The revisions keep what was removed.
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

// closesClaim reports whether the new value of a claim closes it. An unreadable value counts as closed.
func closesClaim(value string) bool {
	claim, err := decode[annotator.Claim](value)
	return err != nil || claim.Until != 0
}
