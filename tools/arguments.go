package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"annotator/internal/laxjson"

	"github.com/google/jsonschema-go/jsonschema"
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
	coerced = coerce(s.schema, object)
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
// An object in place of a list of objects is a list of one, and a plain value in place of an object that requires one
// parameter is that parameter.
func coerce(schema *jsonschema.Schema, object map[string]any) (coerced []string) {
	for _, name := range schema.PropertyOrder {
		property := schema.Properties[name]
		value, given := object[name]
		text, isText := value.(string)
		empty := value == nil || isText && text == "" && (property.Type != "string" || property.Enum != nil)
		if given && empty && !slices.Contains(schema.Required, name) {
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
		if given && property.Items != nil && property.Items.Type == "object" {
			if items, changed := coerceItems(property.Items, object[name]); changed {
				object[name], coerced = items, append(coerced, name)
			}
		}
	}
	return coerced
}

// coerceItems coerces the items of a list of objects, and reports whether any was something else.
func coerceItems(schema *jsonschema.Schema, value any) (items []any, changed bool) {
	items, isList := value.([]any)
	if !isList {
		items, changed = []any{value}, true
	}
	for i, item := range items {
		object, isObject := item.(map[string]any)
		if !isObject && len(schema.Required) == 1 {
			object, isObject, changed = map[string]any{schema.Required[0]: item}, true, true
		}
		if isObject {
			changed = len(coerce(schema, object)) > 0 || changed
			items[i] = object
		}
	}
	return items, changed
}

// parseLax parses a value as models write it.
func parseLax(text string) (any, error) {
	strict, err := laxjson.Value(text)
	if err != nil {
		return nil, err
	}
	return parseJSON(strict)
}
