package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// row is a row of a table, by column.
type row map[string]any

// statement is SQL with its arguments.
type statement struct {
	query string
	args  []any
}

// insert is the statement that makes a row.
func insert(table string, r row) statement {
	columns := slices.Sorted(maps.Keys(r))
	return statement{
		`INSERT INTO ` + table + ` (` + strings.Join(columns, `, `) + `) VALUES (?` + strings.Repeat(`, ?`, len(columns)-1) + `)`,
		r.values(columns),
	}
}

// update is the statement that gives a row these values; the key finds it.
func update(table string, r row, key string) statement {
	columns := slices.DeleteFunc(slices.Sorted(maps.Keys(r)), func(c string) bool { return c == key })
	return statement{
		`UPDATE ` + table + ` SET ` + strings.Join(columns, ` = ?, `) + ` = ? WHERE ` + key + ` = ?`,
		r.values(append(columns, key)),
	}
}

func (r row) values(columns []string) []any {
	values := make([]any, len(columns))
	for i, column := range columns {
		values[i] = r[column]
	}
	return values
}

// queue is rows that are taken in order.
type queue struct{ rows []row }

func (q *queue) more() bool { return len(q.rows) > 0 }

func (q *queue) peek() row { return q.rows[0] }

func (q *queue) take() row {
	r := q.rows[0]
	q.rows = q.rows[1:]
	return r
}

// record is what a finished run left in its database.
type record struct {
	trace, calls, scenes, snapshots, compactions, revisions queue
}

func readRecord(ctx context.Context, path string) (*record, error) {
	pool, err := sqlite.Open(ctx, path, sqlite.ReadOnly, 1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }()
	var r record
	for _, part := range []struct {
		queue *queue
		query string
	}{
		{&r.trace, `SELECT * FROM trace WHERE kind <> 'prompt' ORDER BY id`},
		{&r.calls, `SELECT * FROM call ORDER BY id`},
		{&r.scenes, `SELECT s.*, t.last_scene, t.completed_at, t.started_at AS thread_started_at FROM scene s JOIN thread_state t USING (thread_id) ORDER BY n`},
		{&r.snapshots, `SELECT * FROM snapshot ORDER BY id`},
		{&r.compactions, `SELECT * FROM compaction ORDER BY trace_id`},
		{&r.revisions, `SELECT * FROM revision ORDER BY id`},
	} {
		if err := eachRow(ctx, pool, func(found row) { part.queue.rows = append(part.queue.rows, found) }, part.query); err != nil {
			return nil, fmt.Errorf("read the run in %s: %w", path, err)
		}
	}
	return &r, nil
}

func eachRow(ctx context.Context, pool *sql.DB, yield func(row), query string) error {
	rows, err := pool.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		r := row{}
		for i, column := range columns {
			r[column] = values[i]
		}
		yield(r)
	}
	return rows.Err()
}

func revisionOf(r row) *annotator.Revision {
	return &annotator.Revision{
		ID: r["id"].(int64), Entry: r["entry_id"].(int64), Field: annotator.Field(r["field"].(string)), Old: r["old_value"].(string),
		New: r["new_value"].(string), At: annotator.Place(r["at"].(int64)),
	}
}

func entryRow(e *annotator.Entry) row {
	names := make([]string, len(e.Aliases))
	for i := range e.Aliases {
		names[i] = e.Aliases[i].Name
	}
	return row{
		"id": e.ID, "term": e.Term, "disambiguator": e.Disambiguator, "term_normalized": codex.Normalize(e.Name()),
		"names": strings.Join(names, "\n"), "definition": e.Definition(), "status": string(e.Status), "first_at": int64(e.First),
		"last_at": int64(e.Last), "revisions": int64(e.Revisions), "revision": e.Revision, "locked": int64(0), "merged_into": int64(0),
	}
}

// partOf is the row that a revision makes beside its entry's own. The scripted model only ever adds.
func partOf(r *annotator.Revision) ([]statement, error) {
	switch r.Field {
	case annotator.FieldTag:
		return []statement{insert("glossary_tag", row{"entry_id": r.Entry, "tag": r.New})}, nil
	case annotator.FieldAlias:
		var a annotator.Alias
		err := json.Unmarshal([]byte(r.New), &a)
		return []statement{insert("glossary_alias", row{
			"entry_id": r.Entry, "name_normalized": codex.Normalize(a.Name), "name": a.Name, "from_at": int64(a.From),
		})}, err
	case annotator.FieldClaim:
		var c annotator.Claim
		err := json.Unmarshal([]byte(r.New), &c)
		return []statement{insert("claim", row{
			"entry_id": r.Entry, "id": c.ID, "ord": int64(c.Ord), "text": c.Text, "kind": string(c.Kind), "from_at": int64(c.From),
		})}, err
	case annotator.FieldEvidence:
		var v annotator.Evidence
		err := json.Unmarshal([]byte(r.New), &v)
		return []statement{insert("evidence", row{
			"entry_id": r.Entry, "claim_id": v.Claim, "post_id": v.Post, "start_at": int64(v.Start), "end_at": int64(v.End), "quote": v.Quote,
		})}, err
	case annotator.FieldTerm, annotator.FieldStatus:
		return nil, nil // the entry's own row has it
	}
	return nil, fmt.Errorf("the bare loop does not know revisions of %s", r.Field)
}
