package codex

import (
	"cmp"
	"slices"
	"strconv"

	"annotator"
)

// Changed is the code of an operation that takes back what was changed since.
const Changed = "CHANGED"

// split takes a merge back, and says that the two are not the same. What was changed since in the entry that took the
// other's place stays there, too.
func (p *performer) split() ([]annotator.Revision, error) {
	source := p.reviser(p.op.Entry)
	if source.err == nil && source.entry.Status != annotator.Merged {
		source.fail(refuse("NOT_FOUND", "entry %d is not merged into another one", p.op.Entry))
	}
	target := p.reviser(source.entry.MergedInto)
	target.checkEditable()
	if err := cmp.Or(source.err, target.err); err != nil {
		return nil, err
	}
	merge := &p.Former[len(p.Former)-1]
	target.removeMoved(p.Former[:len(p.Former)-1])
	source.add(annotator.FieldStatus, string(annotator.Merged), merge.Old)
	source.revisions[0].Seen = merge.Seen
	target.never(&source.entry)
	source.never(&target.entry)
	if err := cmp.Or(source.err, target.err); err != nil {
		return nil, err
	}
	return append(target.revisions, source.revisions...), nil
}

// removeMoved takes away what a merge has added and nothing has changed since. A claim that has changed, or that has
// another quotation, stays with all that it has.
func (r *reviser) removeMoved(added []annotator.Revision) {
	quotes := map[int64]int{} // by claim
	for i := range added {
		if v, err := decode[annotator.Evidence](added[i].New); err == nil && added[i].Field == annotator.FieldEvidence {
			quotes[v.Claim]++
		}
	}
	last := map[int64]int64{} // the newest revision of each claim
	changed := map[int64]bool{}
	for i := range slices.Backward(added) {
		claim, err := decode[annotator.Claim](added[i].New)
		if added[i].Field != annotator.FieldClaim || err != nil {
			continue
		}
		last[claim.ID] = max(last[claim.ID], added[i].ID)
		if added[i].Old != "" { // it got a relation
			continue
		}
		at := claimIndex(&r.entry, claim.ID)
		changed[claim.ID] = at < 0 || r.entry.Claims[at].Revision != last[claim.ID] ||
			len(r.entry.Claims[at].Evidence) != quotes[claim.ID] || r.replaces(claim.ID, added)
	}
	for i := range slices.Backward(added) {
		back := inverse(&added[i])
		var v struct{ ID, Claim int64 }
		if added[i].Field == annotator.FieldClaim || added[i].Field == annotator.FieldEvidence {
			v, _ = decode[struct{ ID, Claim int64 }](added[i].New)
		}
		isTerm := added[i].Field == annotator.FieldAlias && r.isTerm(added[i].New)
		if !isTerm && !changed[v.ID] && !changed[v.Claim] && Follows(&r.entry, &back) {
			r.add(back.Field, back.Old, back.New)
		}
	}
}

// replaces reports whether a claim took the place of one that some revisions have not added.
func (r *reviser) replaces(claim int64, added []annotator.Revision) bool {
	return slices.ContainsFunc(r.entry.Claims, func(c annotator.Claim) bool {
		isAdded := func(a annotator.Revision) bool { return a.ID == c.Revision }
		return c.ReplacedBy == claim && !slices.ContainsFunc(added, isAdded)
	})
}

// isTerm reports whether an alias is the term of the entry.
func (r *reviser) isTerm(alias string) bool {
	a, err := decode[annotator.Alias](alias)
	return err == nil && Normalize(a.Name) == Normalize(r.entry.Term)
}

// inverse returns the revision that takes one back. That of a status needs what set it before: see performer.inverse.
func inverse(r *annotator.Revision) annotator.Revision {
	back := annotator.Revision{Entry: r.Entry, Field: r.Field, Old: r.New, New: r.Old}
	switch r.Field {
	case annotator.FieldRetired:
		back.Field, back.Old = annotator.FieldStatus, string(annotator.Retired)
	case annotator.FieldMerge:
		back.Field, back.Old = annotator.FieldStatus, string(annotator.Merged)
	}
	return back
}

// TakenBack is the reason for which an entry is retired when the operation that made it is taken back.
const TakenBack = "taken back"

// takeBack takes revisions back, the newest first. It refuses what was changed since. A part that a revert changes is
// locked, because the model would change it again.
func (p *performer) takeBack(isRevert bool) ([]annotator.Revision, error) {
	if len(p.Former) == 0 {
		return nil, refuse("NOT_FOUND", "there is nothing to take back")
	}
	made := map[int64]bool{}
	for i := range p.Former {
		if former := &p.Former[i]; !isRevert && isBirth(former) {
			made[former.Entry] = true
		}
	}
	revisers, order := map[int64]*reviser{}, []int64{}
	for i := range slices.Backward(p.Former) {
		former := &p.Former[i]
		r := revisers[former.Entry]
		if r == nil {
			r = p.reviser(former.Entry)
			revisers[former.Entry], order = r, append(order, former.Entry)
			if made[former.Entry] {
				r.unmake(former)
			}
		}
		if made[former.Entry] {
			continue
		}
		back, err := p.inverse(former)
		if err != nil {
			return nil, err
		}
		r.revert(former, &back, isRevert)
		if isRevert {
			r.lockChanged(&back)
		}
	}
	var all []annotator.Revision
	for _, entry := range order {
		r := revisers[entry]
		r.checkWhole(p.Entries[entry])
		revisions, err := r.result()
		if err != nil {
			return nil, err
		}
		all = append(all, revisions...)
	}
	return all, nil
}

// isBirth reports whether a revision made its entry.
func isBirth(r *annotator.Revision) bool { return r.Field == annotator.FieldTerm && r.Old == "" }

// unmake retires an entry that a person has made, if nobody has changed it since the last of those revisions.
func (r *reviser) unmake(last *annotator.Revision) {
	r.checkEditable()
	if r.entry.Revision != last.ID {
		r.fail(refuse(Changed, "entry %d was changed since; hide it instead", r.entry.ID))
	}
	r.add(annotator.FieldRetired, string(r.entry.Status), TakenBack)
}

// inverse is the function inverse, also for a status that was one of an entry that is not in the codex.
func (p *performer) inverse(r *annotator.Revision) (annotator.Revision, error) {
	back := inverse(r)
	if back.Field != annotator.FieldStatus || annotator.Status(back.New).Live() {
		return back, nil
	}
	past, err := p.Past(r.Entry)
	for i := range slices.Backward(past) {
		f := &past[i]
		if f.ID < r.ID && (f.Field == annotator.FieldRetired || f.Field == annotator.FieldMerge) {
			back.Field, back.New = f.Field, f.New
			break
		}
	}
	return back, err
}

// revert takes a revision back: by itself, or with others of its operation. It is seen no earlier than that.
func (r *reviser) revert(former, back *annotator.Revision, isRevert bool) {
	switch {
	case former.Field == annotator.FieldCuratorDecision:
		r.fail(refuse("NOT_FOUND", "revision %d is a record of a decision, which changes nothing", former.ID))
	case isBirth(former):
		r.fail(refuse("NOT_FOUND", "revision %d made entry %d; hide it instead", former.ID, former.Entry))
	case isRevert && former.Field == annotator.FieldMerge:
		r.fail(refuse("NOT_FOUND", "revision %d merged entry %d; split it instead", former.ID, former.Entry))
	case isRevert && former.Field == annotator.FieldClaim && former.Old == "":
		r.fail(refuse("NOT_FOUND", "revision %d added a fact to entry %d; reject it instead", former.ID, former.Entry))
	case !r.entry.Status.Live() && back.Field != annotator.FieldLock && !isStatus(back.Field):
		r.fail(refuse(Changed, "entry %d is %s since, and its values are not changed", former.Entry, r.entry.Status))
	case !Follows(&r.entry, back):
		r.fail(refuse(Changed, "what revision %d has set in entry %d was changed since", former.ID, former.Entry))
	default:
		r.add(back.Field, back.Old, back.New)
		r.revisions[len(r.revisions)-1].Seen = former.Seen
	}
}

// isStatus reports whether a field changes the status of an entry.
func isStatus(field annotator.Field) bool {
	return field == annotator.FieldStatus || field == annotator.FieldRetired || field == annotator.FieldMerge
}

// checkWhole refuses to remove what the entry needs: its term, or a claim that took another's place.
func (r *reviser) checkWhole(before *annotator.Entry) {
	_, had := findAlias(before, before.Term)
	_, has := findAlias(&r.entry, r.entry.Term)
	if had && !has || slices.ContainsFunc(r.entry.Claims, func(c annotator.Claim) bool {
		return c.ReplacedBy != 0 && claimIndex(&r.entry, c.ReplacedBy) < 0
	}) {
		r.fail(refuse(Changed, "what was changed in entry %d since needs what is taken back", r.entry.ID))
	}
}

// lockChanged locks the part that a revision has changed.
func (r *reviser) lockChanged(back *annotator.Revision) {
	value := cmp.Or(back.New, back.Old)
	if isStatus(back.Field) {
		r.lock(LockStatus)
	}
	switch back.Field {
	case annotator.FieldTerm:
		r.lock(LockName)
	case annotator.FieldTag:
		r.lock(LockTags)
	case annotator.FieldAlias:
		if alias, err := decode[annotator.Alias](value); err == nil {
			r.lock(LockAlias(alias.Name))
		}
	case annotator.FieldClaim:
		if claim, err := decode[annotator.Claim](value); err == nil {
			r.lock(LockFact(claim.ID))
		}
	}
}

// Moved returns what a merge has added to its target, in order: the revisions of the target right before those of the
// source. They are the last of a row of the journal up to the merge. The source is the entry as it is.
func Moved(row []annotator.Revision, source *annotator.Entry) []annotator.Revision {
	end := len(row) - 1
	for end > 0 && row[end-1].Entry == row[end].Entry {
		end--
	}
	into, _ := strconv.ParseInt(row[len(row)-1].New, 10, 64)
	from := end
	for from > 0 && row[from-1].Entry == into && isOf(&row[from-1], source) {
		from--
	}
	return row[from:end]
}

// isRelated reports whether a revision changes no more of a claim than its relation, as a merge does where both entries
// have the claim.
func isRelated(r *annotator.Revision) bool {
	was, errWas := decode[annotator.Claim](r.Old)
	is, errIs := decode[annotator.Claim](r.New)
	changed := errWas == nil && errIs == nil && !sameRelation(&was, &is)
	was.Relation, was.Object = is.Relation, is.Object
	return changed && annotator.EncodeJSON(was) == annotator.EncodeJSON(is)
}

// isOf reports whether a revision may have added a value of a merged entry.
func isOf(r *annotator.Revision, source *annotator.Entry) bool {
	if r.Old != "" {
		return r.Field == annotator.FieldClaim && isRelated(r)
	}
	switch r.Field {
	case annotator.FieldAlias:
		alias, err := decode[annotator.Alias](r.New)
		_, known := findAlias(source, alias.Name)
		return err == nil && (known || Normalize(alias.Name) == Normalize(source.Term))
	case annotator.FieldTag:
		return slices.Contains(source.Tags, r.New)
	case annotator.FieldClaim:
		claim, err := decode[annotator.Claim](r.New)
		return err == nil && claim.As != "" && Has(source, &claim)
	case annotator.FieldEvidence:
		v, err := decode[annotator.Evidence](r.New)
		return err == nil && slices.ContainsFunc(source.Claims, func(c annotator.Claim) bool {
			return slices.ContainsFunc(c.Evidence, func(own annotator.Evidence) bool {
				own.Claim = v.Claim
				return own == v
			})
		})
	case annotator.FieldLock:
		return true
	}
	return false
}
