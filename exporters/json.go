package exporters

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes documents as JSON, indented by two spaces. Invalid UTF-8 is written as U+FFFD.
type JSON struct{}

// Name returns "json".
func (JSON) Name() string { return "json" }

// Write writes the document and a line feed.
func (JSON) Write(w io.Writer, doc *Document) error {
	around, err := encodeJSON(envelope(doc), "")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if _, err := out.Write(bytes.TrimSuffix(around, []byte("]\n}"))); err != nil {
		return err
	}
	separator, end := "\n    ", "]\n}\n"
	for i := range doc.Entries {
		text, err := encodeJSON(&doc.Entries[i], "    ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s%s", separator, text); err != nil {
			return err
		}
		separator, end = ",\n    ", "\n  ]\n}\n"
	}
	if _, err := out.WriteString(end); err != nil {
		return err
	}
	return out.Flush()
}

// encodeJSON encodes a value as indented JSON without a final line feed. All lines but the first begin with the prefix.
func encodeJSON(value any, prefix string) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
