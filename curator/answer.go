package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
)

// Read reads a reply and returns an answer on each candidate. The reply holds a JSON object for each, in an array or
// not, bare, fenced or between words. What can be read of a reply about several counts, and what it says of other
// entries is ignored. A reply about a single candidate is one object. The error of an answer is worded for the model.
// Nothing is decided by default.
func (b Batch) Read(reply string) []Answer {
	list, invalid := objects(reply)
	if len(b) == 1 && len(list) > 1 {
		invalid = errors.New("it holds more than one JSON object")
	}
	if len(b) == 1 && invalid != nil {
		return b.Unanswered(invalid)
	}
	answers, count := make([]Answer, len(b)), make([]int, len(b))
	for _, object := range list {
		fields, err := readFields(object)
		at := 0
		if err == nil {
			at, err = b.about(fields)
		}
		if err != nil {
			invalid = err
			continue
		}
		count[at]++
		answers[at] = b[at].read(fields)
	}
	for i := range answers {
		switch {
		case count[i] > 1:
			answers[i] = Answer{Err: fmt.Errorf("it decides on entry %d more than once", b[i].Entry.ID)}
		case count[i] == 0 && invalid != nil:
			answers[i].Err = invalid
		case count[i] == 0:
			answers[i].Err = fmt.Errorf("it says nothing of entry %d", b[i].Entry.ID)
		}
	}
	return answers
}

// about returns the index of the candidate that an object is about. If there are several, the object has the term and
// the id, so that a decision on one is not carried out on another.
func (b Batch) about(fields map[string]json.RawMessage) (int, error) {
	if fields["entry"] == nil && len(b) == 1 {
		return 0, nil
	}
	id, err := number(fields["entry"])
	if err != nil {
		return 0, errors.New("an object in it does not say by its id which entry it is about")
	}
	at := slices.IndexFunc(b, func(c *Candidate) bool { return c.Entry.ID == id })
	if at < 0 {
		return 0, fmt.Errorf("it decides on entry %d, about which it was not asked", id)
	}
	term, err := text(fields, "term")
	if err == nil && (term != "" || len(b) > 1) && !b[at].hasName(term) {
		err = fmt.Errorf("it names entry %d %q, which is not what that one is called", id,
			annotator.Clip(term, quoteLength, cutMark))
	}
	return at, err
}

// hasName reports whether a candidate has a name.
func (c *Candidate) hasName(name string) bool {
	name = codex.Normalize(name)
	return name == codex.Normalize(c.Entry.Name()) ||
		slices.ContainsFunc(names(&c.Entry), func(own string) bool { return name == codex.Normalize(own) })
}

// read reads the decision of an object.
func (c *Candidate) read(fields map[string]json.RawMessage) (a Answer) {
	d := &a.Decision
	action, err := text(fields, "decision")
	if err != nil {
		return Answer{Err: err}
	}
	d.Action = Action(strings.ToUpper(action))
	if d.Reason, err = text(fields, "reason"); err != nil {
		return Answer{Err: err}
	}
	d.Reason = annotator.Clip(d.Reason, MaxReason, "")
	switch d.Action {
	case Confirm:
	case Reject:
		if !codex.HasWord(d.Reason) {
			a.Err = errors.New("REJECT needs a reason")
		}
	case Merge:
		c.readTarget(&a, fields)
	case Revise:
		a.Err = c.readWording(d, fields)
	default:
		a.Err = fmt.Errorf("the decision %q is none of CONFIRM, REJECT, MERGE and REVISE", action)
	}
	return a
}

// readTarget reads the entry into which one is merged: an id, or a name.
func (c *Candidate) readTarget(a *Answer, fields map[string]json.RawMessage) {
	id, err := number(fields["target"])
	if err == nil {
		if a.Decision.Target = id; id == c.Entry.ID {
			a.Err = errors.New("an entry cannot be merged into itself")
		}
		return
	}
	if a.Into, err = text(fields, "target"); err != nil || !codex.HasWord(a.Into) {
		a.Err = errors.New("MERGE needs the id or the term of another entry as its target")
	}
}

// readWording reads the changes of REVISE: facts and closings, or all facts as one definition. The definition closes
// the facts that it does not repeat.
func (c *Candidate) readWording(d *Decision, fields map[string]json.RawMessage) (err error) {
	if d.Facts, err = newFacts(fields["facts"]); err != nil {
		return err
	}
	if d.Close, err = closings(fields["close"]); err != nil {
		return err
	}
	if d.Drop, err = dropped(fields["drop_aliases"]); err != nil {
		return err
	}
	definition, err := text(fields, "definition")
	if err != nil || len(d.Facts)+len(d.Close)+len(d.Drop) > 0 {
		return err
	}
	if !codex.HasWord(definition) {
		return errors.New("REVISE needs facts to add or to close, or aliases to drop")
	}
	for _, sentence := range codex.Sentences(definition) {
		d.Facts = append(d.Facts, NewFact{Text: sentence})
	}
	for i := range c.Entry.Claims {
		claim := &c.Entry.Claims[i]
		repeats := func(f NewFact) bool { return codex.Normalize(f.Text) == codex.Normalize(claim.Text) }
		if claim.Until == 0 && !slices.ContainsFunc(d.Facts, repeats) {
			d.Close = append(d.Close, Closing{Fact: claim.ID})
		}
	}
	return nil
}

// newFacts reads a list of facts: objects with a text, or sentences.
func newFacts(raw json.RawMessage) (facts []NewFact, err error) {
	elements, err := listOf(raw, "facts")
	for _, element := range elements {
		f := NewFact{}
		if json.Unmarshal(element, &f) != nil && json.Unmarshal(element, &f.Text) != nil {
			return nil, errors.New("a fact is no object with a text")
		}
		f.Text, f.Speaker = codex.Clean(annotator.Unescape(f.Text)), codex.Clean(annotator.Unescape(f.Speaker))
		f.Document, f.Quote = codex.Clean(annotator.Unescape(f.Document)), codex.Clean(f.Quote)
		f.Relation, f.Object = annotator.Unescape(f.Relation), annotator.Unescape(f.Object)
		if !codex.HasWord(f.Text) {
			return nil, errors.New("a fact holds no word")
		}
		if !slices.Contains([]annotator.ClaimKind{"", annotator.Narrated, annotator.Claimed, annotator.Inferred},
			f.Kind) {
			return nil, fmt.Errorf("%q is no kind of fact", f.Kind)
		}
		facts = append(facts, f)
	}
	return facts, err
}

// closings reads a list of closings: objects with the number of a fact, or numbers.
func closings(raw json.RawMessage) (list []Closing, err error) {
	elements, err := listOf(raw, "close")
	for _, element := range elements {
		c := Closing{}
		if json.Unmarshal(element, &c) != nil {
			if c.Fact, err = number(element); err != nil {
				return nil, errors.New("what is closed is no number of a fact")
			}
		}
		if c.Fact <= 0 {
			return nil, errors.New("what is closed is no number of a fact")
		}
		if !slices.Contains([]annotator.Ending{
			"", annotator.EndConfirmed, annotator.EndRefuted, annotator.EndOver, annotator.EndWrong,
		}, c.Ended) {
			return nil, fmt.Errorf("%q is no way in which a fact ends", c.Ended)
		}
		list = append(list, c)
	}
	return list, err
}

// dropped reads a list of names.
func dropped(raw json.RawMessage) (names []string, err error) {
	elements, err := listOf(raw, "drop_aliases")
	for _, element := range elements {
		var name string
		if json.Unmarshal(element, &name) != nil {
			return nil, errors.New("an alias to drop is no string")
		}
		if name = codex.Clean(annotator.Unescape(name)); codex.HasWord(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// listOf returns the elements of a list; none of null or of a missing field.
func listOf(raw json.RawMessage, name string) (elements []json.RawMessage, err error) {
	if len(raw) > 0 && json.Unmarshal(raw, &elements) != nil {
		return nil, fmt.Errorf("%s is not a list", name)
	}
	return elements, nil
}

// number reads an id: a number, or its digits as a string.
func number(raw json.RawMessage) (int64, error) {
	return strconv.ParseInt(strings.Trim(strings.TrimSpace(string(raw)), `"`), 10, 64)
}

// text reads a field that holds a string; null and a missing field are an empty one. What the model copied from the
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
	return codex.Clean(annotator.Unescape(*value)), nil
}

// objects returns the JSON objects in a reply, with any text between them, up to the first that cannot be read. It
// returns the error of that one. Braces inside of strings are text like any other.
func objects(answer string) (list []json.RawMessage, err error) {
	for at := strings.IndexByte(answer, '{'); at >= 0; at = strings.IndexByte(answer, '{') {
		d := json.NewDecoder(strings.NewReader(answer[at:]))
		var object json.RawMessage
		if err := d.Decode(&object); err != nil {
			return list, fmt.Errorf("its JSON cannot be read: %w", err)
		}
		list, answer = append(list, object), answer[at+int(d.InputOffset()):]
	}
	if len(list) == 0 {
		return nil, errors.New("it holds no JSON object")
	}
	return list, nil
}

// decisionFields are the fields of the object by which the model decides.
var decisionFields = []string{
	"entry", "term", "decision", "target", "facts", "close", "drop_aliases", "definition", "reason",
}

// readFields reads an object whose keys are the known ones, each at most once. Decoding into a struct would take the
// last of two, and ignore the case of letters.
func readFields(object json.RawMessage) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(strings.NewReader(string(object)))
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
		if !slices.Contains(decisionFields, name) {
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
