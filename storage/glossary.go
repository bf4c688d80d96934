package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"iter"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// Glossary is the codex as it stands now, for reading. Inside a tool's transaction it also writes.
type Glossary struct {
	q    querier
	path string
	tx   *tx   // nil for reading
	turn int64 // of the writes
}

// Glossary returns the codex for reading.
func (db *DB) Glossary() *Glossary { return &Glossary{q: db.read, path: db.path} }

const entryColumns = `e.id, e.term, e.disambiguator, e.status, e.first_at, e.last_at, e.revisions, e.revision, e.locked, e.merged_into`

func scanEntry(rows *sql.Rows, e *annotator.Entry) error {
	return rows.Scan(&e.ID, &e.Term, &e.Disambiguator, &e.Status, &e.First, &e.Last, &e.Revisions, &e.Revision, &e.Locked, &e.MergedInto)
}

// entries reads the entries that a query finds, in its order, each whole.
func (g *Glossary) entries(ctx context.Context, rest string, args ...any) ([]annotator.Entry, error) {
	found, err := collect(ctx, g.q, scanEntry, `SELECT `+entryColumns+` FROM glossary_entry e `+rest, args...)
	if err == nil && len(found) > 0 {
		err = g.fill(ctx, found)
	}
	if err != nil {
		return nil, sqlite.Wrap(err, "read the glossary in %s", g.path)
	}
	return found, nil
}

// fill reads tags, aliases, claims and evidence: one query each, however many entries there are.
func (g *Glossary) fill(ctx context.Context, entries []annotator.Entry) error {
	byID := make(map[int64]*annotator.Entry, len(entries))
	ids := make([]int64, len(entries))
	for i := range entries {
		ids[i], byID[entries[i].ID] = entries[i].ID, &entries[i]
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	parts := []struct {
		query string
		read  func(*sql.Rows) error
	}{
		{
			`SELECT entry_id, tag FROM glossary_tag WHERE entry_id IN (SELECT value FROM json_each(?)) ORDER BY entry_id, tag`,
			func(rows *sql.Rows) error { return readTag(rows, byID) },
		},
		{
			`SELECT entry_id, name, from_at FROM glossary_alias WHERE entry_id IN (SELECT value FROM json_each(?))
			ORDER BY entry_id, name_normalized`,
			func(rows *sql.Rows) error { return readAlias(rows, byID) },
		},
		{
			`SELECT entry_id, id, ord, text, kind, from_at, until_at FROM claim WHERE entry_id IN (SELECT value FROM json_each(?))
			ORDER BY entry_id, ord, id`,
			func(rows *sql.Rows) error { return readClaim(rows, byID) },
		},
		{
			`SELECT entry_id, claim_id, post_id, start_at, end_at, quote FROM evidence WHERE entry_id IN (SELECT value FROM json_each(?))
			ORDER BY id`,
			func(rows *sql.Rows) error { return readEvidence(rows, byID) },
		},
	}
	for _, part := range parts {
		if err := each(ctx, g.q, part.read, part.query, string(list)); err != nil {
			return err
		}
	}
	return nil
}

func each(ctx context.Context, q querier, read func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func readTag(rows *sql.Rows, byID map[int64]*annotator.Entry) error {
	var id int64
	var tag string
	if err := rows.Scan(&id, &tag); err != nil {
		return err
	}
	byID[id].Tags = append(byID[id].Tags, tag)
	return nil
}

func readAlias(rows *sql.Rows, byID map[int64]*annotator.Entry) error {
	var id int64
	var alias annotator.Alias
	if err := rows.Scan(&id, &alias.Name, &alias.From); err != nil {
		return err
	}
	byID[id].Aliases = append(byID[id].Aliases, alias)
	return nil
}

func readClaim(rows *sql.Rows, byID map[int64]*annotator.Entry) error {
	var id int64
	var c annotator.Claim
	if err := rows.Scan(&id, &c.ID, &c.Ord, &c.Text, &c.Kind, &c.From, &c.Until); err != nil {
		return err
	}
	byID[id].Claims = append(byID[id].Claims, c)
	return nil
}

func readEvidence(rows *sql.Rows, byID map[int64]*annotator.Entry) error {
	var id int64
	var v annotator.Evidence
	if err := rows.Scan(&id, &v.Claim, &v.Post, &v.Start, &v.End, &v.Quote); err != nil {
		return err
	}
	claims := byID[id].Claims
	for i := range claims {
		if claims[i].ID == v.Claim {
			claims[i].Evidence = append(claims[i].Evidence, v)
		}
	}
	return nil
}

// Entry returns the entry with an id, live or not; NotFound if there is none.
func (g *Glossary) Entry(ctx context.Context, id int64) (*annotator.Entry, error) {
	return g.one(ctx, `WHERE e.id = ?`, id)
}

func (g *Glossary) one(ctx context.Context, where string, args ...any) (*annotator.Entry, error) {
	found, err := g.entries(ctx, where+` LIMIT 1`, args...)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, annotator.Errorf(annotator.NotFound, "there is no such entry")
	}
	return &found[0], nil
}

// Lookup returns the live entry of which the given name is the full name or, failing that, the term or an alias; the
// oldest where there are several. NotFound if there is none.
func (g *Glossary) Lookup(ctx context.Context, name string) (*annotator.Entry, error) {
	key := codex.Normalize(name)
	e, err := g.one(ctx, `WHERE e.term_normalized = ? AND e.status IN ('tentative', 'confirmed')`, key)
	if annotator.KindOf(err) != annotator.NotFound {
		return e, err
	}
	return g.one(ctx, `JOIN glossary_alias a ON a.entry_id = e.id
		WHERE a.name_normalized = ? AND e.status IN ('tentative', 'confirmed') ORDER BY e.id`, key)
}

// Entries returns the entries with the given ids that there are, by id.
func (g *Glossary) Entries(ctx context.Context, ids []int64) ([]annotator.Entry, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return g.entries(ctx, `WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id`, string(list))
}

// Rewritten returns those of the entries whose names, tags or definition have a later revision than the one as of which they were
// shown. That an entry is confirmed or has another quotation to it makes it read no other way.
func (g *Glossary) Rewritten(ctx context.Context, shown []annotator.Shown) (map[int64]bool, error) {
	list, err := encodeShows(shown)
	if err != nil || list == "" {
		return nil, err
	}
	rewritten := map[int64]bool{}
	err = each(ctx, g.q, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		rewritten[id] = true
		return err
	}, `SELECT DISTINCT r.entry_id FROM json_each(?) s JOIN revision r ON r.entry_id = s.value ->> 'e' AND r.id > s.value ->> 'r'
		WHERE r.field IN ('term', 'alias', 'tag', 'claim')`, list)
	return rewritten, sqlite.Wrap(err, "read the glossary in %s", g.path)
}

// All yields every entry, live or not, by id; it reads some hundreds at a time.
func (g *Glossary) All(ctx context.Context) iter.Seq2[*annotator.Entry, error] {
	const page = 500
	return func(yield func(*annotator.Entry, error) bool) {
		for last := int64(0); ; {
			entries, err := g.entries(ctx, `WHERE e.id > ? ORDER BY e.id LIMIT ?`, last, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range entries {
				last = entries[i].ID
				if !yield(&entries[i], nil) {
					return
				}
			}
			if len(entries) < page {
				return
			}
		}
	}
}

// Name is one of the names by which an entry is known.
type Name struct {
	Entry int64
	Name  string
}

// Names returns all names of the live entries; with ids, those of these entries only.
func (g *Glossary) Names(ctx context.Context, ids ...int64) ([]Name, error) {
	// The plus keeps the index of states, which holds every entry, from being taken for that of ids.
	query := `SELECT e.id, a.name FROM glossary_entry e JOIN glossary_alias a ON a.entry_id = e.id WHERE +e.status IN ('tentative', 'confirmed')`
	var args []any
	if len(ids) > 0 {
		list, err := json.Marshal(ids)
		if err != nil {
			return nil, err
		}
		query, args = query+` AND e.id IN (SELECT value FROM json_each(?))`, append(args, string(list))
	}
	names, err := collect(ctx, g.q, func(rows *sql.Rows, n *Name) error { return rows.Scan(&n.Entry, &n.Name) }, query, args...)
	return names, sqlite.Wrap(err, "read the names in %s", g.path)
}

const revisionColumns = `id, entry_id, field, old_value, new_value, at, actor, turn, coalesce(trace_id, 0), changed_at`

func scanRevision(rows *sql.Rows, r *annotator.Revision) error {
	return rows.Scan(&r.ID, &r.Entry, &r.Field, &r.Old, &r.New, &r.At, &r.Actor, &r.Turn, &r.Trace, &r.Changed)
}

// Revisions returns the history of an entry, oldest first.
func (g *Glossary) Revisions(ctx context.Context, entry int64) ([]annotator.Revision, error) {
	found, err := collect(ctx, g.q, scanRevision, `SELECT `+revisionColumns+` FROM revision WHERE entry_id = ? ORDER BY id`, entry)
	return found, sqlite.Wrap(err, "read the revisions of entry %d in %s", entry, g.path)
}
