package scripted

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
)

// check refuses what the API refuses in a content at any position.
func (c *geminiContent) check() error {
	if c.Role != "user" && c.Role != "model" {
		return errors.New("please use a valid role: user, model")
	}
	if len(c.Parts) == 0 {
		return errors.New("parts must not be empty")
	}
	called := false
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Call == nil && p.Result == nil && (p.Text == nil || *p.Text == "") {
			return fmt.Errorf("parts[%d].data: required oneof field 'data' must have one initialized field", i)
		}
		if _, err := base64.URLEncoding.DecodeString(p.Signature); p.Call != nil && !called &&
			(p.Signature == "" || err != nil) {
			return fmt.Errorf("function call %q is missing a thought_signature", p.Call.Name)
		}
		called = called || p.Call != nil
	}
	return nil
}

// checkResults refuses a turn of calls without a following turn of results with the same names.
func (r *generateRequest) checkResults() error {
	var open []string
	for i := range r.Contents {
		calls, results := r.Contents[i].names()
		if !slices.Equal(results, open) {
			return fmt.Errorf("contents[%d]: please ensure that the function response parts %q match the "+
				"function call parts of the function call turn %q", i, results, open)
		}
		open = calls
	}
	return nil
}

func (c *geminiContent) names() (calls, results []string) {
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Call != nil {
			calls = append(calls, p.Call.Name)
		} else if p.Result != nil {
			results = append(results, p.Result.Name)
		}
	}
	return calls, results
}
