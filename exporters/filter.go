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
	return slices.DeleteFunc(slices.Clone(entries), func(e annotator.Entry) bool {
		lacks := func(tag string) bool { return !slices.Contains(e.Tags, tag) }
		if len(f.Statuses) == 0 && !e.Status.Live() || len(f.Statuses) > 0 && !slices.Contains(f.Statuses, e.Status) {
			return true
		}
		return slices.ContainsFunc(f.Tags, lacks)
	})
}
