package exporters

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// writeJSON writes a document as JSON, indented by two spaces. It encodes one entry at a time, to save memory. Invalid
// UTF-8 is written as U+FFFD.
func writeJSON(w io.Writer, doc *Document) error {
	out := bufio.NewWriter(w) // Flush returns its first error
	fmt.Fprintf(out, "%s", bytes.TrimSuffix(encodeJSON(envelope(doc), ""), []byte("]\n}")))
	separator, end := "\n    ", "]\n}\n"
	for i := range doc.Entries {
		fmt.Fprintf(out, "%s%s", separator, encodeJSON(&doc.Entries[i], "    "))
		separator, end = ",\n    ", "\n  ]\n}\n"
	}
	fmt.Fprint(out, end)
	return out.Flush()
}

// envelope returns the document without its entries.
func envelope(doc *Document) *Document {
	empty := *doc
	empty.Entries = []Entry{}
	return &empty
}

// encodeJSON encodes a value as indented JSON without a final line feed. All lines but the first begin with the prefix.
func encodeJSON(value any, prefix string) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // a document has strings and numbers only
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
