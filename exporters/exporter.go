package exporters

import (
	"io"
	"slices"
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

// Filter selects the entries of an export.
type Filter struct {
	Statuses []annotator.Status // any of them; empty: the live ones
	Tags     []string           // all of them
}

// Select returns the selected entries, in their order.
func (f *Filter) Select(entries []annotator.Entry) []annotator.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e annotator.Entry) bool {
		lacks := func(tag string) bool { return !slices.Contains(e.Tags, tag) }
		if len(f.Statuses) == 0 && !e.Status.Live() || len(f.Statuses) > 0 && !slices.Contains(f.Statuses, e.Status) {
			return true
		}
		return slices.ContainsFunc(f.Tags, lacks)
	})
}
