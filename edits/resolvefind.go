package edits

import (
	"slices"

	"annotator"
	"annotator/codex"
)

// find returns the entry that a log means: that with its name, with a name it had, or that shares the most names. It
// notes where there is none.
func (r *resolver) find(want *LogEntry) (*annotator.Entry, error) {
	if id := r.named(want); id != 0 {
		return r.entry(id)
	}
	shared := map[int64]int{}
	for _, name := range codex.OtherNames(append(slices.Clone(want.Names), append(want.Former, want.Term)...)) {
		for _, id := range r.names[codex.Normalize(name)] {
			shared[id]++
		}
	}
	most := 0
	for _, n := range shared {
		most = max(most, n)
	}
	var best []int64
	for id, n := range shared {
		if n == most {
			best = append(best, id)
		}
	}
	switch len(best) {
	case 1:
		return r.entry(best[0])
	case 0:
		r.leave("there is no entry %q", want.Term)
	default:
		r.leave("several entries have the names of %q", want.Term)
	}
	return nil, nil
}

// named returns the entry with the term that a log names, or with a former one; 0 for none. An entry that the log has
// renamed before is none with its former term.
func (r *resolver) named(want *LogEntry) int64 {
	for _, term := range append([]string{want.Term}, want.Former...) {
		for _, id := range r.terms[codex.Normalize(term)] {
			e, err := r.entry(id)
			if term != want.Term || err != nil || codex.Normalize(e.Name()) == codex.Normalize(term) {
				return id
			}
		}
	}
	return 0
}

// live returns an entry, or the one that it was merged into.
func (r *resolver) live(e *annotator.Entry) (*annotator.Entry, error) {
	for steps := 0; e.Status == annotator.Merged && steps < 100; steps++ {
		into, err := r.entry(e.MergedInto)
		if err != nil || into == nil {
			return e, err
		}
		e = into
	}
	return e, nil
}

// isTakenOver reports whether a person has written the fact of the edit in an entry that was merged since.
func (r *resolver) isTakenOver(e *annotator.Entry) bool {
	text := r.edit.Text
	if r.edit.Fact != nil {
		text = r.edit.Fact.Text
	}
	return slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
		return codex.Normalize(c.Text) == codex.Normalize(text) && slices.Contains(e.Locks, codex.LockFact(c.ID))
	})
}

// fact returns the open fact with the words, or the only one with the quotations, of an entry; nil if there is none. It
// notes that, unless people have changed the fact already.
func (r *resolver) fact(e *annotator.Entry, want *LogFact) *annotator.Claim {
	closes := r.edit.Do != annotator.DeedLock && r.edit.Do != annotator.DeedUnlock && want == r.edit.Fact
	if closes && r.isDone(e, "close", want.Text) {
		return nil
	}
	var quoted []*annotator.Claim
	isClosed := false
	for i := range e.Claims {
		c := &e.Claims[i]
		switch isOwn := slices.Contains(e.Locks, codex.LockFact(c.ID)); {
		case c.Until == 0 && codex.Normalize(c.Text) == codex.Normalize(want.Text) &&
			codex.Normalize(c.Speaker) == codex.Normalize(want.Speaker):
			return c
		case !r.isQuoted(c, want):
		case c.Until == 0:
			quoted = append(quoted, c)
		default:
			isClosed = isClosed || isOwn && closes
		}
	}
	switch {
	case isClosed: // with other words
	case len(quoted) == 1:
		return quoted[0]
	case quoted == nil:
		r.plan.leave(e, r.line, "%s: it has no fact %q", r.edit.Do, want.Text)
	default:
		r.plan.leave(e, r.line, "%s: several facts have the quotation of %q", r.edit.Do, want.Text)
	}
	return nil
}

// isQuoted reports whether a claim of the same kind has a quotation that overlaps one of a fact.
func (r *resolver) isQuoted(c *annotator.Claim, want *LogFact) bool {
	for _, q := range want.Quotations {
		found, err := r.Ground(q.Post, q.Quote)
		if err != nil {
			continue
		}
		fact := codex.Fact{Text: c.Text, Kind: want.Kind, Speaker: want.Speaker, Quotes: []annotator.Evidence{found}}
		open := *c
		open.Until = 0
		if codex.Alike(&fact, &open) {
			return true
		}
	}
	return false
}
