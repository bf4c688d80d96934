package tools

import (
	"encoding/json"
	"slices"

	"annotator"
)

// closing is the argument by which an edit ends its scene; every editing tool shares it.
type closing struct {
	Done bool `json:"done,omitempty" jsonschema:"true in the last edit of a scene, and in no other"`
}

// SaysDone reports whether the arguments of an edit say that its scene is worked through.
func SaysDone(arguments string) bool {
	value, _ := parseJSON(arguments)
	object, _ := value.(map[string]any)
	done := object["done"]
	if text, ok := done.(string); ok { // some servers render every argument as a string
		done, _ = parseLax(text)
	}
	return done == true
}

// final are the codes of parts of an edit that no second attempt would have taken.
var final = []string{QuoteNotFound, NotMentioned, EditCap}

// Complete reports whether the answer of a call leaves the model nothing to act on: all that was asked for was done, but for what
// it can do nothing about.
func Complete(row *annotator.Trace) bool {
	var answer struct {
		OK       bool `json:"ok"`
		NotTaken []struct {
			Code string `json:"code"`
		} `json:"not_taken"`
		Note string `json:"note"`
	}
	if row.Error != "" || json.Unmarshal([]byte(row.Content), &answer) != nil || !answer.OK || answer.Note != "" {
		return false
	}
	for _, part := range answer.NotTaken {
		if !slices.Contains(final, part.Code) {
			return false
		}
	}
	return true
}
