package tools

import (
	"bytes"
	"encoding/json"

	"annotator"
)

// recorded is a definition as it is put on record.
type definitionRecord struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Record renders definitions as they are put on record. It is no wire's form, so that a run may change its wire: the same tools
// are the same bytes.
func EncodeDefinitions(definitions []annotator.ToolDefinition) (string, error) {
	list := make([]definitionRecord, 0, len(definitions))
	for i := range definitions {
		d := &definitions[i]
		list = append(list, definitionRecord{d.Name, d.Description, d.Schema})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(list); err != nil {
		return "", annotator.Errorf(annotator.Misused, "record the tools: %w", err)
	}
	return string(bytes.TrimSpace(out.Bytes())), nil
}

// FromRecord reads what Record wrote, or the form of chat completions, in which tools were once put on record. Nothing is no
// tools. The error is of kind annotator.Violation.
func DecodeDefinitions(record string) ([]annotator.ToolDefinition, error) {
	var list []struct {
		definitionRecord
		Function *definitionRecord `json:"function"`
	}
	if record == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(record), &list); err != nil {
		return nil, annotator.Errorf(annotator.Violation, "the tools on record cannot be read: %w", err).
			WithAdvice("check the database with annotator verify")
	}
	var definitions []annotator.ToolDefinition
	for i := range list {
		d := &list[i].definitionRecord
		if f := list[i].Function; f != nil {
			d = f
		}
		definitions = append(definitions, annotator.ToolDefinition{Name: d.Name, Description: d.Description, Schema: d.Parameters})
	}
	return definitions, nil
}
