package exporters

import (
	"io"
	"strings"

	"annotator"
)

// Exporter writes documents in one format.
type Exporter interface {
	// Name is the format's name on the command line.
	Name() string
	// Write writes the document entry by entry, so that its text is never in memory as a whole. It returns the errors
	// of w.
	Write(w io.Writer, doc *Document) error
}

// All returns an exporter for each format.
func All() []Exporter { return []Exporter{JSON{}, YAML{}} }

// ByName returns the exporter of a format. Its error is of kind annotator.Misused.
func ByName(name string) (Exporter, error) {
	var names []string
	for _, e := range All() {
		if e.Name() == name {
			return e, nil
		}
		names = append(names, e.Name())
	}
	return nil, annotator.Errorf(annotator.Misused, "export as %q: no such format", name).
		WithAdvice("choose one of: %s", strings.Join(names, ", "))
}

// envelope returns the document without its entries.
func envelope(doc *Document) *Document {
	empty := *doc
	empty.Entries = []Entry{}
	return &empty
}
