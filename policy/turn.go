package policy

import (
	"encoding/json"

	"annotator"
)

// Turn is what the rows of a turn say of its intent. The zero value is a turn in which none is declared. It is a fold
// over the journal: a run that goes on in the middle of a turn knows what the undisturbed one knew.
type Turn struct {
	Intent     string // in force; empty for none
	Undeclared bool   // a tool was called before any intent was declared, and none has been since
}

// Take moves the turn on by a row. A correction that is sent to the model is a new request, for which nothing is
// declared yet.
func (t *Turn) Apply(row *annotator.Trace) {
	switch {
	case row.Kind == annotator.TraceScene, row.Kind == annotator.TraceNote:
		*t = Turn{}
	case row.Kind != annotator.TraceResult && row.Kind != annotator.TraceUpdate:
	case row.Tool == SelectIntent && row.Error == "":
		*t = Turn{Intent: declaredIntent(row.Content)}
	case row.Kind == annotator.TraceResult && row.Error == IntentRequired:
		t.Undeclared = true
	}
}

// declared reads the intent out of what Select answered.
func declaredIntent(answer string) string {
	var said IntentAnswer
	_ = json.Unmarshal([]byte(answer), &said) // what cannot be read declares nothing
	return said.Intent
}

// Answer is what Select answers: the intent that is in force from there on.
type IntentAnswer struct {
	OK     bool   `json:"ok"`
	Intent string `json:"intent"`
}
