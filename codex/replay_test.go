package codex_test

import (
	"annotator"
	"annotator/codex"
)

// replay returns the entries that revisions add up to, by id. The revisions may belong to any number of entries and are
// ordered by id. A prefix of them gives an earlier state of the codex.
func replay(revisions []annotator.Revision) (map[int64]*annotator.Entry, error) {
	entries := map[int64]*annotator.Entry{}
	for i := range revisions {
		r := &revisions[i]
		e := entries[r.Entry]
		if e == nil {
			e = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
			entries[r.Entry] = e
		}
		if err := codex.Apply(e, r); err != nil {
			return nil, err
		}
	}
	return entries, nil
}
