package codex

import (
	"encoding/json"
	"fmt"

	"annotator"
)

// ValueText returns the old or new value of a revision as people read it. Some fields are recorded as JSON; a text that
// is no JSON is returned unchanged. The function at returns the position of a place.
func ValueText(field annotator.Field, recorded string, at func(annotator.Place) annotator.Position) string {
	switch field {
	case annotator.FieldAlias, annotator.FieldClaim, annotator.FieldEvidence, annotator.FieldCuratorDecision:
	default:
		return recorded
	}
	var v struct {
		annotator.Claim
		Name     string // of an alias
		Quote    string // of evidence
		Decision string // of the curator
		Target   int64
		Reason   string
	}
	if json.Unmarshal([]byte(recorded), &v) != nil {
		return recorded
	}
	text := v.Name + v.Text + v.Quote
	if v.Decision != "" {
		text = v.Decision
		if v.Target != 0 {
			text += fmt.Sprintf(" into #%d", v.Target)
		}
		text += ": " + v.Reason
	}
	if v.Identity {
		text += " (identity)"
	}
	if words := RelationWords(&v.Claim); words != "" {
		text += " (" + words + ")"
	}
	if v.Until != 0 {
		how := EndWords(v.Ended)
		if v.MovedTo != 0 {
			how = fmt.Sprintf("moved to #%d in", v.MovedTo)
		}
		text += fmt.Sprintf(" (%s scene %d)", how, at(v.Until).Scene)
	}
	return text
}
