package view

import (
	"context"
	"database/sql"
	"iter"

	"annotator"
	"annotator/storage"
)

// Histories yields the revisions of each entry, oldest first, by the entries' ids. It reads page by page.
func (v *View) Histories(ctx context.Context) iter.Seq2[[]annotator.Revision, error] {
	const page = 500 // entries
	return func(yield func([]annotator.Revision, error) bool) {
		var last int64
		err := v.r.Row(ctx, `SELECT coalesce(max(id), 0) FROM entry`).Scan(&last)
		for first := int64(1); err == nil && first <= last; first += page {
			var found []annotator.Revision
			found, err = readAll(ctx, v, "read the revisions", storage.ScanRevision, storage.Revisions+`
				WHERE r.entry_id BETWEEN ?2 AND ?3 AND `+v.r.Limit.Made("r")+` ORDER BY r.entry_id, r.id`,
				v.r.Limit.Bound(), first, first+page-1)
			for len(found) > 0 {
				n := 1
				for n < len(found) && found[n].Entry == found[0].Entry {
					n++
				}
				if !yield(found[:n:n], nil) {
					return
				}
				found = found[n:]
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Episodes returns the stories so far and the summaries of threads that were made before anything after the limit was
// read. They are ordered by age, oldest first. For each it returns the order of the scene from whose end it is known:
// the furthest that had been begun.
func (v *View) Episodes(ctx context.Context) (episodes []annotator.Episode, scenes []annotator.Order, err error) {
	within, bound := v.writtenWithin(`?1`)
	episodes, err = readAll(ctx, v, "read the summaries", storage.ScanEpisode,
		`SELECT `+storage.EpisodeColumns+` FROM episode WHERE kind <> 'chunk' AND instr(summary, ?2) <> 1 AND `+within+`
		ORDER BY id`, bound, annotator.NoStory)
	if err != nil {
		return nil, nil, err
	}
	type opening struct {
		row   int64
		scene annotator.Order
	}
	scan := func(rows *sql.Rows, o *opening) error { return rows.Scan(&o.row, &o.scene) }
	openings, err := readAll(ctx, v, "read the journal", scan, `SELECT id, s.ord
		FROM `+beginnings+` JOIN scene s ON s.n = scene ORDER BY id`)
	furthest := annotator.Order(0)
	for i := range episodes {
		for ; len(openings) > 0 && openings[0].row <= episodes[i].Trace; openings = openings[1:] {
			furthest = max(furthest, openings[0].scene)
		}
		scenes = append(scenes, furthest)
	}
	return episodes, scenes, err
}
