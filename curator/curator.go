// Package curator takes a second look at entries of the glossary that nobody has confirmed yet: it writes the question that a
// model is asked about some of them, reads the answer, and turns it into revisions.
//
// All of it is pure. What a candidate is shown with is found by the caller, who also asks, and writes down what follows.
package curator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

// Candidate is a tentative entry with what its judge is shown.
type Candidate struct {
	Entry   annotator.Entry
	First   int64             // the post in which it appears first
	Posts   []annotator.Post  // around that one and with it, in order
	Similar []annotator.Entry // live ones that may be the same thing, best first
}

// MaxSimilar is how many similar entries a candidate is shown with.
const MaxSimilar = 5

// Names returns the names of a candidate's entry, the term among them.
func (c *Candidate) Names() []string { return names(&c.Entry) }

// Verdict is what is to become of a candidate.
type Verdict string

// The verdicts.
const (
	Confirm Verdict = "CONFIRM" // it is worth an entry, and what it says is borne out
	Reject  Verdict = "REJECT"  // it is not worth an entry: retired
	Merge   Verdict = "MERGE"   // it is another entry under another name
	Revise  Verdict = "REVISE"  // it is worth an entry, but says something else; tentative still, for nobody has borne the new text out
	Again   Verdict = "AGAIN"   // an answer about several had nothing usable on it: it is asked about again, alone
	None    Verdict = "NONE"    // the judge gave no usable answer: it stays as it is
)

// Decision is a verdict with what it needs. In JSON it is the new value of a curator_decision revision.
type Decision struct {
	Verdict    Verdict `json:"decision"`
	Target     int64   `json:"target,omitempty"`     // of MERGE: the entry that takes its place
	Definition string  `json:"definition,omitempty"` // of REVISE
	Reason     string  `json:"reason,omitempty"`     // at most MaxReason characters
	Thread     int64   `json:"thread"`               // that had ended when it was made
}

// Made reports whether it is the judge's own, and no rule's.
func (v Verdict) Made() bool { return v != Again && v != None }

// MaxReason is how much of a reason is kept, in code points.
const MaxReason = 300

// Revisions returns what a decision changes, without ids, times or trace: of every entry that it touches the revisions one after
// another, and first of all the record of the decision itself. A *codex.Refusal tells why it cannot be carried out. What is
// left as it is has been left so by a rule; all else is the curator's.
func (c *Candidate) Revisions(d Decision, at annotator.Place) ([]annotator.Revision, error) {
	at = max(at, c.Entry.Last)
	changes, err := c.changes(d, at)
	if err != nil {
		return nil, err
	}
	record := c.record(d, at)
	if d.Verdict != Merge {
		return append([]annotator.Revision{record}, changes...), nil
	}
	// The target comes first; the record belongs with what else becomes of the source.
	own := slices.IndexFunc(changes, func(r annotator.Revision) bool { return r.Entry == c.Entry.ID })
	return slices.Insert(changes, own, record), nil
}

// record is the revision that says what was decided.
func (c *Candidate) record(d Decision, at annotator.Place) annotator.Revision {
	actor := annotator.ActorCurator
	if !d.Verdict.Made() {
		actor = annotator.ActorRule
	}
	at = max(at, c.Entry.Last)
	return annotator.Revision{Entry: c.Entry.ID, Field: annotator.FieldCuratorDecision, New: encode(d), At: at, Actor: actor}
}

func (c *Candidate) changes(d Decision, at annotator.Place) ([]annotator.Revision, error) {
	edit := codex.Edit{Actor: annotator.ActorCurator, At: at}
	switch d.Verdict {
	case Confirm:
		edit.Status = new(annotator.Confirmed)
	case Revise:
		edit.Definition, edit.DropsClaims = &d.Definition, true
	case Reject:
		return codex.Retire(&c.Entry, d.Reason, annotator.ActorCurator, at)
	case Merge:
		target := c.similar(d.Target)
		if target == nil {
			return nil, fmt.Errorf("entry %d is none of those shown", d.Target)
		}
		return codex.Merge(&c.Entry, target, annotator.ActorCurator, at)
	case Again, None:
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

func encode(d Decision) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(d) //nolint:errchkjson // strings and numbers always encode
	return strings.TrimSpace(b.String())
}
