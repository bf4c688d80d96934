package tools

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"annotator/internal/laxjson"

	"github.com/google/jsonschema-go/jsonschema"
)

// parseObject parses a call's arguments as strict JSON. The error is a *Failure.
func parseObject(arguments string) (map[string]any, error) {
	value, err := parseJSON(arguments)
	if err != nil {
		return nil, failf(InvalidJSON, "the arguments are no JSON object: %s", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, failf(InvalidJSON, "the arguments are %s, not a JSON object", jsonType(value))
	}
	return object, nil
}

// fit brings arguments into the form that the schema has, and returns what is invalid in them. A call with facts may
// give them as a definition.
func (s *argumentSchema) fit(object map[string]any) (problems []string) {
	coerce(s.schema, object)
	if s.schema.Properties["facts"] != nil {
		problems = splitDefinition(object)
	}
	return append(problems, s.problems(object)...)
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
// in defaults. Some servers render every argument as a string, such as "10" for 10. Models write null or an empty
// string for what they leave out. An object in place of a list of objects becomes a list of one. A plain value in place
// of an object that requires one parameter becomes that parameter.
func coerce(schema *jsonschema.Schema, object map[string]any) {
	for _, name := range schema.PropertyOrder {
		property := schema.Properties[name]
		value, given := object[name]
		text, isText := value.(string)
		isText = isText && property.Type != "string"
		if given && isText {
			if parsed, ok := parseText(property, text); ok {
				object[name] = parsed
			}
		}
		value = object[name]
		empty := value == nil || value == "" && (isText || property.Enum != nil)
		if given && empty && !slices.Contains(schema.Required, name) {
			delete(object, name)
			given = false
		}
		if !given && property.Default != nil {
			object[name], _ = parseJSON(string(property.Default)) // checked by New
		}
		if given && property.Items != nil && property.Items.Type == "object" {
			object[name] = coerceItems(property.Items, object[name])
		}
	}
}

// coerceItems coerces the items of a list of objects.
func coerceItems(schema *jsonschema.Schema, value any) []any {
	items, isList := value.([]any)
	if !isList {
		items = []any{value}
	}
	for i, item := range items {
		object, isObject := item.(map[string]any)
		text, _ := item.(string)
		// tags that were not read are no value
		if !isObject && len(schema.Required) == 1 && !childTag.MatchString(text) {
			object, isObject = map[string]any{schema.Required[0]: item}, true
		}
		if isObject {
			coerce(schema, object)
			items[i] = object
		}
	}
	return items
}

// parseText parses a string in place of another type: JSON, or values in tags.
func parseText(schema *jsonschema.Schema, text string) (value any, ok bool) {
	if value, err := parseLax(text); err == nil {
		return value, true
	}
	children := childrenOf(text)
	if len(children) == 0 {
		return nil, false
	}
	return fromTags(schema, children)
}

// child is a value in a tag.
type child struct{ name, text string }

var childTag = regexp.MustCompile(`^\s*<([A-Za-z]\w*)>`)

// maxTagged is the most values in tags that are read.
const maxTagged = 1000

// childrenOf returns the tags that a text consists of; nil if it has anything else.
func childrenOf(text string) (children []child) {
	for strings.TrimSpace(text) != "" {
		tag := childTag.FindStringSubmatch(text)
		if tag == nil || len(children) == maxTagged {
			return nil
		}
		inner, rest, ends := strings.Cut(text[len(tag[0]):], "</"+tag[1]+">")
		if !ends || strings.Contains(inner, "<"+tag[1]+">") {
			return nil
		}
		children, text = append(children, child{tag[1], strings.TrimSpace(inner)}), rest
	}
	return children
}

// fromTags returns the value of tags by a schema. A list has the contents of the tags, an object has their names, too,
// and a plain value has the content of a single tag. Tags that are named as the parameters of a list's items are one
// item.
func fromTags(schema *jsonschema.Schema, children []child) (value any, ok bool) {
	isList := schema.Type == "array" && schema.Items != nil
	switch {
	case isList && schema.Items.Properties[children[0].name] != nil:
		item, ok := fromTags(schema.Items, children)
		return []any{item}, ok
	case isList:
		items := make([]any, len(children))
		for i, c := range children {
			items[i] = fromText(schema.Items, c.text)
		}
		inner, _ := parseLax(children[0].text)
		if list, around := inner.([]any); around && len(children) == 1 {
			items = list
		}
		return items, true
	case schema.Type == "object":
		object := map[string]any{}
		for _, c := range children {
			property := schema.Properties[c.name]
			if _, twice := object[c.name]; twice || property == nil {
				return nil, false
			}
			object[c.name] = fromText(property, c.text)
		}
		return object, true
	}
	return fromText(schema, children[0].text), len(children) == 1
}

// fromText returns the value that a text is by a schema.
func fromText(schema *jsonschema.Schema, text string) any {
	if schema.Type != "string" {
		if value, ok := parseText(schema, text); ok {
			return value
		}
	}
	return text
}

// parseLax parses a value as models write it.
func parseLax(text string) (any, error) {
	strict, err := laxjson.Value(text)
	if err != nil {
		return nil, err
	}
	return parseJSON(strict)
}
