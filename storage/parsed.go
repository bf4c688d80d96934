package storage

import (
	"bytes"
	"encoding/json"

	"annotator"
)

// storedParsed is the parsed form of a row as it is stored. Of a call's parsed arguments it has only what parsing has
// changed. This is a merge patch (RFC 7396) of the arguments that the model wrote, as SQLite's json_patch takes it.
type storedParsed struct {
	annotator.Parsed
	Patch map[string]any `json:"patch,omitzero"`
}

// encodeParsed returns the parsed form of a row as JSON; empty for none.
func encodeParsed(row *annotator.Trace) string {
	p := storedParsed{Parsed: row.Parsed}
	if p.Tool == row.Tool {
		if patch := patchOf(row.Arguments, p.Arguments); patch != nil {
			p.Tool, p.Arguments, p.Patch = "", nil, patch
		}
	}
	if text := annotator.EncodeJSON(p); text != "{}" {
		return text
	}
	return ""
}

// decodeParsed sets the parsed form of a row of which the other columns are set.
func decodeParsed(row *annotator.Trace, stored string) error {
	var p storedParsed
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		return err
	}
	if row.Parsed = p.Parsed; p.Patch != nil {
		row.Parsed.Tool, row.Parsed.Arguments = row.Tool, patched(row.Arguments, p.Patch)
	}
	return nil
}

// patchOf returns what turns written arguments into parsed ones; nil if no patch does exactly that.
func patchOf(written string, parsed []byte) map[string]any {
	var from, to map[string]any
	if json.Unmarshal([]byte(written), &from) != nil || json.Unmarshal(parsed, &to) != nil {
		return nil
	}
	patch := map[string]any{}
	for key := range from {
		if _, kept := to[key]; !kept {
			patch[key] = nil
		}
	}
	for key, value := range to {
		if annotator.EncodeJSON(value) == annotator.EncodeJSON(from[key]) {
			continue
		}
		if _, object := value.(map[string]any); object { // which SQLite would merge with the one that is there
			return nil
		}
		patch[key] = value
	}
	if !bytes.Equal(patched(written, patch), parsed) {
		return nil
	}
	return patch
}

// patched returns arguments with a patch, in canonical form. Arguments that are no object are an empty one.
func patched(written string, patch map[string]any) json.RawMessage {
	object := map[string]any{}
	_ = json.Unmarshal([]byte(written), &object) // an object, as patchOf has found; verify compares the row's hash
	for key, value := range patch {
		if object[key] = value; value == nil {
			delete(object, key)
		}
	}
	return json.RawMessage(annotator.EncodeJSON(object))
}
