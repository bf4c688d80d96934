// Package tables writes measured figures into the tables of documents.
package tables

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Write replaces the tables of a document between <!-- name --> and <!-- end -->.
func Write(path string, tables map[string]string) error {
	if path == "-" {
		for name, text := range tables {
			fmt.Printf("%s\n\n%s\n", name, text)
		}
		return nil
	}
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	for name, text := range tables {
		begin, end := []byte("<!-- "+name+" -->\n"), []byte("<!-- end -->")
		before, rest, found := bytes.Cut(document, begin)
		_, after, closed := bytes.Cut(rest, end)
		if !found || !closed {
			return fmt.Errorf("%s has no place for the table %q", path, name)
		}
		document = bytes.Join([][]byte{before, begin, []byte("\n" + text + "\n"), end, after}, nil)
	}
	return os.WriteFile(path, document, 0o644)
}

// Markdown renders a table.
func Markdown(head []string, rows [][]string) string {
	var text strings.Builder
	line := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	text.WriteString("|" + strings.Repeat(" ---: |", len(head)) + "\n")
	for _, row := range rows {
		line(row)
	}
	return text.String()
}

// Count writes a number with commas between its thousands.
func Count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
