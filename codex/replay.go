package codex

import (
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// Replayed is an entry of another codex of the same story, which was kept from a scene on, and what became of it here.
// Its revisions are replayed onto the entry that has its place.
type Replayed struct {
	Entry  int64           `json:"entry"`            // that has its place
	Claims map[int64]int64 `json:"claims,omitempty"` // by the ids of its claims there, those here
}

// Replay says how revisions of another codex are replayed.
type Replay struct {
	From    annotator.Order                       // the scene from which the other codex was kept
	Place   func(annotator.Place) annotator.Place // of a place there
	Entries map[int64]*Replayed                   // by the ids there
	Free    func(name string) bool                // no entry has the full name
}

// Of returns the revisions of an entry by which it takes a revision of the other codex. There are none if the entry is
// so already. What was told before the other codex was kept is added to, and only what has ended is taken away. What a
// person has locked stays. Merges and new entries are left to the caller, and decisions of the curator are not
// replayed.
func (p *Replay) Of(e *annotator.Entry, other *annotator.Revision) ([]annotator.Revision, error) {
	r := &replayer{newReviser(e, Edit{Actor: other.Actor, At: p.Place(other.At)}), p, p.Entries[other.Entry]}
	if e.Locked && other.Actor != annotator.ActorPerson {
		return nil, nil
	}
	switch other.Field {
	case annotator.FieldTerm:
		r.rename(other)
	case annotator.FieldAlias:
		r.replayAlias(other)
	case annotator.FieldTag:
		r.replayTag(other)
	case annotator.FieldClaim:
		r.replayClaim(other)
	case annotator.FieldEvidence:
		r.replayEvidence(other)
	case annotator.FieldPresent:
		if other.New != "" && other.New != e.Present {
			r.add(annotator.FieldPresent, e.Present, other.New)
		}
	case annotator.FieldStatus, annotator.FieldRetired:
		r.replayStatus(other)
	case annotator.FieldLock:
		r.replayLock(other)
	}
	return r.result()
}

// replayer makes the revisions for one of another codex.
type replayer struct {
	*reviser
	*Replay
	as *Replayed
}

// own reports whether a place is of what the other codex was kept of.
func (r *replayer) own(at annotator.Place) bool { return at.Order() >= r.From }

// free reports whether the one who made the revision may change a part of the entry.
func (r *replayer) free(part string) bool {
	return r.edit.Actor == annotator.ActorPerson || !slices.Contains(r.entry.Locks, part)
}

// rename gives the entry another name. An entry that was told of before keeps its own, and has the other one as well.
func (r *replayer) rename(other *annotator.Revision) {
	term, _ := SplitName(other.New)
	if r.own(r.entry.First) && r.entry.Name() == other.Old && r.Free(other.New) && r.free(LockName) {
		r.add(annotator.FieldTerm, other.Old, other.New)
	}
	r.addAlias(annotator.Alias{Name: term, From: r.edit.At})
}

func (r *replayer) addAlias(alias annotator.Alias) {
	if _, known := findAlias(&r.entry, alias.Name); !known && len(r.entry.Aliases) < MaxItems &&
		r.free(LockAlias(alias.Name)) {
		r.add(annotator.FieldAlias, "", annotator.EncodeJSON(alias))
	}
}

func (r *replayer) replayAlias(other *annotator.Revision) {
	if other.New != "" {
		alias, err := decode[annotator.Alias](other.New)
		r.fail(err)
		alias.From = r.Place(alias.From)
		r.addAlias(alias)
		return
	}
	alias, err := decode[annotator.Alias](other.Old)
	r.fail(err)
	at, known := findAlias(&r.entry, alias.Name)
	if known && r.own(r.entry.Aliases[at].From) && r.free(LockAlias(alias.Name)) &&
		Normalize(alias.Name) != Normalize(r.entry.Term) {
		r.add(annotator.FieldAlias, annotator.EncodeJSON(r.entry.Aliases[at]), "")
	}
}

func (r *replayer) replayTag(other *annotator.Revision) {
	_, has := slices.BinarySearch(r.entry.Tags, other.New+other.Old)
	switch {
	case !r.free(LockTags):
	case other.New != "" && !has && len(r.entry.Tags) < MaxItems:
		r.add(annotator.FieldTag, "", other.New)
	case other.Old != "" && has && r.own(r.entry.First):
		r.add(annotator.FieldTag, other.Old, "")
	}
}

func (r *replayer) replayStatus(other *annotator.Revision) {
	status, now := annotator.Status(other.New), r.entry.Status
	if other.Field == annotator.FieldRetired {
		status = annotator.Retired
	}
	switch {
	case now == status || now == annotator.Merged || !r.free(LockStatus):
	case status == annotator.Confirmed && now == annotator.Tentative:
		r.add(annotator.FieldStatus, string(now), string(status))
	case !r.own(r.entry.First) || other.Old != string(now):
	default:
		r.add(other.Field, string(now), other.New)
	}
}

// replayClaim adds a claim, or changes the one that has its place. A sentence that is there already gets the id.
func (r *replayer) replayClaim(other *annotator.Revision) {
	if other.New == "" {
		claim, err := decode[annotator.Claim](other.Old)
		r.fail(err)
		if held := r.claim(claim.ID); held != nil && r.own(held.From) && len(held.Evidence) == 0 {
			r.add(annotator.FieldClaim, annotator.EncodeJSON(*held), "")
		}
		return
	}
	claim, err := decode[annotator.Claim](other.New)
	r.fail(err)
	there := claim.ID
	claim.From, claim.Until, claim.ReplacedBy = r.Place(claim.From), r.Place(claim.Until), r.as.Claims[claim.ReplacedBy]
	if claim.MovedTo != 0 {
		r.replayMove(&claim)
	}
	held := r.claim(there)
	if other.Old == "" {
		if held == nil {
			held = r.same(&claim)
		}
		if held != nil {
			r.as.Claims[there] = held.ID
			return
		}
		claim.ID, claim.Ord = lastClaim(&r.entry)+1, r.nextOrd()
		r.as.Claims[there] = claim.ID
		r.add(annotator.FieldClaim, "", annotator.EncodeJSON(claim))
		return
	}
	if held == nil || !r.free(LockFact(held.ID)) || held.Until != 0 && !r.own(held.Until) {
		return
	}
	claim.ID, claim.Ord, claim.From, claim.As = held.ID, held.Ord, held.From, held.As
	if claim.ReplacedBy == claim.ID || claimIndex(&r.entry, claim.ReplacedBy) < 0 {
		claim.ReplacedBy = 0
	}
	if before, now := annotator.EncodeJSON(*held), annotator.EncodeJSON(claim); before != now {
		r.add(annotator.FieldClaim, before, now)
	}
}

// replayMove says which entry has a claim that has moved. If none here has it, the claim was wrong where it was.
func (r *replayer) replayMove(claim *annotator.Claim) {
	to := r.Entries[claim.MovedTo]
	if claim.MovedTo = 0; to != nil && to.Entry != r.entry.ID {
		claim.MovedTo = to.Entry
		return
	}
	claim.Ended = annotator.EndReworded
}

// claim returns the claim that has the place of another one; nil for none.
func (r *replayer) claim(there int64) *annotator.Claim {
	if at := claimIndex(&r.entry, r.as.Claims[there]); at >= 0 {
		return &r.entry.Claims[at]
	}
	return nil
}

// same returns a claim with the words of another one; nil for none. One that has ended is none for one that holds.
func (r *replayer) same(claim *annotator.Claim) *annotator.Claim {
	for i := range r.entry.Claims {
		held := &r.entry.Claims[i]
		if sameClaim(held, claim) && (held.Until == 0 || claim.Until != 0) {
			return held
		}
	}
	return nil
}

func (r *replayer) replayEvidence(other *annotator.Revision) {
	evidence, err := decode[annotator.Evidence](other.New + other.Old)
	r.fail(err)
	held := r.claim(evidence.Claim)
	if held == nil {
		return
	}
	evidence.Claim = held.ID
	has := slices.ContainsFunc(held.Evidence, func(v annotator.Evidence) bool {
		return v.Post == evidence.Post && v.Start == evidence.Start && v.End == evidence.End
	})
	switch {
	case other.New != "" && !has:
		r.add(annotator.FieldEvidence, "", annotator.EncodeJSON(evidence))
	case other.Old != "" && slices.Contains(held.Evidence, evidence):
		r.add(annotator.FieldEvidence, annotator.EncodeJSON(evidence), "")
	}
}

// replayLock replays a lock on a part of the entry. Claims and entries in it have other ids here.
func (r *replayer) replayLock(other *annotator.Revision) {
	part := other.New + other.Old
	kind, id, _ := strings.Cut(part, "/")
	n, _ := strconv.ParseInt(id, 10, 64)
	switch kind + "/" {
	case factPart:
		held := r.claim(n)
		if held == nil {
			return
		}
		part = LockFact(held.ID)
	case otherPart, mergedPart:
		entry := r.Entries[n]
		if entry == nil || entry.Entry == r.entry.ID {
			return
		}
		part = kind + "/" + strconv.FormatInt(entry.Entry, 10)
	}
	switch has := isLocked(&r.entry, part); {
	case other.New != "" && !has:
		r.add(annotator.FieldLock, "", part)
	case other.Old != "" && has:
		r.add(annotator.FieldLock, part, "")
	}
}
