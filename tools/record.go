package tools

import (
	"encoding/json"

	"annotator"
)

// definitionRecord is the recorded form of a definition.
type definitionRecord struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// EncodeDefinitions returns the recorded form of definitions, the same for every wire: a run may change its wire.
func EncodeDefinitions(definitions []annotator.ToolDefinition) string {
	list := make([]definitionRecord, 0, len(definitions))
	for i := range definitions {
		d := &definitions[i]
		list = append(list, definitionRecord{d.Name, d.Description, d.Schema})
	}
	return annotator.EncodeJSON(list)
}

// DecodeDefinitions reads what EncodeDefinitions wrote. An empty record has no tools. An error has the kind
// annotator.Violation.
func DecodeDefinitions(record string) (definitions []annotator.ToolDefinition, err error) {
	var list []definitionRecord
	if record == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(record), &list); err != nil {
		return nil, annotator.Errorf(annotator.Violation, "the tools on record cannot be read: %w", err).
			WithReason(annotator.ReasonDatabaseDamaged)
	}
	for _, d := range list {
		definitions = append(definitions, annotator.ToolDefinition{
			Name: d.Name, Description: d.Description,
			Schema: d.Parameters,
		})
	}
	return definitions, nil
}
