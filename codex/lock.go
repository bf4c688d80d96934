package codex

import (
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// The parts of an entry that a lock may be on, apart from those of LockFact, LockAlias and LockOther. A locked part
// stays as it is until a person changes it. What a person writes is locked.
const (
	LockEntry  = "entry" // all of it
	LockName   = "name"
	LockTags   = "tags"
	LockStatus = "status" // it is hidden, or in the codex
)

// LockFact is the part that is a fact. If the fact is closed, its words do not come back.
func LockFact(fact int64) string { return factPart + strconv.FormatInt(fact, 10) }

// LockAlias is the part that is a name. If the entry does not have the name, it does not get it.
func LockAlias(name string) string { return aliasPart + Normalize(name) }

// LockOther is the part that an entry is not another one: the two are never merged.
func LockOther(entry int64) string { return otherPart + strconv.FormatInt(entry, 10) }

// lockMerged is the part that an entry has another one in it, of which a person has said what it is not.
func lockMerged(entry int64) string { return mergedPart + strconv.FormatInt(entry, 10) }

const (
	factPart   = "fact/"
	aliasPart  = "alias/"
	otherPart  = "not/"
	mergedPart = "merged/"
)

// Marks returns what a model is told of the locks of an entry. These are the locked parts: "all", "name", "tags",
// "status" or numbers of facts that hold; and what it is not: ids of other entries, and names.
func Marks(e *annotator.Entry) (locked, not []string) {
	if e.Locked {
		locked = append(locked, "all")
	}
	for _, lock := range e.Locks {
		kind, part, _ := strings.Cut(lock, "/")
		switch kind + "/" {
		case factPart:
			id, _ := strconv.ParseInt(part, 10, 64)
			if at := claimIndex(e, id); at >= 0 && e.Claims[at].Until == 0 {
				locked = append(locked, part)
			}
		case aliasPart:
			if _, has := findAlias(e, part); !has {
				not = append(not, part)
			}
		case otherPart:
			not = append(not, part)
		case mergedPart:
		default:
			locked = append(locked, kind)
		}
	}
	return locked, not
}

// IsOther reports whether two entries are not the same, as a person has said of them or of what was merged into them.
func IsOther(a, b *annotator.Entry) bool {
	return slices.ContainsFunc(nots(b), func(not string) bool { return slices.Contains(a.Locks, not) }) ||
		slices.ContainsFunc(nots(a), func(not string) bool { return slices.Contains(b.Locks, not) })
}

// nots returns the locks of others that say that they are not an entry, or not what was merged into it.
func nots(e *annotator.Entry) []string {
	all := []string{LockOther(e.ID)}
	for _, lock := range e.Locks {
		if id, merged := strings.CutPrefix(lock, mergedPart); merged {
			all = append(all, otherPart+id)
		}
	}
	return all
}

// isBetween reports whether a lock is about an entry and others, not about what it says.
func isBetween(lock string) bool {
	return strings.HasPrefix(lock, otherPart) || strings.HasPrefix(lock, mergedPart)
}

// locked reports whether a part is locked against the actor.
func (r *reviser) locked(part string) bool {
	return r.edit.Actor != annotator.ActorPerson && slices.Contains(r.entry.Locks, part)
}

// checkPart refuses a change of a part that a person has locked.
func (r *reviser) checkPart(part, what string) {
	if r.locked(part) {
		r.fail(refuse(Locked, "a person has set %s of entry %d; leave it", what, r.entry.ID))
	}
}

// checkRemovable refuses to remove an entry in which a person has written anything.
func (r *reviser) checkRemovable() {
	isOwn := func(lock string) bool { return !isBetween(lock) }
	if r.edit.Actor != annotator.ActorPerson && slices.ContainsFunc(r.entry.Locks, isOwn) {
		r.fail(refuse(Locked, "a person has written in entry %d; leave it", r.entry.ID))
	}
}

// checkFact refuses a fact whose words a person has rejected.
func (r *reviser) checkFact(f *Fact) {
	for i := range r.entry.Claims {
		c := &r.entry.Claims[i]
		if c.Until != 0 && r.locked(LockFact(c.ID)) && Normalize(c.Text) == Normalize(f.Text) {
			r.fail(refuse(Locked, "a person has rejected this fact of entry %d; leave it out", r.entry.ID))
		}
	}
}

// lock locks a part, unless it is locked.
func (r *reviser) lock(part string) {
	if !isLocked(&r.entry, part) {
		r.add(annotator.FieldLock, "", part)
	}
}

// unlock lifts the lock of a part, if there is one.
func (r *reviser) unlock(part string) {
	if isLocked(&r.entry, part) {
		r.add(annotator.FieldLock, part, "")
	}
}

// copyLocks copies the locks of a merged entry: those of its names and facts, which get other numbers, and those of
// what it is not. The latter hold against what others are merged into, too.
func (r *reviser) copyLocks(source *annotator.Entry, facts map[int64]int64) {
	for _, lock := range source.Locks {
		switch fact, err := strconv.ParseInt(strings.TrimPrefix(lock, factPart), 10, 64); {
		case strings.HasPrefix(lock, factPart) && err == nil:
			r.lock(LockFact(facts[fact]))
		case isBetween(lock), strings.HasPrefix(lock, aliasPart):
			r.lock(lock)
		}
	}
	if slices.ContainsFunc(source.Locks, isBetween) {
		r.lock(lockMerged(source.ID))
	}
}
