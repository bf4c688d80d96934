package curator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// Action is what a decision does with a candidate.
type Action string

// The actions.
const (
	Confirm  Action = "CONFIRM" // it is worth an entry, and the story supports what it says
	Reject   Action = "REJECT"  // it is not worth an entry: retired
	Merge    Action = "MERGE"   // it is another entry under another name
	Revise   Action = "REVISE"  // it is worth an entry, but says something else: reworded, and confirmed
	AskAgain Action = "AGAIN"   // an answer about several has nothing usable on it: it is asked about again, alone
	Keep     Action = "NONE"    // there is no usable answer: it stays as it is
	Shown    Action = "SHOWN"   // the narration shows it in several scenes: confirmed without a question
	// no decision on the entry: it was asked which of its states no longer hold
	AskStates    Action = "STATES"
	AskRedundant Action = "REDUNDANT" // no decision on the entry: it was asked whether it is worth one of its own
	Drop         Action = "DROP"      // it is not worth an entry of its own: retired, and its facts are another entry's
	Unstated     Action = "UNSTATED"  // no decision on the entry: it has no new statement of what it is now
)

// ByModel reports whether the action is one that the model chose, and no rule.
func (a Action) ByModel() bool {
	return !slices.Contains([]Action{AskAgain, Keep, Shown, AskStates, AskRedundant, Unstated}, a)
}

func (a Action) actor() annotator.Actor {
	if a.ByModel() {
		return annotator.ActorCurator
	}
	return annotator.ActorRule
}

// Decision is an action with what it needs. In JSON it is the new value of a curator_decision revision.
type Decision struct {
	Action Action    `json:"decision"`
	Target int64     `json:"target,omitempty"`       // of MERGE and DROP: the entry that takes its place
	Moved  []int64   `json:"moved,omitempty"`        // of DROP: the facts that the target lacked, and gets
	Facts  []NewFact `json:"facts,omitempty"`        // of REVISE: added
	Close  []Closing `json:"close,omitempty"`        // of REVISE: facts that are wrong
	Drop   []string  `json:"drop_aliases,omitempty"` // of REVISE: names that are not its own
	Reason string    `json:"reason,omitempty"`       // at most MaxReason characters
	Thread int64     `json:"thread"`                 // that had ended when it was made
	// of STATES: the states that were asked about, and those of them that ended
	States []int64    `json:"states,omitempty"`
	Ended  []StateEnd `json:"ended,omitempty"`
	// of STATES: the revision up to which all states that waited were asked about. Of REDUNDANT: the newest entry that
	// was looked at.
	Through int64 `json:"through,omitempty"`
}

// StateEnd says by which fact a state ended.
type StateEnd struct {
	State   int64 `json:"state"`              // its number
	ByEntry int64 `json:"by_entry,omitempty"` // of the fact; 0 if the answer names none
	By      int64 `json:"by,omitempty"`       // its number
}

// NewFact is a fact that REVISE adds.
type NewFact struct {
	Text     string              `json:"text"`
	Kind     annotator.ClaimKind `json:"kind,omitempty"`
	Speaker  string              `json:"speaker,omitempty"`
	Document string              `json:"document,omitempty"`
	State    bool                `json:"state,omitempty"`
	Identity bool                `json:"identity,omitempty"`
	Earlier  bool                `json:"earlier,omitempty"`
	Relation string              `json:"relation,omitempty"`
	Object   string              `json:"object,omitempty"`
	Quote    string              `json:"quote,omitempty"` // from a post of the story that the candidate was shown with
}

// Closing closes a fact.
type Closing struct {
	Fact  int64            `json:"fact"`            // its number
	By    int64            `json:"by,omitempty"`    // which of the new facts took its place, from 1; 0 for none
	Ended annotator.Ending `json:"ended,omitempty"` // empty: as codex.Closing has it
}

// MaxReason is how much of a reason is kept, in code points.
const MaxReason = 300

// Revisions returns the changes of a decision, without ids, times or trace. The revisions of one entry follow each
// other, and the record of the decision is the first of the candidate's. A *codex.Refusal says why it cannot be carried
// out. The actor is the curator, or a rule where the model did not choose the action.
func (c *Candidate) Revisions(d Decision, at annotator.Place) ([]annotator.Revision, error) {
	changes, err := c.changes(d, at)
	if err != nil {
		return nil, err
	}
	record := c.record(d, at)
	if d.Action != Merge && d.Action != Drop {
		return append([]annotator.Revision{record}, changes...), nil
	}
	// The target comes first; the record precedes the other revisions of the source.
	own := slices.IndexFunc(changes, func(r annotator.Revision) bool { return r.Entry == c.Entry.ID })
	return slices.Insert(changes, own, record), nil
}

// record is the revision that says what was decided.
func (c *Candidate) record(d Decision, at annotator.Place) annotator.Revision {
	return annotator.Revision{
		Entry: c.Entry.ID, Field: annotator.FieldCuratorDecision, New: annotator.EncodeJSON(d), At: at,
		Actor: d.Action.actor(),
	}
}

func (c *Candidate) changes(d Decision, at annotator.Place) ([]annotator.Revision, error) {
	edit := codex.Edit{Actor: d.Action.actor(), At: at}
	switch d.Action {
	case Confirm, Shown:
		edit.Status = new(annotator.Confirmed)
	case Revise:
		return c.reword(&d, edit)
	case Reject:
		return codex.Retire(&c.Entry, d.Reason, annotator.ActorCurator, at)
	case Merge, Drop:
		target := c.similar(d.Target)
		if target == nil {
			return nil, fmt.Errorf("entry %d is none of those shown", d.Target)
		}
		if d.Action == Drop {
			return codex.Drop(&c.Entry, target, d.Moved, d.Reason, annotator.ActorCurator, at)
		}
		return codex.Merge(&c.Entry, target, annotator.ActorCurator, at)
	case AskAgain, Keep, AskStates, AskRedundant, Unstated:
		return nil, nil
	}
	return codex.Revise(&c.Entry, edit)
}

// ground finds the quotation of a fact in a post of the story that the candidate was shown with, if one holds it. The
// posts need not follow each other in the story.
func (c *Candidate) ground(f *codex.Fact, quote string) {
	if utf8.RuneCountInString(quote) > codex.MaxQuote {
		return
	}
	for i := range c.Posts {
		if readerMark(&c.Posts[i]) != "" {
			continue
		}
		if f.Quotes, _ = codex.FindQuotes(c.Posts[i:i+1], quote); f.Quotes == nil {
			continue
		}
		if c.support != nil {
			quotes, lacks := c.support(f, c.Posts[i:i+1])
			for k := range quotes {
				quotes[k].Weak = lacks != nil
			}
			f.Quotes = quotes
		}
		return
	}
}

// reword carries out a REVISE. What is reworded is worth an entry, so it is confirmed.
func (c *Candidate) reword(d *Decision, edit codex.Edit) ([]annotator.Revision, error) {
	edit.Status, edit.DropAliases = new(annotator.Confirmed), d.Drop
	entry := codex.Clone(&c.Entry)
	var facts []codex.Fact
	var added []annotator.Revision
	for i, f := range d.Facts {
		fact := codex.Fact{
			Text: f.Text, Kind: f.Kind, Speaker: f.Speaker, Document: f.Document, State: f.State, Identity: f.Identity,
			Earlier: f.Earlier, Relation: f.Relation, Object: f.Object,
		}
		c.ground(&fact, f.Quote)
		add := codex.Edit{Actor: edit.Actor, At: edit.At, Facts: []codex.Fact{fact}}
		if fact.Quotes != nil && c.places[fact.Quotes[0].Post] != 0 {
			add.At = c.places[fact.Quotes[0].Post] // the story has it there
		}
		revisions, err := reworded(&entry, &f, int64(i+1), d.Close, add)
		if err != nil {
			return nil, err
		}
		facts, added = append(facts, fact), append(added, revisions...)
	}
	for _, closing := range d.Close {
		isClosed := func(c annotator.Claim) bool { return c.ID == closing.Fact && c.Until != 0 }
		if slices.ContainsFunc(entry.Claims, isClosed) {
			continue
		}
		by := int64(0)
		if closing.By > 0 && closing.By <= int64(len(facts)) {
			by = codex.Known(&entry, facts[closing.By-1])
		}
		edit.Close = append(edit.Close, codex.Closing{Fact: closing.Fact, By: by, Ended: closing.Ended})
	}
	closed, err := revised(&entry, edit)
	if err == nil && entry.Definition() == "" {
		err = &codex.Refusal{Code: "EMPTY", Message: "no fact of the entry would hold"}
	}
	if err != nil {
		return nil, err
	}
	return append(added, closed...), nil
}

// reworded adds a fact to an entry by an edit, and returns the revisions. A fact that replaces one as wrong may
// say it in the same words. Then that one is reworded, and stays what it was: a state, or what the entry is.
func reworded(
	e *annotator.Entry, f *NewFact, number int64, closings []Closing, add codex.Edit,
) (revisions []annotator.Revision, err error) {
	for _, closing := range closings {
		at := slices.IndexFunc(e.Claims, func(c annotator.Claim) bool {
			return c.ID == closing.Fact && c.Until == 0 && c.Text != f.Text && sameWords(c.Text, f.Text) &&
				cmp.Or(f.Kind, c.Kind) == c.Kind && codex.Normalize(c.Speaker) == codex.Normalize(f.Speaker)
		})
		if at < 0 || closing.By != number || cmp.Or(closing.Ended, annotator.EndWrong) != annotator.EndWrong {
			continue
		}
		if revisions, err = codex.Reword(e, closing.Fact, f.Text, add.Actor, add.At); err != nil {
			return nil, err
		}
		for i := range revisions {
			if err := codex.Apply(e, &revisions[i]); err != nil {
				return nil, err
			}
		}
		break
	}
	added, err := revised(e, add)
	return append(revisions, added...), err
}

// sameWords reports whether two texts have the same words, in any order, links or not.
func sameWords(a, b string) bool {
	words := func(text string) []string {
		isNone := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }
		return slices.Sorted(slices.Values(strings.FieldsFunc(codex.Normalize(codex.WithoutLinks(text)), isNone)))
	}
	return slices.Equal(words(a), words(b))
}

// revised applies an edit to an entry, and returns its revisions.
func revised(e *annotator.Entry, edit codex.Edit) ([]annotator.Revision, error) {
	revisions, err := codex.Revise(e, edit)
	for i := range revisions {
		if err == nil {
			err = codex.Apply(e, &revisions[i])
		}
	}
	return revisions, err
}

func (c *Candidate) similar(id int64) *annotator.Entry {
	for i := range c.Similar {
		if c.Similar[i].ID == id {
			return &c.Similar[i]
		}
	}
	return nil
}
