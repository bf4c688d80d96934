package curator

import (
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
)

// Action is what a decision does with a candidate.
type Action string

// The actions.
const (
	Confirm  Action = "CONFIRM"  // it is worth an entry, and the story supports what it says
	Reject   Action = "REJECT"   // it is not worth an entry: retired
	Merge    Action = "MERGE"    // it is another entry under another name
	Revise   Action = "REVISE"   // it is worth an entry, but says something else: reworded, and judged once more
	AskAgain Action = "AGAIN"    // an answer about several has nothing usable on it: it is asked about again, alone
	Keep     Action = "NONE"     // there is no usable answer: it stays as it is
	Shown    Action = "SHOWN"    // the narration shows it in several scenes: confirmed without a question
	Unstated Action = "UNSTATED" // no decision on the entry: it has no new statement of what it is now
)

// ByModel reports whether the action is one that the model chose, and no rule.
func (a Action) ByModel() bool { return !slices.Contains([]Action{AskAgain, Keep, Shown, Unstated}, a) }

func (a Action) actor() annotator.Actor {
	if a.ByModel() {
		return annotator.ActorCurator
	}
	return annotator.ActorRule
}

// Decision is an action with what it needs. In JSON it is the new value of a curator_decision revision.
type Decision struct {
	Action     Action `json:"decision"`
	Target     int64  `json:"target,omitempty"`     // of MERGE: the entry that takes its place
	Definition string `json:"definition,omitempty"` // of REVISE
	Reason     string `json:"reason,omitempty"`     // at most MaxReason characters
	Thread     int64  `json:"thread"`               // that had ended when it was made
}

// MaxReason is how much of a reason is kept, in code points.
const MaxReason = 300

// Revisions returns what a decision changes, without ids, times or trace: of every entry that it touches the revisions
// one after another, and of the candidate first the record of the decision itself. A *codex.Refusal tells why it cannot
// be carried out. The actor is the curator, or a rule where the model did not choose the action.
func (c *Candidate) Revisions(d Decision, at annotator.Place) ([]annotator.Revision, error) {
	at = max(at, c.Entry.Last)
	changes, err := c.changes(d, at)
	if err != nil {
		return nil, err
	}
	record := c.record(d, at)
	if d.Action != Merge {
		return append([]annotator.Revision{record}, changes...), nil
	}
	// The target comes first; the record belongs with what else becomes of the source.
	own := slices.IndexFunc(changes, func(r annotator.Revision) bool { return r.Entry == c.Entry.ID })
	return slices.Insert(changes, own, record), nil
}

// record is the revision that says what was decided.
func (c *Candidate) record(d Decision, at annotator.Place) annotator.Revision {
	return annotator.Revision{
		Entry: c.Entry.ID, Field: annotator.FieldCuratorDecision, New: annotator.EncodeJSON(d), At: max(at, c.Entry.Last),
		Actor: d.Action.actor(),
	}
}

func (c *Candidate) changes(d Decision, at annotator.Place) ([]annotator.Revision, error) {
	edit := codex.Edit{Actor: d.Action.actor(), At: at}
	switch d.Action {
	case Confirm, Shown:
		edit.Status = new(annotator.Confirmed)
	case Revise:
		edit.Definition, edit.DropsClaims = &d.Definition, true
		if c.Revised { // reworded twice: it is worth an entry, and the newer wording stays
			edit.Status = new(annotator.Confirmed)
		}
	case Reject:
		return codex.Retire(&c.Entry, d.Reason, annotator.ActorCurator, at)
	case Merge:
		target := c.similar(d.Target)
		if target == nil {
			return nil, fmt.Errorf("entry %d is none of those shown", d.Target)
		}
		return codex.Merge(&c.Entry, target, annotator.ActorCurator, at)
	case AskAgain, Keep, Unstated:
		return nil, nil
	}
	return codex.Revise(&c.Entry, edit)
}

func (c *Candidate) similar(id int64) *annotator.Entry {
	for i := range c.Similar {
		if c.Similar[i].ID == id {
			return &c.Similar[i]
		}
	}
	return nil
}
