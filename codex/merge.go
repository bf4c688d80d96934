package codex

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"annotator"
)

// Merge returns the revisions that merge one live entry into another, without ids, times or trace: first those of the
// target, then that of the source. The target gets every name, tag and claim of the source that it lacks, with their
// places and evidence. A sentence of both gets the evidence of both. The source stays unchanged except that it refers
// to the target. The error is a *Refusal if they cannot be merged.
func Merge(source, target *annotator.Entry, actor annotator.Actor, at annotator.Place) ([]annotator.Revision, error) {
	if source.ID == target.ID {
		return nil, refuse("SAME", "entry %d cannot be merged into itself", source.ID)
	}
	at = max(at, source.Last, target.Last) // copied values are not known before their newest revision
	edit := Edit{Actor: actor, At: at}
	from, into := newReviser(source, edit), newReviser(target, edit)
	for _, step := range []func() error{
		from.checkEditable, into.checkEditable,
		func() error { return into.copyNames(source) },
		func() error { return into.copyTags(source) },
		func() error { return into.copyClaims(source) },
		func() error {
			return from.add(annotator.FieldMerge, string(from.entry.Status), strconv.FormatInt(target.ID, 10))
		},
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return append(into.revisions, from.revisions...), nil
}

func (r *reviser) copyNames(source *annotator.Entry) error {
	names := append([]annotator.Alias{{Name: source.Term, From: source.First}}, source.Aliases...)
	if _, known := findAlias(source, source.Term); known {
		names = names[1:]
	}
	for _, name := range names {
		if _, known := findAlias(&r.entry, name.Name); known {
			continue
		}
		if len(r.entry.Aliases) >= MaxItems {
			return refuse("TOO_LONG", "entries %d and %d together have more than %d names", source.ID, r.entry.ID, MaxItems)
		}
		if err := r.add(annotator.FieldAlias, "", encode(name)); err != nil {
			return err
		}
	}
	return nil
}

func (r *reviser) copyTags(source *annotator.Entry) error {
	r.edit.Tags = slices.Clone(r.entry.Tags)
	for _, tag := range source.Tags {
		if !slices.Contains(r.edit.Tags, tag) {
			r.edit.Tags = append(r.edit.Tags, tag)
		}
	}
	return r.tags()
}

// copyClaims appends the source's claims to the target's. Closed claims are copied too, for their evidence.
func (r *reviser) copyClaims(source *annotator.Entry) error {
	for i := range source.Claims {
		id, err := r.copyClaim(source.Claims[i])
		if err != nil {
			return err
		}
		for _, evidence := range source.Claims[i].Evidence {
			if err := r.copyEvidence(id, evidence); err != nil {
				return err
			}
		}
	}
	if n := utf8.RuneCountInString(r.entry.Definition()); n > MaxDefinition {
		return refuse("TOO_LONG", "the definitions of entries %d and %d together have %d characters; at most %d",
			source.ID, r.entry.ID, n, MaxDefinition)
	}
	return nil
}

// copyClaim returns the id of a source's claim in the target, which may have a claim with the same text.
func (r *reviser) copyClaim(claim annotator.Claim) (int64, error) {
	var last int64
	ord := 0
	for i := range r.entry.Claims {
		held := &r.entry.Claims[i]
		if Normalize(held.Text) == Normalize(claim.Text) && (held.Until == 0 || claim.Until != 0) {
			return held.ID, nil
		}
		last = max(last, held.ID)
		if held.Until == 0 {
			ord++
		}
	}
	claim.ID, claim.Ord, claim.Evidence = last+1, ord, nil
	return claim.ID, r.add(annotator.FieldClaim, "", encode(claim))
}

func (r *reviser) copyEvidence(claim int64, evidence annotator.Evidence) error {
	evidence.Claim = claim
	if slices.Contains(r.entry.Claims[claimIndex(&r.entry, claim)].Evidence, evidence) {
		return nil
	}
	return r.add(annotator.FieldEvidence, "", encode(evidence))
}
