// Package codextest has shared helpers for tests of entries.
package codextest

import (
	"annotator"
	"annotator/codex"
)

// Replay returns the entries that result from revisions, by id. The revisions may belong to any number of entries and
// are ordered by id. A prefix of them gives an earlier state of the codex.
func Replay(revisions []annotator.Revision) (map[int64]*annotator.Entry, error) {
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
