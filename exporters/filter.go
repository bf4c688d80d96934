package exporters

import (
	"slices"

	"annotator"
)

// Filter says which entries an export takes.
type Filter struct {
	Statuses []annotator.Status // any of them; if empty, those that are live
	Tags     []string           // all of them
}

// Select returns the entries that the filter takes, in their order.
func (f *Filter) Select(entries []annotator.Entry) []annotator.Entry {
	var taken []annotator.Entry
	for i := range entries {
		if f.takes(&entries[i]) {
			taken = append(taken, entries[i])
		}
	}
	return taken
}

func (f *Filter) takes(e *annotator.Entry) bool {
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
