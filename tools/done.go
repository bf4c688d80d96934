package tools

import (
	"encoding/json"

	"annotator"
)

// closing is the argument by which an edit ends its scene; every editing tool shares it.
type closing struct {
	Done bool `json:"done,omitempty" jsonschema:"true in the last edit of a scene"`
}

// Complete reports whether the answer of a call leaves the model nothing to do. All requests were carried out, except
// for those that the model cannot correct. A passage that was kept from the scene in place of a quotation that was not
// found may be replaced with the right one.
func Complete(row *annotator.Trace) bool {
	var answer struct {
		OK       bool `json:"ok"`
		NotTaken []struct {
			Code string `json:"code"`
		} `json:"not_taken"`
		Note string `json:"note"`
	}
	if row.Error == NotMentioned || row.Error == EditCap {
		return true
	}
	if row.Error != "" || json.Unmarshal([]byte(row.Content), &answer) != nil || !answer.OK || answer.Note != "" {
		return false
	}
	misquoted, kept := false, false
	for _, part := range answer.NotTaken {
		switch part.Code {
		case QuoteNotFound:
			misquoted = true
		case NotMentioned:
			kept = true
		case EditCap:
		default:
			return false
		}
	}
	return !misquoted || !kept
}
