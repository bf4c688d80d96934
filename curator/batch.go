package curator

import (
	"fmt"
	"maps"

	"annotator"
	"annotator/codex"
)

// Batch is the candidates of one question, at least one. Posts around several of them are shown once.
type Batch []*Candidate

// Answer is what a reply says of one candidate: a decision, or an error that says why there is no usable one.
type Answer struct {
	Decision Decision
	Into     string // of MERGE: a name of the target, where the answer gives no id
	Err      error
}

// Unanswered returns the answers of a reply that cannot be used at all.
func (b Batch) Unanswered(err error) []Answer {
	answers := make([]Answer, len(b))
	for i := range answers {
		answers[i].Err = err
	}
	return answers
}

// Resolve returns what is stored of answers. This is a decision on each candidate, made at a place and after a thread
// has ended, and the revisions that all of them cause. If there is no decision that can be carried out, the action is
// the fallback, AskAgain or Keep, with the reason. A decision is not carried out on an entry that an earlier decision
// of the reply changes, since the model has not seen the change. To confirm an entry is no such change.
func (b Batch) Resolve(
	answers []Answer, fallback Action, thread int64, at annotator.Place,
) (decisions []Decision, all []annotator.Revision) {
	changed := map[int64]bool{}
	for i, c := range b {
		d, revisions, err := c.resolve(answers[i], thread, at, changed)
		if err != nil {
			d = Decision{
				Action: fallback, Reason: annotator.Clip(codex.Clean(err.Error()), MaxReason, ""),
				Thread: thread,
			}
			revisions = []annotator.Revision{c.record(d, at)}
		} else {
			maps.Copy(changed, changedBy(revisions))
		}
		decisions, all = append(decisions, d), append(all, revisions...)
	}
	return decisions, all
}

// resolve returns the decision of an answer and its revisions, if it can be carried out after some entries have been
// changed.
func (c *Candidate) resolve(
	a Answer, thread int64, at annotator.Place, changed map[int64]bool,
) (Decision, []annotator.Revision, error) {
	if a.Err != nil {
		return Decision{}, nil, a.Err
	}
	for _, id := range []int64{c.Entry.ID, a.Decision.Target} {
		if changed[id] {
			return Decision{}, nil, fmt.Errorf("entry %d has been changed by another decision since", id)
		}
	}
	d := a.Decision
	d.Thread = thread
	revisions, err := c.Revisions(d, at)
	return d, revisions, err
}
