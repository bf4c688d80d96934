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

// Reader reads what was known at a limit: in the database, or in the transaction of a tool, which sees its own writes.
type Reader struct {
	q     querier
	path  string
	Limit Limit
}

// Reader returns a reader of the database.
func (db *DB) Reader(limit Limit) Reader { return Reader{db.read, db.path, limit} }

// Whole is the condition on the values v of entries that are read whole.
const Whole = ``

// Entries returns entries with the values that match a condition, and with the counts of all their revisions. The
// condition's arguments are numbered from 3. Ids without an entry are left out.
func (r Reader) Entries(ctx context.Context, ids []int64, condition string,
	args ...any,
) (map[int64]*annotator.Entry, error) {
	found, err := r.Sums(ctx, ids, condition, args...)
	if err == nil {
		err = r.count(ctx, found)
	}
	return found, sqlite.Wrap(err, "read the entries in %s", r.path)
}

// Sums is Entries without the counts.
func (r Reader) Sums(ctx context.Context, ids []int64, condition string,
	args ...any,
) (map[int64]*annotator.Entry, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return r.sum(ctx, valuesOfEntries+`WHERE `+r.Limit.InForce("v")+condition+` ORDER BY v.set_by`,
		append([]any{r.Limit.Bound(), List(ids)}, args...)...)
}

// sum returns the entries that the values of a query add up to.
func (r Reader) sum(ctx context.Context, query string, args ...any) (map[int64]*annotator.Entry, error) {
	values, presentScenes := map[int64][]annotator.Revision{}, map[int64]int{}
	err := sqlite.Each(ctx, r.q, func(rows *sql.Rows) error {
		var v annotator.Revision
		var key, json string
		var scene int
		err := rows.Scan(&v.ID, &v.Entry, &v.Field, &key, &json, &v.At, &scene)
		if scene != 0 {
			presentScenes[v.Entry] = scene
		}
		if err == nil {
			v.New, err = plain(v.Field, json)
		}
		if v.Field == annotator.FieldStatus {
			v.Field, v.New = statusField(annotator.Status(key), v.New)
		}
		list := values[v.Entry]
		if n := len(list); n == 0 || list[n-1].ID != v.ID { // a closed claim may be selected twice
			values[v.Entry] = append(list, v)
		}
		return err
	}, query, args...)
	if err != nil {
		return nil, sqlite.Wrap(err, "read the entries in %s", r.path)
	}
	found := make(map[int64]*annotator.Entry, len(values))
	for id, list := range values {
		found[id] = &annotator.Entry{ID: id, Status: annotator.Tentative}
		if err := codex.Sum(found[id], list); err != nil {
			return nil, sqlite.Wrap(err, "read entry %d in %s", id, r.path)
		}
		found[id].PresentScene = presentScenes[id]
	}
	return found, nil
}

// valuesOfEntries selects values v of the entries whose ids are listed in ?2.
const valuesOfEntries = `SELECT v.set_by, v.entry_id, v.field, v.key, v.json, coalesce(r.at, 0),
	coalesce((SELECT n FROM scene WHERE ord = r.at / 1000000), 0)
	FROM json_each(?2) c CROSS JOIN value v ON v.entry_id = c.value
	LEFT JOIN revision r ON r.id = v.set_by AND v.field = 'present' `

// heldValues selects the values that an edit and a prompt need of entries as they are now. It omits closed claims,
// because an entry may have thousands. It includes states that were closed after the present statement, because
// codex.Present needs them. It includes claims that a person has closed, because they do not come back.
const heldValues = valuesOfEntries + `WHERE v.field IN ('term', 'alias', 'tag', 'present', 'status', 'lock')
	AND v.ended_by IS NULL AND ?1 IS NULL
	UNION ALL SELECT v.set_by, v.entry_id, v.field, v.key, v.json, 0, 0 FROM json_each(?2) c
	  CROSS JOIN value v ON v.entry_id = c.value AND v.field = 'claim' AND v.holds = 1 AND v.ended_by IS NULL
	UNION ALL SELECT v.set_by, v.entry_id, v.field, v.key, v.json, 0, 0 FROM json_each(?2) c
	  CROSS JOIN value p ON p.entry_id = c.value AND p.field = 'present' AND p.ended_by IS NULL
	  CROSS JOIN value v ON v.entry_id = p.entry_id AND v.field = 'claim' AND v.holds = 0 AND v.ended_by IS NULL
	    AND v.set_by > p.set_by AND v.json ->> 'state'
	UNION ALL SELECT v.set_by, v.entry_id, v.field, v.key, v.json, 0, 0 FROM json_each(?2) c
	  CROSS JOIN value o ON o.entry_id = c.value AND o.field = 'claim' AND o.holds = 1 AND o.ended_by IS NULL
	  CROSS JOIN value v ON v.entry_id = o.entry_id AND v.field = 'evidence' AND v.holds = 1 AND v.ended_by IS NULL
	    AND v.key >= o.key || '/' AND v.key < o.key || '0'
	UNION ALL SELECT v.set_by, v.entry_id, v.field, v.key, v.json, 0, 0 FROM json_each(?2) c
	  CROSS JOIN value l ON l.entry_id = c.value AND l.field = 'lock' AND l.holds = 1 AND l.ended_by IS NULL
	    AND l.key >= 'fact/' AND l.key < 'fact0'
	  CROSS JOIN value v ON v.entry_id = l.entry_id AND v.field = 'claim' AND v.key = substr(l.key, 6) AND v.holds = 0
	    AND v.ended_by IS NULL
	ORDER BY 1`

// allHeld returns the entries with the given ids as they are now, by id, without the claims that were closed.
func (r Reader) allHeld(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	if len(ids) == 0 {
		return map[int64]*annotator.Entry{}, nil
	}
	found, err := r.sum(ctx, heldValues, nil, List(slices.Compact(slices.Sorted(slices.Values(ids)))))
	if err == nil {
		err = r.count(ctx, found)
	}
	return found, sqlite.Wrap(err, "read the entries in %s", r.path)
}

// held returns the entry with an id as it is now, without the claims that were closed; NotFound if there is none.
func (r Reader) held(ctx context.Context, id int64) (*annotator.Entry, error) {
	found, err := r.allHeld(ctx, []int64{id})
	if err == nil && found[id] == nil {
		err = noEntry(id)
	}
	return found[id], err
}

func noEntry(id int64) error { return annotator.Errorf(annotator.NotFound, "there is no entry %d", id) }

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

// count sets the counts of all revisions of entries.
func (r Reader) count(ctx context.Context, entries map[int64]*annotator.Entry) error {
	query := `SELECT r.entry_id, count(*), max(r.id), min(r.at), max(r.at), 0 FROM json_each(?2) c
		CROSS JOIN revision r ON r.entry_id = c.value
		WHERE ` + r.Limit.Made("r") + ` GROUP BY r.entry_id`
	if r.Limit.isNone() {
		query = `SELECT e.id, revisions, revision, first_at, last_at, claimed FROM json_each(?2) c
			CROSS JOIN entry e ON e.id = c.value WHERE ?1 IS NULL`
	}
	return sqlite.Each(ctx, r.q, func(rows *sql.Rows) error {
		var id int64
		var c annotator.Entry
		err := rows.Scan(&id, &c.Revisions, &c.Revision, &c.First, &c.Last, &c.Claimed)
		if e := entries[id]; e != nil {
			e.Revisions, e.Revision, e.First, e.Last = c.Revisions, c.Revision, c.First, c.Last
			e.Claimed = max(e.Claimed, c.Claimed)
		}
		return err
	}, query, r.Limit.Bound(), List(slices.Collect(maps.Keys(entries))))
}

// One returns the entry with an id; NotFound if there is none.
func (r Reader) One(ctx context.Context, id int64, condition string, args ...any) (*annotator.Entry, error) {
	found, err := r.Entries(ctx, []int64{id}, condition, args...)
	if err == nil && found[id] == nil {
		err = noEntry(id)
	}
	return found[id], err
}

// List returns the entries whose ids a query returns, in its order, as Glossary.Held does.
func (r Reader) List(ctx context.Context, query string, args ...any) ([]annotator.Entry, error) {
	ids, err := collect(ctx, r.q, ScanValue[int64], query, args...)
	if err != nil || len(ids) == 0 {
		return nil, sqlite.Wrap(err, "read the entries in %s", r.path)
	}
	entries, err := r.allHeld(ctx, ids)
	return InOrder(ids, entries), err
}

// All yields every entry, live or not, by id. It reads page by page.
func (r Reader) All(ctx context.Context) iter.Seq2[*annotator.Entry, error] {
	const page = 500
	return func(yield func(*annotator.Entry, error) bool) {
		for last := int64(0); ; {
			ids, err := collect(ctx, r.q, ScanValue[int64], `SELECT e.id FROM entry e
				WHERE e.id > ?2 AND EXISTS (SELECT 1 FROM value v WHERE v.entry_id = e.id AND v.field = 'term'
				  AND `+r.Limit.InForce("v")+`)
				ORDER BY e.id LIMIT ?3`, r.Limit.Bound(), last, page)
			var entries map[int64]*annotator.Entry
			if err == nil {
				entries, err = r.Entries(ctx, ids, Whole)
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

// InOrder returns the entries with some ids, in their order.
func InOrder(ids []int64, entries map[int64]*annotator.Entry) []annotator.Entry {
	list := make([]annotator.Entry, 0, len(ids))
	for _, id := range ids {
		if e := entries[id]; e != nil {
			list = append(list, *e)
		}
	}
	return list
}

// Revisions is the query for revisions r, each with the value n that it sets and the one that it ends, o.
const (
	revisionColumns = `r.id, r.entry_id, r.field, coalesce(o.key, ''), coalesce(o.json, ''), coalesce(n.json, ''), r.at,
		r.seen, r.actor, r.turn,
		coalesce(r.trace_id, 0), r.changed_at`
	revisionValues = ` LEFT JOIN value n ON n.id = ((r.seen << 20) | (r.id & 1048575))
		LEFT JOIN value o ON o.ended_by = r.id AND o.set_by < r.id`
	Revisions = `SELECT ` + revisionColumns + ` FROM revision r` + revisionValues
)

// ScanRevision scans a row of the query Revisions.
func ScanRevision(rows *sql.Rows, r *annotator.Revision) error { return scanRevisionAnd(rows, r) }

// scanRevisionAnd scans a row with more columns after those of revisionColumns.
func scanRevisionAnd(rows *sql.Rows, r *annotator.Revision, more ...any) error {
	var key, old, set string
	columns := []any{
		&r.ID, &r.Entry, &r.Field, &key, &old, &set, &r.At, &r.Seen, &r.Actor, &r.Turn, &r.Trace,
		&r.Changed,
	}
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
