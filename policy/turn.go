package policy

import (
	"encoding/json"

	"annotator"
)

// Turn is the state of the intent within a turn. The zero value is a turn without a declaration. It is computed from
// the journal, so that a resumed run decides as an uninterrupted one does.
type Turn struct {
	Intent     string // in force; empty if none
	Undeclared bool   // a tool was called without an intent, and none has been declared since
}

// Apply applies a row of the turn. A correction to the model is a new request and begins without an intent.
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

// declaredIntent returns the intent of a successful answer of SelectIntent.
func declaredIntent(answer string) string {
	var decoded IntentAnswer
	_ = json.Unmarshal([]byte(answer), &decoded) // an unreadable answer declares nothing
	return decoded.Intent
}

// IntentAnswer is the answer of SelectIntent: the intent that is in force from then on.
type IntentAnswer struct {
	OK     bool   `json:"ok"`
	Intent string `json:"intent"`
}
