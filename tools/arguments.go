package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"annotator/internal/laxjson"
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

// coerce removes an optional parameter without a value, parses a string where the schema wants another type, and fills
// in defaults. It returns the names of the parsed strings. Models write null or an empty string for what they leave out.
func (s *argumentSchema) coerce(object map[string]any) (coerced []string) {
	for _, name := range s.schema.PropertyOrder {
		property := s.schema.Properties[name]
		value, given := object[name]
		text, isText := value.(string)
		empty := value == nil || isText && text == "" && (property.Type != "string" || property.Enum != nil)
		if given && empty && !slices.Contains(s.schema.Required, name) {
			delete(object, name)
			given = false
		}
		if given && isText && property.Type != "string" {
			if parsed, err := parseLax(text); err == nil {
				object[name], coerced = parsed, append(coerced, name)
			}
		}
		if !given && property.Default != nil {
			object[name], _ = parseJSON(string(property.Default)) // checked by New
		}
	}
	return coerced
}

// parseLax parses a value as models write it.
func parseLax(text string) (any, error) {
	strict, err := laxjson.Value(text)
	if err != nil {
		return nil, err
	}
	return parseJSON(strict)
}
