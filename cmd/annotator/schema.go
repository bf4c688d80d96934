package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"annotator"
	"annotator/codex"

	"gopkg.in/yaml.v3"
)

// The most that a schema may have.
const (
	maxSchema    = 64 << 10 // bytes
	maxFields    = 40
	maxFieldText = 300 // code points of a description
)

// readSchema reads the fields that a user wants entries to have; nil for no file.
func readSchema(path string) ([]codex.UserField, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.NotFound, "read the schema: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxSchema+1))
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read the schema: %w", err)
	}
	fields, err := parseSchema(text)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "%s: %w", path, err).
			WithAdvice("a schema is a list: `fields: [{name: level, type: number, kinds: [person]}]`")
	}
	return fields, nil
}

// parseSchema reads the text of a schema. Its errors are of kind annotator.Misused.
func parseSchema(text []byte) ([]codex.UserField, error) {
	if len(text) > maxSchema {
		return nil, annotator.Errorf(annotator.Misused, "the schema is longer than %d bytes", maxSchema)
	}
	var schema struct {
		Fields []codex.UserField `yaml:"fields"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&schema); err != nil && !errors.Is(err, io.EOF) {
		return nil, annotator.Errorf(annotator.Misused, "%w", err)
	}
	if n := len(schema.Fields); n == 0 || n > maxFields {
		return nil, annotator.Errorf(annotator.Misused, "a schema has 1 to %d fields, and not %d", maxFields, n)
	}
	seen := map[string]bool{}
	for i := range schema.Fields {
		f := &schema.Fields[i]
		if err := checkField(f); err != nil {
			return nil, annotator.Errorf(annotator.Misused, "field %d: %w", i+1, err)
		}
		key := codex.Normalize(f.Name)
		if seen[key] {
			return nil, annotator.Errorf(annotator.Misused, "the field %q comes twice", f.Name)
		}
		seen[key] = true
	}
	return schema.Fields, nil
}

// checkField checks and cleans a field.
func checkField(f *codex.UserField) (err error) {
	if f.Name, err = codex.Text("name", codex.CleanName(f.Name), codex.MaxTag); err != nil {
		return err
	}
	if f.Description != "" {
		if f.Description, err = codex.Text("description", codex.CleanName(f.Description), maxFieldText); err != nil {
			return err
		}
	}
	if !slices.Contains([]string{"", "text", "number"}, f.Type) {
		return annotator.Errorf(annotator.Misused, "the type is text or number, and not %.40q; one_of lists values",
			f.Type)
	}
	if f.Kinds != nil {
		if f.Kinds, err = codex.Tags(f.Kinds); err != nil {
			return err
		}
	}
	for _, values := range [][]string{f.OneOf, f.Examples} {
		if len(values) > codex.MaxItems {
			return annotator.Errorf(annotator.Misused, "%s has more than %d values", f.Name, codex.MaxItems)
		}
		for i := range values {
			if values[i], err = codex.Text("value", codex.CleanName(values[i]), codex.MaxTag); err != nil {
				return err
			}
		}
	}
	return nil
}
