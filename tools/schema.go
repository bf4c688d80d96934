package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"annotator"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// argumentSchema is the schema of external JSON, with its validator.
type argumentSchema struct {
	schema    *jsonschema.Schema
	shown     *jsonschema.Schema                // as models see it
	validator func() (*validator.Schema, error) // compiles the schema at its first use
}

// schemaFor derives the schema of a struct from its fields and their tags. A field may be a list of flat structs.
func schemaFor[A any]() (*argumentSchema, error) {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		return nil, err
	}
	shown := copyOf(schema)
	if err := applyFieldTags(schema, shown, reflect.TypeFor[A]()); err != nil {
		return nil, err
	}
	checker := sync.OnceValues(func() (*validator.Schema, error) { return compile(schema) })
	return &argumentSchema{schema: schema, shown: shown, validator: checker}, nil
}

// copyOf returns a copy of an object's schema, whose properties can be replaced.
func copyOf(schema *jsonschema.Schema) *jsonschema.Schema {
	c := *schema
	c.Properties, c.Required = maps.Clone(schema.Properties), slices.Clone(schema.Required)
	return &c
}

// applyFieldTags applies the tags of a struct's fields to its schema, and to the schema as models see it.
func applyFieldTags(schema, shown *jsonschema.Schema, of reflect.Type) error {
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		err := applyTags(property, field.Tag)
		if list := field.Type; err == nil && list.Kind() == reflect.Slice && list.Elem().Kind() == reflect.Struct {
			shownList := *property
			shownList.Items = copyOf(property.Items)
			shown.Properties[name] = &shownList
			err = applyFieldTags(property.Items, shownList.Items, list.Elem())
		}
		if err != nil {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
		switch field.Tag.Get("shown") {
		case "brief":
			shown.Properties[name] = withoutDescriptions(shown.Properties[name])
		case "hidden":
			delete(shown.Properties, name)
			shown.PropertyOrder = slices.DeleteFunc(slices.Clone(shown.PropertyOrder), func(other string) bool {
				return other == name
			})
		case "required":
			shown.Required = append(shown.Required, name)
		case "integer", "string": // of several types: not every chat template takes a list of types
			single := *property
			single.Type, single.Types = field.Tag.Get("shown"), nil
			shown.Properties[name] = &single
		}
	}
	return nil
}

// withoutDescriptions returns the schema of a list without the descriptions of its items' parameters.
func withoutDescriptions(list *jsonschema.Schema) *jsonschema.Schema {
	brief, items := *list, *list.Items
	items.Properties = map[string]*jsonschema.Schema{}
	for name, property := range list.Items.Properties {
		short := *property
		short.Description = ""
		items.Properties[name] = &short
	}
	brief.Items = &items
	return &brief
}

// applyTags adds the tags also, enum, default, min and max to an inferred schema, and removes null from its types.
func applyTags(property *jsonschema.Schema, tag reflect.StructTag) error {
	if len(property.Types) > 0 {
		kept := slices.DeleteFunc(property.Types, func(t string) bool { return t == "null" })
		property.Type, property.Types = kept[0], nil
	}
	if other, ok := tag.Lookup("also"); ok {
		property.Type, property.Types = "", []string{property.Type, other}
	}
	if list, ok := tag.Lookup("enum"); ok {
		for _, value := range strings.Split(list, ",") {
			property.Enum = append(property.Enum, value)
		}
	}
	if value, ok := tag.Lookup("default"); ok {
		property.Default = json.RawMessage(value)
		if property.Type == "string" {
			property.Default = json.RawMessage(strconv.Quote(value))
		}
	}
	var err error
	property.Minimum, err = floatTag(tag, "min")
	if err == nil {
		property.Maximum, err = floatTag(tag, "max")
	}
	return err
}

func floatTag(tag reflect.StructTag, key string) (*float64, error) {
	text, ok := tag.Lookup(key)
	if !ok {
		return nil, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	return &n, err
}

func compile(schema *jsonschema.Schema) (*validator.Schema, error) {
	const address = "mem:///schema.json"
	document, err := validator.UnmarshalJSON(strings.NewReader(annotator.EncodeJSON(schema)))
	if err != nil {
		return nil, err
	}
	compiler := validator.NewCompiler()
	if err := compiler.AddResource(address, document); err != nil {
		return nil, err
	}
	return compiler.Compile(address)
}

// Limits of the list of problems.
const (
	maxProblems = 20
	maxProblem  = 300 // characters of each
)

// problems returns what is invalid in a value, sorted so that the same mistake always gets the same answer.
func (s *argumentSchema) problems(value any) []string {
	checker, err := s.validator()
	if err == nil {
		err = checker.Validate(value)
	}
	if err == nil {
		return nil
	}
	invalid := (*validator.ValidationError)(nil)
	if !errors.As(err, &invalid) {
		return []string{truncate(err.Error(), maxProblem)}
	}
	found := leafErrors(invalid, message.NewPrinter(language.English))
	slices.Sort(found)
	if more := len(found) - maxProblems; more > 0 {
		found = append(found[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return found
}

func leafErrors(err *validator.ValidationError, printer *message.Printer) []string {
	if more, ok := err.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(more.Properties) // they are in map order
	}
	if len(err.Causes) == 0 {
		where := cmp.Or(strings.Join(err.InstanceLocation, "."), "arguments")
		return []string{truncate(where+": "+err.ErrorKind.LocalizedString(printer), maxProblem)}
	}
	var found []string
	for _, cause := range err.Causes {
		found = append(found, leafErrors(cause, printer)...)
	}
	return found
}
