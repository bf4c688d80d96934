package tools

import (
	"encoding/json"
	"slices"

	"annotator"
)

// closing is the argument by which an edit ends its scene; every editing tool shares it.
type closing struct {
	Done bool `json:"done,omitempty" jsonschema:"in the last edit of a scene"`
}

// Outcome is what the answer of a call leaves to do.
type Outcome int

// The outcomes.
const (
	Taken   Outcome = iota // nothing
	Refused                // the call, or a part of it, was refused; the model may correct it
	Left                   // something that the model has written was not run, or not read
)

// OutcomeOf returns the outcome of a call, by the row of its answer. A fact that was kept without its quotation was
// taken. A guess that goes on as one, because nothing was named that confirms it, is worth no further request.
// So is a refused question to a person, a name without a word, and what was added where it could not replace.
func OutcomeOf(row *annotator.Trace) Outcome {
	var answer struct {
		OK       bool          `json:"ok"`
		NotTaken []refusedPart `json:"not_taken"`
		Note     string        `json:"note"`
		Error    struct {
			NotTaken []refusedPart `json:"not_taken"`
		} `json:"error"`
	}
	err := json.Unmarshal([]byte(row.Content), &answer)
	refused := slices.ContainsFunc(append(answer.NotTaken, answer.Error.NotTaken...), refusedPart.matters)
	switch {
	case row.Error == Truncated, row.Error == CallLimit, row.Error == RoundLimit, answer.Note != "":
		return Left
	case row.Tool == AskName:
		return Taken
	case err != nil, refused, (row.Error != "" || !answer.OK) && row.Error != Unsettled:
		return Refused
	}
	return Taken
}

// matters reports whether the model could still have what was refused, so that it is worth a reply.
func (p refusedPart) matters() bool {
	switch p.Code {
	case QuoteNotFound, Unsettled:
		return false
	case Empty:
		return p.Alias == ""
	case NotMentioned: // new tags were added
		return p.Part != "tags"
	}
	return true
}
