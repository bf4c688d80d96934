package curator

import (
	"fmt"

	"annotator"
	"annotator/codex"
)

// Batch is candidates that are judged by one answer, so that posts around several of them are shown once. It has at least one.
type Batch []*Candidate

// Ruling is what an answer says of one candidate.
type Ruling struct {
	Decision Decision
	Wrong    error // why there is no usable decision; nil where there is one
}

// Unruled are the rulings of an answer that cannot be used at all.
func (b Batch) Unruled(wrong error) []Ruling {
	rulings := make([]Ruling, len(b))
	for i := range rulings {
		rulings[i].Wrong = wrong
	}
	return rulings
}

// Settle turns rulings into what is written down: a decision on each candidate, at a place and after a thread has ended, and the
// revisions that follow from all of them. Where there is no decision that can be carried out, the verdict is the one given,
// Again or None, with the reason. A decision is not carried out on an entry that an earlier one of the same answer changes,
// since the judge has not seen what has become of it.
func (b Batch) Settle(rulings []Ruling, otherwise Verdict, thread int64, at annotator.Place) ([]Decision, []annotator.Revision) {
	var decisions []Decision
	var all []annotator.Revision
	changed := map[int64]bool{}
	for i, c := range b {
		d, revisions, wrong := c.settle(rulings[i], thread, at, changed)
		if wrong != nil {
			d = Decision{Verdict: otherwise, Reason: clipped(codex.Clean(wrong.Error())), Thread: thread}
			revisions = []annotator.Revision{c.record(d, at)}
		} else {
			for j := range revisions {
				changed[revisions[j].Entry] = true
			}
		}
		decisions, all = append(decisions, d), append(all, revisions...)
	}
	return decisions, all
}

// settle turns a ruling into a decision and its revisions, if it can be carried out where some entries have been changed.
func (c *Candidate) settle(r Ruling, thread int64, at annotator.Place, changed map[int64]bool) (Decision, []annotator.Revision, error) {
	if r.Wrong != nil {
		return Decision{}, nil, r.Wrong
	}
	for _, id := range []int64{c.Entry.ID, r.Decision.Target} {
		if changed[id] {
			return Decision{}, nil, fmt.Errorf("entry %d has been changed by another decision since", id)
		}
	}
	d := r.Decision
	d.Thread = thread
	revisions, err := c.Revisions(d, at)
	return d, revisions, err
}

// clipped cuts a reason to what is kept of one.
func clipped(reason string) string {
	if runes := []rune(reason); len(runes) > MaxReason {
		return string(runes[:MaxReason])
	}
	return reason
}
