package main

import (
	"strings"
	"testing"

	"annotator"
)

func TestWrongSchemasAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "1 to 40 fields",
		"fields: []":                          "1 to 40 fields",
		"fields: [{name: a, colour: red}]":    "field colour not found",
		"fields: [{name: ''}]":                "field 1: EMPTY",
		"fields: [{name: a, type: date}]":     "the type is text or number",
		"fields: [{name: a}, {name: A}]":      `the field "A" comes twice`,
		"fields: [{name: a, kinds: ['']}]":    "EMPTY",
		"fields: [{name: a, one_of: ['']}]":   "EMPTY",
		"fields: [":                           "line 1",
		strings.Repeat("#", maxSchema) + "\n": "longer than",
	} {
		if _, err := parseSchema([]byte(text)); annotator.KindOf(err) != annotator.Misused ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, and not %q", text, err, want)
		}
	}
}

// FuzzSchema: a schema of any content is read, or refused as a wrong use.
func FuzzSchema(f *testing.F) {
	f.Add([]byte("fields:\n- name: level\n  type: number\n  kinds: [person]\n  examples: ['7']\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := parseSchema(text); err != nil && annotator.KindOf(err) != annotator.Misused {
			t.Fatal(err)
		}
	})
}
