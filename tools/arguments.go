package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// read reads a call's arguments: strictly as JSON, then against the schema. It returns them encoded anew, with the
// defaults in place, and the names of those that came as a string though the schema asks for something else. A string
// is then read as what it says, "10" as 10: some servers render every argument as a string.
func (s *argumentSchema) read(arguments string) (encoded []byte, coerced []string, err error) {
	if arguments == "" && len(s.schema.Required) == 0 {
		arguments = "{}"
	}
	value, err := parseJSON(arguments)
	if err != nil {
		return nil, nil, &Failure{Code: InvalidJSON, Message: "the arguments are no JSON object: " + err.Error()}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, nil, &Failure{Code: InvalidJSON, Message: fmt.Sprintf("the arguments are %s, not a JSON object", jsonType(value))}
	}
	coerced = s.coerce(object)
	if problems := s.problems(object); problems != nil {
		return nil, nil, invalid(problems...)
	}
	encoded, err = json.Marshal(object)
	return encoded, coerced, err
}

func invalid(problems ...string) *Failure {
	return &Failure{
		Code: InvalidArguments, Message: "the arguments do not fit the tool's schema: " + strings.Join(problems, "; "), Errors: problems,
	}
}

// unmarshal reads arguments that fit their schema; all that can still go wrong is a number that no int64 holds.
func unmarshal[A any](encoded []byte) (A, error) {
	var arguments A
	if err := json.Unmarshal(encoded, &arguments); err != nil {
		return arguments, invalid(err.Error())
	}
	return arguments, nil
}

// fit mends what leaves no doubt: null for an optional parameter, a string that says what the schema asks for. It puts in the
// defaults.
func (s *argumentSchema) coerce(object map[string]any) (coerced []string) {
	for _, name := range s.schema.PropertyOrder {
		property := s.schema.Properties[name]
		value, given := object[name]
		if given && value == nil && !slices.Contains(s.schema.Required, name) {
			delete(object, name)
			given = false
		}
		if text, ok := value.(string); ok && property.Type != "string" {
			if said, err := parseJSON(text); err == nil {
				object[name], coerced = said, append(coerced, name)
			}
		}
		if !given && property.Default != nil {
			object[name], _ = parseJSON(string(property.Default)) // checked by New
		}
	}
	return coerced
}
