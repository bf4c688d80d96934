// Package review computes what of a codex is uncertain, as one queue of suggestions. Each has the operations that an
// answer of a person applies. The package reads a view, so that nothing after a limit takes part.
package review

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"annotator"
)

// Kind is what a suggestion is about.
type Kind string

// The kinds.
const (
	Double        Kind = "double"        // two entries may be one
	Missing       Kind = "missing"       // a phrase recurs, and is nobody's name
	Quotation     Kind = "quotation"     // a fact without a quotation, or with one that lacks words of it
	Contradiction Kind = "contradiction" // two facts may contradict each other
	State         Kind = "state"         // a state may have ended
	Tentative     Kind = "tentative"     // an entry is not confirmed
	Slight        Kind = "slight"        // an entry brings nothing
	Question      Kind = "question"      // the model asks a person
	Locked        Kind = "locked"        // the model would change what a person has locked
	Proposal      Kind = "proposal"      // an agent proposes an edit
)

// Kinds returns the kinds in the order in which they are listed.
func Kinds() []Kind {
	return []Kind{
		Question, Proposal, Locked, Double, Contradiction, State, Missing, Quotation, Tentative, Slight,
	}
}

// Label returns how people name a kind.
func (k Kind) Label() string {
	switch k {
	case Double:
		return "likely double"
	case Missing:
		return "missing name"
	case Quotation:
		return "thin quotation"
	case State:
		return "open state"
	case Tentative:
		return "tentative entry"
	case Slight:
		return "slight entry"
	case Question:
		return "question of the model"
	case Locked:
		return "change of what is locked"
	}
	return string(k)
}

// Suggestion is something that a person may decide. It is computed from the codex and the story, and never stored.
type Suggestion struct {
	Key     string   `json:"key"` // kind and ids; a decision names it
	Digest  string   `json:"digest"`
	Kind    Kind     `json:"kind"`
	Asks    string   `json:"asks"` // the question, in one sentence
	Why     string   `json:"why"`  // what makes it uncertain
	Sides   []Side   `json:"sides"`
	Choices []Choice `json:"choices"`
	// Facts and Mentions are those of the entries concerned: how much rests on the decision.
	Facts    int     `json:"facts"`
	Mentions int     `json:"mentions"`
	Score    float64 `json:"score"` // the queue is ordered by it

	weak bool // few such suggestions are about a fault, so that they follow the others
}

// Side is one of the things that a suggestion compares: an entry, a fact of it, or a phrase.
type Side struct {
	Entry  int64               `json:"entry,omitempty"` // 0 of a phrase
	Name   string              `json:"name"`
	Names  []string            `json:"names,omitempty"` // of an entry: the others
	Fact   int64               `json:"fact,omitempty"`
	Text   string              `json:"text,omitempty"`  // of the fact; of an entry: who or what it is
	Kind   annotator.ClaimKind `json:"kind,omitempty"`  // of the fact
	Count  int                 `json:"count,omitempty"` // mentions of an entry, occurrences of a phrase
	Place  annotator.Place     `json:"-"`               // of the fact, or the first of the entry
	Quotes []Quote             `json:"quotes,omitempty"`
}

// Quote is words of the story with their place.
type Quote struct {
	Post  int64           `json:"post"`
	Place annotator.Place `json:"-"`
	Text  string          `json:"text"`
}

// Input is what a person types with a choice.
type Input string

// The inputs.
const (
	InputNone  Input = ""
	InputFact  Input = "fact"  // the words of a fact
	InputName  Input = "name"  // the name of an entry
	InputEntry Input = "entry" // an entry, by a name or its number
	InputText  Input = "answer"
)

// Choice is an answer that applies operations.
type Choice struct {
	Letter     string                `json:"letter"` // y, n, e, s or x
	Does       string                `json:"does"`   // in a few words, as "merge #31 into #12"
	Input      Input                 `json:"input,omitempty"`
	Operations []annotator.Operation `json:"operations,omitempty"`
}

// With returns the operations of a choice with what a person has typed: a text, or the id of an entry.
func (c *Choice) With(text string, entry int64) []annotator.Operation {
	operations := append([]annotator.Operation(nil), c.Operations...)
	if c.Input == InputNone || len(operations) == 0 {
		return operations
	}
	switch last := &operations[len(operations)-1]; c.Input {
	case InputFact, InputText:
		last.Text = text
	case InputName:
		last.Name = text
	case InputEntry:
		last.Entry = entry
	}
	return operations
}

// Choice returns the choice with a letter; nil for none.
func (s *Suggestion) Choice(letter string) *Choice {
	for i := range s.Choices {
		if s.Choices[i].Letter == letter {
			return &s.Choices[i]
		}
	}
	return nil
}

// Places returns the places of the sides and their quotations.
func (s *Suggestion) Places() (places []annotator.Place) {
	for i := range s.Sides {
		if s.Sides[i].Place != 0 {
			places = append(places, s.Sides[i].Place)
		}
		for _, q := range s.Sides[i].Quotes {
			places = append(places, q.Place)
		}
	}
	return places
}

// seal sets key and digest: the key from the kind and the ids, the digest from what is shown of the sides.
func (s *Suggestion) seal(ids ...any) {
	s.Key = string(s.Kind)
	for _, id := range ids {
		s.Key += fmt.Sprintf("/%v", id)
	}
	hash := sha256.New()
	for i := range s.Sides {
		side := &s.Sides[i]
		fmt.Fprintf(hash, "%s\x00%s\x00%s\x00", side.Name, strings.Join(side.Names, "\x01"), side.Text)
		for _, q := range side.Quotes {
			fmt.Fprintf(hash, "%d:%s\x00", q.Post, q.Text)
		}
	}
	s.Digest = hex.EncodeToString(hash.Sum(nil)[:8])
}

// named returns an entry for people: "#12 Orrin Vane".
func named(e *annotator.Entry) string { return fmt.Sprintf("#%d %s", e.ID, e.Name()) }
