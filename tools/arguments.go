package tools

import (
	"encoding/json"
	"slices"
	"strings"
)

// read parses a call's arguments as strict JSON and validates them. It returns them with defaults filled in, and the
// names of those that were coerced from a string ("10" to 10): some servers render every argument as a string.
func (s *argumentSchema) read(arguments string) (encoded []byte, coerced []string, err error) {
	if arguments == "" && len(s.schema.Required) == 0 {
		arguments = "{}"
	}
	value, err := parseJSON(arguments)
	if err != nil {
		return nil, nil, failf(InvalidJSON, "the arguments are no JSON object: %s", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, nil, failf(InvalidJSON, "the arguments are %s, not a JSON object", jsonType(value))
	}
	coerced = s.coerce(object)
	if problems := s.problems(object); problems != nil {
		return nil, nil, invalid(problems...)
	}
	encoded, err = json.Marshal(object)
	return encoded, coerced, err
}

func invalid(problems ...string) *Failure {
	failure := failf(InvalidArguments, "the arguments do not fit the tool's schema: %s", strings.Join(problems, "; "))
	failure.Errors = problems
	return failure
}

// unmarshal decodes valid arguments. It fails only for a number that overflows int64.
func unmarshal[A any](encoded []byte) (arguments A, err error) {
	if err = json.Unmarshal(encoded, &arguments); err != nil {
		err = invalid(err.Error())
	}
	return arguments, err
}

// coerce removes null optional parameters, parses strings where another type is wanted, and fills in defaults.
func (s *argumentSchema) coerce(object map[string]any) (coerced []string) {
	for _, name := range s.schema.PropertyOrder {
		property := s.schema.Properties[name]
		value, given := object[name]
		if given && value == nil && !slices.Contains(s.schema.Required, name) {
			delete(object, name)
			given = false
		}
		if text, ok := value.(string); ok && property.Type != "string" {
			if parsed, err := parseJSON(text); err == nil {
				object[name], coerced = parsed, append(coerced, name)
			}
		}
		if !given && property.Default != nil {
			object[name], _ = parseJSON(string(property.Default)) // checked by New
		}
	}
	return coerced
}
