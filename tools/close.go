package tools

import (
	"cmp"
	"slices"

	"annotator"
	"annotator/codex"
)

// closeFacts closes facts whose place no fact of the call takes. A number beyond the facts of the call can only be that
// of a fact of the entry.
func (ed *editor) closeFacts(closings []closeArguments, at annotator.Place) {
	ed.tooMany("close", len(closings))
	for _, c := range taken(closings) {
		inCall := c.By > 0 && c.By <= int64(len(ed.facts))
		switch by := cmp.Or(max(c.ByKnown, 0), max(c.By, 0)); {
		case inCall && ed.facts[c.By-1] == 0:
			ed.refuse(refusedPart{Close: c.Fact},
				failf(UpdateFailed, "fact %d of this call, which was to take its place, was not taken", c.By))
		case inCall: // closed with it
		case by != 0 && !ed.holds(by):
			ed.refuse(refusedPart{Close: c.Fact}, failf(NotFound, "by is the number of a fact in this call, of which "+
				"there are %d, and by_known that of a fact of the entry; there is no fact %d", len(ed.facts), by))
		default:
			ed.close(c, by, at)
		}
	}
}

// holds reports whether the entry has an open fact with a number.
func (ed *editor) holds(fact int64) bool {
	return slices.ContainsFunc(ed.entry.Claims, func(c annotator.Claim) bool { return c.ID == fact && c.Until == 0 })
}

func (ed *editor) close(c closeArguments, by int64, at annotator.Place) {
	closing := codex.Closing{Fact: c.Fact, By: by, Ended: c.Ended}
	part := refusedPart{Close: c.Fact}
	switch claim := ed.claim(c.Fact); {
	case claim == nil: // which the codex says
	case by != 0:
		settles, err := ed.settles(claim, &ed.entry, ed.claim(by))
		if err != nil {
			ed.refuse(part, err)
			return
		}
		closing.Unrelated = !settles
	case c.ByEntry != "":
		told, err := ed.toldElsewhere(c.ByEntry, claim)
		if err != nil {
			ed.refuse(part, err)
			return
		}
		ed.told, closing.Elsewhere = told, true
		defer func() { ed.told = nil }()
	}
	ed.take(part, codex.Edit{Close: []codex.Closing{closing}, At: at})
}

// claim returns the claim of the entry with an id; nil if there is none.
func (ed *editor) claim(id int64) *annotator.Claim {
	at := slices.IndexFunc(ed.entry.Claims, func(c annotator.Claim) bool { return c.ID == id })
	if at < 0 {
		return nil
	}
	return &ed.entry.Claims[at]
}

// settles reports whether a fact of an entry says anything of what a claim of this entry says.
func (ed *editor) settles(claim *annotator.Claim, of *annotator.Entry, fact *annotator.Claim) (bool, error) {
	if ed.env.Settles == nil || fact == nil {
		return true, nil
	}
	return ed.env.Settles(ed.ctx, &ed.entry, claim, of, fact)
}

// toldElsewhere returns the newest fact of another entry that ends a claim: it is narrated, says something of what the
// claim says, and is not told before it.
func (ed *editor) toldElsewhere(ref entryRef, claim *annotator.Claim) (newest *annotator.Claim, err error) {
	other, err := ed.env.entryBy(ed.ctx, ref)
	if err != nil {
		return nil, err
	}
	narrated := slices.DeleteFunc(slices.Clone(other.Claims), func(c annotator.Claim) bool {
		return c.Until != 0 || c.Kind != annotator.Narrated
	})
	if other.ID == ed.entry.ID || len(narrated) == 0 {
		return nil, failf(NotFound, "by_entry is another entry with a narrated fact, and entry %d is none", other.ID)
	}
	for i := range narrated {
		fact := &narrated[i]
		if fact.From < claim.From || claim.State && fact.Earlier || newest != nil && fact.From < newest.From {
			continue
		}
		settles, err := ed.settles(claim, other, fact)
		if err != nil {
			return nil, err
		}
		if settles {
			newest = fact
		}
	}
	if newest == nil {
		return nil, failf(Unsettled, "entry %d has no fact since then that says anything of what fact %d says: name the "+
			"entry that has, or leave fact %[2]d", other.ID, claim.ID)
	}
	return newest, nil
}
