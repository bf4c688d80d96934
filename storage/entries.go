package storage

import (
	"context"
	"database/sql"
	"iter"
	"maps"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// reader reads entries as of a moment.
type reader struct {
	q     querier
	path  string
	limit limit
}

// What of entries is read: conditions on their values v.
const (
	whole    = ``
	headings = ` AND v.field IN ('term', 'alias', 'tag', 'present', 'status', 'lock')` // each a range of the index
)

// entries returns entries with those of their values that match a condition, and what is counted of all their revisions.
// The condition's arguments are numbered from 3. Ids without an entry are left out.
func (r *reader) entries(ctx context.Context, ids []int64, condition string, args ...any) (map[int64]*annotator.Entry, error) {
	found, err := r.sums(ctx, ids, condition, args...)
	if err == nil {
		err = r.count(ctx, found)
	}
	return found, sqlite.Wrap(err, "read the entries in %s", r.path)
}

// sums is entries without what is counted.
func (r *reader) sums(ctx context.Context, ids []int64, condition string, args ...any) (map[int64]*annotator.Entry, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	values := make(map[int64][]annotator.Revision, len(ids))
	err := sqlite.Each(ctx, r.q, func(rows *sql.Rows) error {
		var v annotator.Revision
		var key, json string
		err := rows.Scan(&v.ID, &v.Entry, &v.Field, &key, &json, &v.At)
		if err == nil {
			v.New, err = plain(v.Field, json)
		}
		if v.Field == annotator.FieldStatus {
			v.Field, v.New = statusField(annotator.Status(key), v.New)
		}
		values[v.Entry] = append(values[v.Entry], v)
		return err
	}, `SELECT v.set_by, v.entry_id, v.field, v.key, v.json, coalesce(r.at, 0) FROM json_each(?2) c CROSS JOIN value v ON v.entry_id = c.value
		LEFT JOIN revision r ON r.id = v.set_by AND v.field = 'present'
		WHERE `+r.limit.inForce("v")+condition+` ORDER BY v.set_by`, append([]any{r.limit.bound, jsonList(ids)}, args...)...)
	if err != nil {
		return nil, sqlite.Wrap(err, "read the entries in %s", r.path)
	}
	found := make(map[int64]*annotator.Entry, len(values))
	for id, list := range values {
		found[id] = &annotator.Entry{ID: id, Status: annotator.Tentative}
		if err := codex.Sum(found[id], list); err != nil {
			return nil, sqlite.Wrap(err, "read entry %d in %s", id, r.path)
		}
	}
	return found, nil
}

// statusField returns the field and the new value of the revision that sets a status.
func statusField(status annotator.Status, text string) (annotator.Field, string) {
	switch status {
	case annotator.Retired:
		return annotator.FieldRetired, text
	case annotator.Merged:
		return annotator.FieldMerge, text
	}
	return annotator.FieldStatus, string(status)
}

// count sets what entries have of all their revisions.
func (r *reader) count(ctx context.Context, entries map[int64]*annotator.Entry) error {
	query := `SELECT r.entry_id, count(*), max(r.id), min(r.at), max(r.at) FROM json_each(?2) c CROSS JOIN revision r ON r.entry_id = c.value
		WHERE ` + r.limit.made("r") + ` GROUP BY r.entry_id`
	if r.limit.bound == nil {
		query = `SELECT e.id, revisions, revision, first_at, last_at FROM json_each(?2) c CROSS JOIN entry e ON e.id = c.value WHERE ?1 IS NULL`
	}
	return sqlite.Each(ctx, r.q, func(rows *sql.Rows) error {
		var id int64
		var c annotator.Entry
		err := rows.Scan(&id, &c.Revisions, &c.Revision, &c.First, &c.Last)
		if e := entries[id]; e != nil {
			e.Revisions, e.Revision, e.First, e.Last = c.Revisions, c.Revision, c.First, c.Last
		}
		return err
	}, query, r.limit.bound, jsonList(slices.Collect(maps.Keys(entries))))
}

// one returns the entry with an id; NotFound if there is none.
func (r *reader) one(ctx context.Context, id int64, condition string, args ...any) (*annotator.Entry, error) {
	found, err := r.entries(ctx, []int64{id}, condition, args...)
	if err == nil && found[id] == nil {
		err = annotator.Errorf(annotator.NotFound, "there is no entry %d", id)
	}
	return found[id], err
}

// list returns the entries whose ids a query returns, in its order.
func (r *reader) list(ctx context.Context, query string, args ...any) ([]annotator.Entry, error) {
	ids, err := collect(ctx, r.q, scanValue[int64], query, args...)
	if err != nil || len(ids) == 0 {
		return nil, sqlite.Wrap(err, "read the entries in %s", r.path)
	}
	entries, err := r.entries(ctx, ids, whole)
	return inOrder(ids, entries), err
}

// all yields every entry, live or not, by id. It reads page by page.
func (r *reader) all(ctx context.Context) iter.Seq2[*annotator.Entry, error] {
	const page = 500
	return func(yield func(*annotator.Entry, error) bool) {
		for last := int64(0); ; {
			ids, err := collect(ctx, r.q, scanValue[int64], `SELECT e.id FROM entry e
				WHERE e.id > ?2 AND EXISTS (SELECT 1 FROM value v WHERE v.entry_id = e.id AND v.field = 'term' AND `+r.limit.inForce("v")+`)
				ORDER BY e.id LIMIT ?3`, r.limit.bound, last, page)
			var entries map[int64]*annotator.Entry
			if err == nil {
				entries, err = r.entries(ctx, ids, whole)
			}
			if err != nil {
				yield(nil, sqlite.Wrap(err, "read the entries in %s", r.path))
				return
			}
			for _, last = range ids {
				if !yield(entries[last], nil) {
					return
				}
			}
			if len(ids) < page {
				return
			}
		}
	}
}

// inOrder returns the entries with some ids, in their order.
func inOrder(ids []int64, entries map[int64]*annotator.Entry) []annotator.Entry {
	list := make([]annotator.Entry, 0, len(ids))
	for _, id := range ids {
		if e := entries[id]; e != nil {
			list = append(list, *e)
		}
	}
	return list
}

// live is a condition on an entry with a term t, of which no value s in force is a status that takes it out of the codex.
func (l *limit) live(entry string) string {
	return `NOT EXISTS (SELECT 1 FROM value s WHERE s.entry_id = ` + entry + ` AND s.field = 'status' AND s.key IN ('retired', 'merged') AND ` + l.inForce("s") + `)`
}

// A revision is read with the value that it sets and the one that it ends.
const (
	revisionColumns = `r.id, r.entry_id, r.field, coalesce(o.key, ''), coalesce(o.json, ''), coalesce(n.json, ''), r.at, r.seen, r.actor, r.turn,
		coalesce(r.trace_id, 0), r.changed_at`
	revisionValues = ` LEFT JOIN value n ON n.id = ((r.seen << 20) | (r.id & 1048575)) LEFT JOIN value o ON o.ended_by = r.id AND o.set_by < r.id`
	revisions      = `SELECT ` + revisionColumns + ` FROM revision r` + revisionValues
)

func scanRevision(rows *sql.Rows, r *annotator.Revision) error { return scanRevisionAnd(rows, r) }

// scanRevisionAnd scans a row with more columns after those of revisionColumns.
func scanRevisionAnd(rows *sql.Rows, r *annotator.Revision, more ...any) error {
	var key, old, set string
	columns := []any{&r.ID, &r.Entry, &r.Field, &key, &old, &set, &r.At, &r.Seen, &r.Actor, &r.Turn, &r.Trace, &r.Changed}
	err := rows.Scan(append(columns, more...)...)
	if err == nil {
		r.New, err = plain(r.Field, set)
	}
	switch r.Field {
	case annotator.FieldStatus, annotator.FieldRetired, annotator.FieldMerge:
		if r.Old = key; key == "" {
			r.Old = string(annotator.Tentative)
		}
		return err
	}
	if err == nil {
		r.Old, err = plain(r.Field, old)
	}
	return err
}
