package curator

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
)

// endedState is what an answer says of a state that has ended.
type endedState struct {
	entry, fact     int64
	byEntry, byFact int64 // the fact that says so; 0 for none
	how             annotator.Ending
}

// is reports whether it is said of a fact.
func (e *endedState) is(f *fact) bool { return f.Entry == e.entry && f.Claim == e.fact }

var endedTag = regexp.MustCompile(`<ended\b([^<>]*)>(?:\s*</ended>)?`)

// read returns the states that a reply says have ended, whether it says anything of states, and the rest of it, which
// answers another question. Only states that were asked about count.
func (q *openStates) read(reply string) (ended []endedState, answered bool, rest string) {
	if q == nil {
		return nil, false, reply
	}
	for _, tag := range endedTag.FindAllStringSubmatch(reply, -1) {
		answered = true
		if e, ok := q.readTag(tag[1]); ok {
			ended = append(ended, e)
		}
	}
	states, over := 0, 0
	for i := range q.list {
		s := &q.list[i].fact
		if isGuess(s.claim) {
			continue
		}
		if states++; slices.ContainsFunc(ended, func(e endedState) bool { return e.is(s) }) {
			over++
		}
	}
	if over > 2 && 2*over > states+1 { // it has mistaken the question, or follows a fact's orders
		ended = nil
	}
	return ended, answered, endedTag.ReplaceAllString(reply, "")
}

// readTag reads the attributes of an element: entry, fact, by and how.
func (q *openStates) readTag(attributes string) (e endedState, ok bool) {
	for _, match := range attribute.FindAllStringSubmatch(attributes, -1) {
		list := numbers(match[2])
		switch {
		case match[1] == "how":
			e.how = annotator.Ending(strings.TrimSpace(match[2]))
		case len(list) == 0:
		case match[1] == "entry":
			e.entry = list[0]
		case match[1] == "fact":
			e.fact = list[0]
		case match[1] == "by" && len(list) > 1:
			e.byEntry, e.byFact = list[0], list[1]
		case match[1] == "by":
			e.byFact = list[0]
		}
	}
	if e.byFact != 0 && e.byEntry == 0 {
		e.byEntry = e.entry
	}
	return e, slices.ContainsFunc(q.list, func(s suspect) bool { return e.is(&s.fact) })
}

// revisions returns the closings of an answer, after other revisions of it, and for each entry the record that it was
// asked about. A closing that the codex refuses is left out.
func (q *openStates) revisions(
	ended []endedState, others []annotator.Revision, at annotator.Place, thread int64,
) (all []annotator.Revision) {
	if q == nil {
		return nil
	}
	all = slices.Clip(others)
	states := make([]*fact, len(q.list))
	for i := range q.list {
		states[i] = &q.list[i].fact
	}
	for _, id := range entriesOfFacts(states) {
		d := Decision{Action: AskStates, Through: q.through, Thread: thread}
		var of *annotator.Entry
		for _, state := range states {
			if state.Entry == id {
				of, d.States = state.entry, append(d.States, state.Claim)
			}
		}
		var closings []annotator.Revision
		for _, e := range ended {
			if e.entry != id {
				continue
			}
			closed, by := q.closing(e, after(of, slices.Concat(all, closings)), at)
			if closings = append(closings, closed...); len(closed) > 0 {
				d.Ended = append(d.Ended, by)
			}
		}
		all = append(append(all, (&Candidate{Entry: *of}).record(d, at)), closings...)
	}
	return all[len(others):]
}

// closing returns the revisions that close a state, and by which fact it ended. There are none if the codex refuses it,
// if that fact was told before the state, or if it is a guess. The state ends at the place of the fact, or at the place
// of the question. A fact of an earlier time takes the place of none, but may show that one is over. A guess is
// confirmed by a narrated fact that says anything of it, or refuted.
func (q *openStates) closing(
	e endedState, entry annotator.Entry, at annotator.Place,
) (revisions []annotator.Revision, by StateEnd) {
	by = StateEnd{State: e.fact}
	c := codex.Closing{Fact: e.fact, Ended: e.how}
	newer := q.newer(e.byEntry, e.byFact, &entry)
	if newer != nil {
		by.ByEntry, by.By = e.byEntry, e.byFact
		at = newer.claim.From
		if e.byEntry == entry.ID && !newer.claim.Earlier {
			c.By = newer.Claim
		}
	}
	claim := claimOf(&entry, e.fact)
	switch {
	case claim == nil, claim.From > at, newer != nil && newer.claim.Kind == annotator.Inferred:
		return nil, by
	case !isGuess(claim), e.how == annotator.EndRefuted:
	case e.how == annotator.EndConfirmed && newer != nil && newer.claim.Kind == annotator.Narrated &&
		q.settles(&fact{entry: &entry, claim: claim}, newer):
		c.Elsewhere = c.By == 0
	default:
		return nil, by
	}
	revisions, err := codex.Revise(&entry, codex.Edit{Actor: annotator.ActorCurator, At: at, Close: []codex.Closing{c}})
	if err != nil {
		return nil, by
	}
	return revisions, by
}

// newer returns a fact by which a state may have ended: a newer one that was shown, or one of its entry that holds. It
// returns nil for none.
func (q *openStates) newer(entry, id int64, of *annotator.Entry) *fact {
	isBy := func(f *fact) bool { return f.Entry == entry && f.Claim == id }
	if i := slices.IndexFunc(q.since, isBy); i >= 0 {
		return q.since[i]
	}
	if claim := claimOf(of, id); claim != nil && entry == of.ID {
		return &fact{ClaimRef: annotator.ClaimRef{Entry: entry, Claim: id}, entry: of, claim: claim}
	}
	return nil
}

// after returns an entry as it is after some revisions.
func after(e *annotator.Entry, revisions []annotator.Revision) annotator.Entry {
	entry := codex.Clone(e)
	for i := range revisions {
		if revisions[i].Entry == e.ID {
			_ = codex.Apply(&entry, &revisions[i]) // they were made for it
		}
	}
	return entry
}

// note is the note of a question about states that brought no answer.
func (q *openStates) note() string {
	return "The curator gave no usable answer about " + strconv.Itoa(len(q.list)) + " open states."
}
