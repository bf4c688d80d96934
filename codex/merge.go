package codex

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"annotator"
)

// Merge returns the revisions that merge one live entry into another, without ids, times or trace. Those of the target
// come before that of the source. The target gets every name, tag and claim of the source that it lacks, with their
// places and evidence. A sentence of both gets the evidence of both. The source stays unchanged except that it refers
// to the target. The error is a *Refusal if they cannot be merged.
func Merge(source, target *annotator.Entry, actor annotator.Actor, at annotator.Place) ([]annotator.Revision, error) {
	if source.ID == target.ID {
		return nil, refuse("SAME", "entry %d cannot be merged into itself", source.ID)
	}
	if IsOther(source, target) {
		return nil, refuse(Locked, "a person has said that entries %d and %d are not the same; leave both", source.ID,
			target.ID)
	}
	edit := Edit{Actor: actor, At: at}
	from, into := newReviser(source, edit), newReviser(target, edit)
	from.checkEditable()
	from.checkRemovable()
	from.add(annotator.FieldMerge, string(from.entry.Status), strconv.FormatInt(target.ID, 10))
	into.checkEditable()
	into.copyNames(source)
	into.copyTags(source)
	into.copyClaims(source)
	if err := cmp.Or(from.err, into.err); err != nil {
		return nil, err
	}
	return append(into.revisions, from.revisions...), nil
}

func (r *reviser) copyNames(source *annotator.Entry) {
	names := append([]annotator.Alias{{Name: source.Term, From: source.First}}, source.Aliases...)
	if _, known := findAlias(source, source.Term); known {
		names = names[1:]
	}
	for _, name := range names {
		if _, known := findAlias(&r.entry, name.Name); known {
			continue
		}
		if len(r.entry.Aliases) >= MaxItems {
			r.fail(refuse("TOO_LONG", "entries %d and %d together have more than %d names", source.ID, r.entry.ID,
				MaxItems))
		}
		r.add(annotator.FieldAlias, "", annotator.EncodeJSON(name))
	}
}

func (r *reviser) copyTags(source *annotator.Entry) {
	if r.locked(LockTags) {
		return
	}
	tags := slices.Concat(r.entry.Tags, source.Tags)
	slices.Sort(tags)
	r.edit.Tags = slices.Compact(tags)
	r.tags()
}

// copyClaims appends the source's claims to the target's. Closed claims are copied too, for their evidence.
func (r *reviser) copyClaims(source *annotator.Entry) {
	ids := r.idsOf(source.Claims)
	for i := range source.Claims {
		claim := source.Claims[i]
		id := ids[claim.ID]
		if claimIndex(&r.entry, id) < 0 {
			claim.ID, claim.Ord, claim.Evidence, claim.ReplacedBy = id, r.nextOrd(), nil, ids[claim.ReplacedBy]
			claim.As = cmp.Or(claim.As, source.Term)
			if claim.ReplacedBy == id { // by one of the same text
				claim.ReplacedBy = 0
			}
			r.add(annotator.FieldClaim, "", annotator.EncodeJSON(claim))
		} else if claim.Until == 0 && r.entry.Claims[claimIndex(&r.entry, id)].Relation == "" {
			r.complete(id, false, claim.Relation, claim.Object)
		}
		r.attachAll(id, source.Claims[i].Evidence)
	}
	r.copyLocks(source, ids)
	if n := utf8.RuneCountInString(r.entry.Definition()); n > MaxFacts {
		r.fail(refuse("TOO_LONG", "the facts of entries %d and %d together have %d characters; at most %d",
			source.ID, r.entry.ID, n, MaxFacts))
	}
}

// ClaimsAfterMerge returns the id that each claim of an entry gets when it is merged into another one.
func ClaimsAfterMerge(source, target *annotator.Entry) map[int64]int64 {
	return newReviser(target, Edit{}).idsOf(source.Claims)
}

// idsOf returns the id that each claim of a source gets in the target, which may have a claim with the same text.
func (r *reviser) idsOf(claims []annotator.Claim) map[int64]int64 {
	ids, held, last := map[int64]int64{}, slices.Clone(r.entry.Claims), lastClaim(&r.entry)
	for _, claim := range claims {
		at := slices.IndexFunc(held, func(h annotator.Claim) bool {
			return sameClaim(&h, &claim) && (h.Until == 0 || claim.Until != 0)
		})
		if at < 0 {
			last++
			at, held = len(held), append(held, claim)
			held[at].ID = last
		}
		ids[claim.ID] = held[at].ID
	}
	return ids
}

// Has reports whether an entry has a claim with the text and the speaker of another one, open or closed.
func Has(e *annotator.Entry, claim *annotator.Claim) bool {
	return slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool { return sameClaim(&c, claim) })
}

// sameClaim reports whether two claims have the same text, and the same speaker if they have one.
func sameClaim(a, b *annotator.Claim) bool {
	return Normalize(a.Text) == Normalize(b.Text) && Normalize(a.Speaker) == Normalize(b.Speaker)
}
