package exporters

import (
	"slices"

	"annotator"
)

// Filter selects the entries of an export.
type Filter struct {
	Statuses []annotator.Status // any of them; empty: the live ones
	Tags     []string           // all of them
}

// Select returns the selected entries, in their order.
func (f *Filter) Select(entries []annotator.Entry) []annotator.Entry {
	var selected []annotator.Entry
	for i := range entries {
		if f.selects(&entries[i]) {
			selected = append(selected, entries[i])
		}
	}
	return selected
}

func (f *Filter) selects(e *annotator.Entry) bool {
	for _, tag := range f.Tags {
		if !slices.Contains(e.Tags, tag) {
			return false
		}
	}
	if len(f.Statuses) == 0 {
		return e.Status.Live()
	}
	return slices.Contains(f.Statuses, e.Status)
}
