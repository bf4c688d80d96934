package textcalls

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"annotator"
)

// writtenCall is a call as it was written.
type writtenCall struct {
	annotator.ToolCall
	source string // without the tags around it
}

// errNoCall is the error of a value without the shape of a call.
var errNoCall = errors.New("it is no JSON object with name and arguments")

// values reads the calls at the beginning of a text: JSON objects, or lists of them. Where the first value is something
// else, the error is errNoCall. With an error, n is where the mistake is.
func values(text string) (calls []writtenCall, n int, err error) {
	for {
		rest := strings.TrimLeft(text[n:], space+";")
		if rest == "" || rest[0] != '{' && rest[0] != '[' {
			break
		}
		size, err := skipValue(rest)
		n = len(text) - len(rest) + size
		if err != nil {
			return nil, n, err
		}
		more, err := callsIn(rest[:size])
		switch {
		case err == nil:
			calls = append(calls, more...)
		case len(calls) > 0 && errors.Is(err, errNoCall):
			return nil, n, errors.New("JSON that is no call follows")
		default:
			return nil, n, err
		}
	}
	if len(calls) == 0 {
		return nil, 0, errNoCall
	}
	return calls, n, nil
}

// callsIn returns the calls in a JSON value.
func callsIn(raw string) ([]writtenCall, error) {
	if raw[0] == '{' {
		call, err := callOf(raw)
		return []writtenCall{call}, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(raw), &list); err != nil || len(list) == 0 {
		return nil, errNoCall
	}
	calls := make([]writtenCall, len(list))
	for i := range list {
		var err error
		if calls[i], err = callOf(string(list[i])); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// callOf returns the call in an object. Its arguments may be a string with JSON, as they are in the API.
func callOf(raw string) (writtenCall, error) {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &o) != nil {
		return writtenCall{}, errNoCall
	}
	if inner := o["function"]; len(inner) > 0 && inner[0] == '{' {
		return callOf(string(inner))
	}
	var name string
	arguments, given := o["arguments"]
	parameters, too := o["parameters"]
	switch {
	case json.Unmarshal(o["name"], &name) != nil || name == "" || !given && !too:
		return writtenCall{}, errNoCall
	case given && too:
		return writtenCall{}, fmt.Errorf("the call of %.100q has both arguments and parameters", name)
	case too:
		arguments = parameters
	}
	for key := range o {
		if !strings.Contains(" name arguments parameters id type ", " "+key+" ") {
			return writtenCall{}, fmt.Errorf("the call of %.100q has more than a name and arguments", name)
		}
	}
	object := string(arguments)
	if object[0] == '"' {
		_ = json.Unmarshal(arguments, &object) // a valid string
	}
	if err := isObject(object); err != nil {
		return writtenCall{}, fmt.Errorf("the arguments of %.100q: %w", name, err)
	}
	return writtenCall{annotator.ToolCall{Name: name, Arguments: object}, raw}, nil
}

// isObject returns what is wrong with arguments that are not exactly one JSON object.
func isObject(text string) error {
	if !strings.HasPrefix(strings.TrimLeft(text, space), "{") {
		return errors.New("they are no JSON object")
	}
	n, err := skipValue(text)
	if err == nil && strings.TrimSpace(text[n:]) != "" {
		err = errors.New("something follows their JSON object")
	}
	return err
}
