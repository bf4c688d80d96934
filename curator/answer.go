package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator/codex"
)

// thinking is what a model writes before it answers. One that is never closed swallows the answer.
var thinking = regexp.MustCompile(`(?s)<(?:think|thinking|analysis)>.*?(?:</(?:think|thinking|analysis)>|$)`)

// Read takes the decision out of a judge's answer: exactly one JSON object, bare, fenced or between words. The error says what
// is wrong with the answer, in words for the one who gave it; nothing is decided by default.
func (c *Candidate) Read(answer string) (Decision, error) {
	fields, err := object(thinking.ReplaceAllString(answer, ""))
	if err != nil {
		return Decision{}, err
	}
	d := Decision{}
	verdict, err := text(fields, "decision")
	if err != nil {
		return d, err
	}
	d.Verdict = Verdict(strings.ToUpper(verdict))
	if d.Reason, err = text(fields, "reason"); err != nil {
		return d, err
	}
	if runes := []rune(d.Reason); len(runes) > MaxReason {
		d.Reason = string(runes[:MaxReason])
	}
	switch d.Verdict {
	case Confirm:
	case Reject:
		if !codex.HasWord(d.Reason) {
			return d, errors.New("REJECT needs a reason")
		}
	case Merge:
		d.Target, err = c.target(fields["target"])
	case Revise:
		if d.Definition, err = text(fields, "definition"); err == nil && !codex.HasWord(d.Definition) {
			err = errors.New("REVISE needs a definition")
		}
	default:
		err = fmt.Errorf("the decision %q is none of CONFIRM, REJECT, MERGE and REVISE", verdict)
	}
	return d, err
}

// target reads the id of one of the similar entries: a number, or its digits as a string.
func (c *Candidate) target(raw json.RawMessage) (int64, error) {
	digits := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, errors.New("MERGE needs the id of one of the similar entries as its target")
	}
	if id == c.Entry.ID {
		return 0, errors.New("an entry cannot be merged into itself")
	}
	if c.similar(id) == nil {
		return 0, fmt.Errorf("the target %d is none of the similar entries shown", id)
	}
	return id, nil
}

// text reads a field that holds a string; null and a field that is not there are an empty one. What the judge copied out of the
// question is escaped as the question was.
func text(fields map[string]json.RawMessage, name string) (string, error) {
	raw, ok := fields[name]
	if !ok {
		return "", nil
	}
	var value *string
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", fmt.Errorf("%s is not a string", name)
	}
	if value == nil {
		return "", nil
	}
	return codex.Clean(html.UnescapeString(*value)), nil
}

// object finds the one JSON object in an answer. Braces inside its strings are text like any other.
func object(answer string) (map[string]json.RawMessage, error) {
	start := strings.IndexByte(answer, '{')
	if start < 0 {
		return nil, errors.New("it holds no JSON object")
	}
	d := json.NewDecoder(strings.NewReader(answer[start:]))
	fields, err := readFields(d)
	if err != nil {
		return nil, fmt.Errorf("its JSON object cannot be read: %w", err)
	}
	if rest := answer[start+int(d.InputOffset()):]; strings.Contains(rest, "{") {
		return nil, errors.New("it holds more than one JSON object")
	}
	return fields, nil
}

// readFields reads an object whose keys are the known ones, each at most once: a decoder into a struct would take the last of
// two, in any case of letters.
func readFields(d *json.Decoder) (map[string]json.RawMessage, error) {
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if !slices.Contains([]string{"decision", "target", "definition", "reason"}, name) {
			return nil, fmt.Errorf("there is no field %q", name)
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("the field %q is there twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		fields[name] = value
	}
	_, err := d.Token()
	return fields, err
}
