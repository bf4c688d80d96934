// Package codex implements the rules of codex entries. They say how names compare, how a definition is split into
// claims and whether a post contains a quotation. They also say which revisions an edit makes, and which entries a list
// of revisions adds up to.
//
// All functions are pure. The database stores the current entries, Apply computes them as of any place in the story,
// and tests compare the two.
package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"annotator"
)

// Apply applies one revision to an entry. Values are JSON for an alias, a claim and evidence, and plain text otherwise.
func Apply(e *annotator.Entry, r *annotator.Revision) error {
	if err := change(e, r); err != nil {
		return fmt.Errorf("revision %d of entry %d: %w", r.ID, r.Entry, err)
	}
	if e.Revisions == 0 || r.At < e.First {
		e.First = r.At
	}
	e.Revisions++
	e.Last = max(e.Last, r.At)
	e.Revision = r.ID
	return nil
}

// Sum applies revisions to an empty entry, in order. None of them may end what another has set. Unlike repeated calls
// of Apply, its cost does not depend on the number of claims.
func Sum(e *annotator.Entry, revisions []annotator.Revision) error {
	var evidence []*annotator.Revision
	for i := range revisions {
		r := &revisions[i]
		var err error
		switch r.Field {
		case annotator.FieldEvidence:
			evidence = append(evidence, r)
		case annotator.FieldClaim:
			var claim annotator.Claim
			claim, err = decode[annotator.Claim](r.New)
			claim.Revision = r.ID
			e.Claimed = max(e.Claimed, claim.ID)
			e.Claims = append(e.Claims, claim)
		default:
			err = change(e, r)
		}
		if err != nil {
			return fmt.Errorf("revision %d of entry %d: %w", r.ID, r.Entry, err)
		}
	}
	slices.SortFunc(e.Claims, compareClaims)
	at := make(map[int64]int, len(e.Claims))
	for i := range e.Claims {
		at[e.Claims[i].ID] = i
	}
	for _, r := range evidence {
		v, err := decode[annotator.Evidence](r.New)
		i, known := at[v.Claim]
		if err == nil && !known {
			err = fmt.Errorf("evidence for claim %d, which does not exist", v.Claim)
		}
		if err != nil {
			return fmt.Errorf("revision %d of entry %d: %w", r.ID, r.Entry, err)
		}
		e.Claims[i].Evidence = append(e.Claims[i].Evidence, v)
	}
	return nil
}

func change(e *annotator.Entry, r *annotator.Revision) error {
	switch r.Field {
	case annotator.FieldTerm:
		e.Term, e.Disambiguator = SplitName(r.New)
	case annotator.FieldTag:
		e.Tags = replace(e.Tags, r.Old, r.New)
	case annotator.FieldAlias:
		return changeAlias(e, r)
	case annotator.FieldClaim:
		return changeClaim(e, r)
	case annotator.FieldEvidence:
		return changeEvidence(e, r)
	case annotator.FieldPresent:
		e.Present, e.PresentAt, e.PresentScene, e.PresentRevision = r.New, r.At, 0, order(r)
		if r.New == "" {
			e.PresentAt, e.PresentRevision = 0, 0
		}
	case annotator.FieldStatus:
		e.Status, e.MergedInto = annotator.Status(r.New), 0
	case annotator.FieldRetired:
		e.Status = annotator.Retired
	case annotator.FieldMerge:
		into, err := strconv.ParseInt(r.New, 10, 64)
		if err != nil {
			return fmt.Errorf("merge into %q: %w", r.New, err)
		}
		e.Status, e.MergedInto = annotator.Merged, into
	case annotator.FieldLock:
		changeLock(e, r)
	case annotator.FieldCuratorDecision: // a record only; the changes that follow have their own revisions
	default:
		return fmt.Errorf("unknown field %q", r.Field)
	}
	return nil
}

func changeLock(e *annotator.Entry, r *annotator.Revision) {
	if r.Old == LockEntry || r.New == LockEntry {
		e.Locked = r.New == LockEntry
		return
	}
	e.Locks = replace(e.Locks, r.Old, r.New)
}

// order returns the id of a revision. One that is not recorded yet comes after all others.
func order(r *annotator.Revision) int64 { return cmp.Or(r.ID, math.MaxInt64) }

// replace removes old from a sorted set and inserts new. Either may be empty.
func replace(set []string, old, new string) []string {
	if at, ok := slices.BinarySearch(set, old); ok {
		set = slices.Delete(set, at, at+1)
	}
	if at, ok := slices.BinarySearch(set, new); new != "" && !ok {
		set = slices.Insert(set, at, new)
	}
	return set
}

func changeAlias(e *annotator.Entry, r *annotator.Revision) error {
	if r.Old != "" {
		old, err := decode[annotator.Alias](r.Old)
		if err != nil {
			return err
		}
		if at, ok := findAlias(e, old.Name); ok {
			e.Aliases = slices.Delete(e.Aliases, at, at+1)
		}
	}
	if r.New != "" {
		alias, err := decode[annotator.Alias](r.New)
		if err != nil {
			return err
		}
		if at, ok := findAlias(e, alias.Name); !ok {
			e.Aliases = slices.Insert(e.Aliases, at, alias)
		}
	}
	return nil
}

func findAlias(e *annotator.Entry, name string) (int, bool) {
	return slices.BinarySearchFunc(e.Aliases, Normalize(name), func(a annotator.Alias, name string) int {
		return cmp.Compare(Normalize(a.Name), name)
	})
}

// changeClaim inserts a claim in order. It replaces a claim of the same id and keeps its evidence. Without a new value
// the claim is removed.
func changeClaim(e *annotator.Entry, r *annotator.Revision) error {
	if r.New == "" {
		former, err := decode[annotator.Claim](r.Old)
		e.Claims = slices.DeleteFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == former.ID })
		return err
	}
	claim, err := decode[annotator.Claim](r.New)
	if err != nil {
		return err
	}
	claim.Revision = order(r)
	e.Claimed = max(e.Claimed, claim.ID)
	if at := claimIndex(e, claim.ID); at >= 0 {
		claim.Evidence = e.Claims[at].Evidence
		e.Claims = slices.Delete(e.Claims, at, at+1)
	}
	at, _ := slices.BinarySearchFunc(e.Claims, claim, compareClaims)
	e.Claims = slices.Insert(e.Claims, at, claim)
	return nil
}

func compareClaims(a, b annotator.Claim) int {
	return cmp.Or(cmp.Compare(a.Ord, b.Ord), cmp.Compare(a.ID, b.ID))
}

func claimIndex(e *annotator.Entry, id int64) int {
	return slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == id })
}

// changeEvidence adds a quotation to its claim. Without a new value it removes one.
func changeEvidence(e *annotator.Entry, r *annotator.Revision) error {
	evidence, err := decode[annotator.Evidence](cmp.Or(r.New, r.Old))
	if err != nil {
		return err
	}
	at := claimIndex(e, evidence.Claim)
	if at < 0 {
		return fmt.Errorf("evidence for claim %d, which does not exist", evidence.Claim)
	}
	kept := slices.Clip(e.Claims[at].Evidence) // a clone may share the array
	if r.New == "" {
		kept = slices.DeleteFunc(slices.Clone(kept), func(v annotator.Evidence) bool { return v == evidence })
	} else {
		kept = append(kept, evidence)
	}
	e.Claims[at].Evidence = kept
	return nil
}

func decode[T any](value string) (T, error) {
	var v T
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return v, fmt.Errorf("value %q: %w", value, err)
	}
	return v, nil
}

// Follows reports whether a revision, not yet applied, changes what the entry is now: its old value is there.
func Follows(e *annotator.Entry, r *annotator.Revision) bool {
	switch r.Field {
	case annotator.FieldTerm:
		return r.Old == e.Name()
	case annotator.FieldStatus, annotator.FieldRetired, annotator.FieldMerge:
		return r.Old == string(e.Status)
	case annotator.FieldTag:
		return (r.Old == "") != slices.Contains(e.Tags, cmp.Or(r.Old, r.New))
	case annotator.FieldPresent:
		return r.Old == e.Present
	case annotator.FieldClaim:
		return followsClaim(e, r)
	case annotator.FieldAlias:
		return followsAlias(e, r)
	case annotator.FieldEvidence:
		return followsEvidence(e, r)
	case annotator.FieldLock:
		return (r.Old == "") != isLocked(e, cmp.Or(r.Old, r.New))
	case annotator.FieldCuratorDecision:
		return r.Old == "" // they are only added
	}
	return true
}

func isLocked(e *annotator.Entry, part string) bool {
	return slices.Contains(e.Locks, part) || part == LockEntry && e.Locked
}

func followsEvidence(e *annotator.Entry, r *annotator.Revision) bool {
	v, err := decode[annotator.Evidence](cmp.Or(r.Old, r.New))
	at := claimIndex(e, v.Claim)
	return err == nil && at >= 0 && (r.Old == "" || r.New == "") &&
		(r.Old == "") != slices.Contains(e.Claims[at].Evidence, v)
}

func followsAlias(e *annotator.Entry, r *annotator.Revision) bool {
	alias, err := decode[annotator.Alias](cmp.Or(r.Old, r.New))
	at, known := findAlias(e, alias.Name)
	return err == nil && (r.Old == "" && !known || r.Old != "" && known && e.Aliases[at] == alias)
}

func followsClaim(e *annotator.Entry, r *annotator.Revision) bool {
	claim, err := decode[annotator.Claim](cmp.Or(r.New, r.Old))
	if err != nil {
		return false
	}
	at := claimIndex(e, claim.ID)
	if at < 0 || r.Old == "" {
		return at < 0 && r.Old == ""
	}
	if r.New == "" && len(e.Claims[at].Evidence) > 0 {
		return false
	}
	former, err := decode[annotator.Claim](r.Old)
	former.Evidence, former.Revision = e.Claims[at].Evidence, e.Claims[at].Revision
	return err == nil && reflect.DeepEqual(former, e.Claims[at])
}
