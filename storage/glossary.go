package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// Glossary reads the entries as they are now. Inside the transaction of a tool it also writes.
type Glossary struct {
	q    querier
	path string
	tx   *tx   // nil for reading
	turn int64 // of the writes
}

const entryColumns = `e.id, e.term, e.disambiguator, e.status, e.first_at, e.last_at, e.revisions, e.revision, e.locked, e.merged_into, e.present, e.present_at, e.present_revision`

func scanEntry(rows *sql.Rows, e *annotator.Entry) error {
	return rows.Scan(&e.ID, &e.Term, &e.Disambiguator, &e.Status, &e.First, &e.Last, &e.Revisions, &e.Revision, &e.Locked, &e.MergedInto,
		&e.Present, &e.PresentAt, &e.PresentRevision)
}

// entries returns the entries that a query finds, in its order, with all their parts.
func (g *Glossary) entries(ctx context.Context, rest string, args ...any) ([]annotator.Entry, error) {
	found, err := collect(ctx, g.q, scanEntry, `SELECT `+entryColumns+` FROM glossary_entry e `+rest, args...)
	if err == nil && len(found) > 0 {
		index := byID(found)
		read := func(rows *sql.Rows) error { return readPart(rows, index) }
		err = sqlite.Each(ctx, g.q, read, parts, jsonList(slices.Collect(maps.Keys(index))))
	}
	if err != nil {
		return nil, sqlite.Wrap(err, "read the glossary in %s", g.path)
	}
	return found, nil
}

// parts reads the tags, aliases, claims and evidence of entries. It is one statement, because each would be a
// transaction of its own. Evidence comes after its claims. The rows of a part are sorted by the columns n, id and name.
const parts = `WITH chosen (entry_id) AS (SELECT value FROM json_each(?))
	SELECT 1 AS part, entry_id, 0 AS n, 0 AS id, tag AS name, '' AS text, '' AS kind, '' AS speaker, 0 AS a, 0 AS b, 0 AS c, 0 AS d, 0 AS revision
	  FROM chosen JOIN glossary_tag USING (entry_id)
	UNION ALL
	SELECT 2, entry_id, 0, 0, name_normalized, name, '', '', from_at, 0, 0, 0, 0 FROM chosen JOIN glossary_alias USING (entry_id)
	UNION ALL
	SELECT 3, entry_id, ord, id, '', text, kind, speaker, from_at, until_at, state, replaced_by, revision FROM chosen JOIN claim USING (entry_id)
	UNION ALL
	SELECT 4, entry_id, id, claim_id, '', quote, '', '', post_id, start_at, end_at, weak, 0 FROM chosen JOIN evidence USING (entry_id)
	ORDER BY part, n, id, name`

// readPart adds a part to its entry.
func readPart(rows *sql.Rows, index map[int64]*annotator.Entry) error {
	var part int
	var entry, n, id, a, b, c, d, revision int64
	var name, text, kind, speaker string
	if err := rows.Scan(&part, &entry, &n, &id, &name, &text, &kind, &speaker, &a, &b, &c, &d, &revision); err != nil {
		return err
	}
	switch e := index[entry]; part {
	case 1:
		e.Tags = append(e.Tags, name)
	case 2:
		e.Aliases = append(e.Aliases, annotator.Alias{Name: text, From: annotator.Place(a)})
	case 3:
		e.Claims = append(e.Claims, annotator.Claim{
			ID: id, Ord: int(n), Text: text, Kind: annotator.ClaimKind(kind), From: annotator.Place(a), Until: annotator.Place(b),
			Speaker: speaker, State: c != 0, ReplacedBy: d, Revision: revision,
		})
	case 4:
		for i := range e.Claims {
			if e.Claims[i].ID == id {
				quote := annotator.Evidence{Claim: id, Post: a, Start: int(b), End: int(c), Quote: text, Weak: d != 0}
				e.Claims[i].Evidence = append(e.Claims[i].Evidence, quote)
			}
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
	return oldest(found)
}

func oldest(found []annotator.Entry) (*annotator.Entry, error) {
	if len(found) == 0 {
		return nil, annotator.Errorf(annotator.NotFound, "there is no such entry")
	}
	return &found[0], nil
}

// Lookup returns the oldest live entry with a full name or, failing that, a term or alias; NotFound if there is none. A
// name that is unknown as it is spelled is looked up without its invisible characters, which older databases may have.
func (g *Glossary) Lookup(ctx context.Context, name string) (*annotator.Entry, error) {
	found, err := g.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	return oldest(found)
}

// Named returns the live entry with a full name or, failing that, those with the term or alias, the oldest first.
func (g *Glossary) Named(ctx context.Context, name string) ([]annotator.Entry, error) {
	found, err := g.named(ctx, codex.Normalize(name))
	if clean := codex.CleanName(name); err == nil && len(found) == 0 && clean != name {
		return g.named(ctx, codex.Normalize(clean))
	}
	return found, err
}

// named is Named for a normalised name.
func (g *Glossary) named(ctx context.Context, key string) ([]annotator.Entry, error) {
	found, err := g.entries(ctx, `WHERE e.term_normalized = ? AND e.status IN ('tentative', 'confirmed')`, key)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return g.entries(ctx, `JOIN glossary_alias a ON a.entry_id = e.id
		WHERE a.name_normalized = ? AND e.status IN ('tentative', 'confirmed') ORDER BY e.id`, key)
}

// Entries returns the entries with the given ids, by id. Ids without an entry are left out.
func (g *Glossary) Entries(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	found, err := g.entries(ctx, `WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id`, jsonList(ids))
	return byID(found), err
}

func byID(entries []annotator.Entry) map[int64]*annotator.Entry {
	index := make(map[int64]*annotator.Entry, len(entries))
	for i := range entries {
		index[entries[i].ID] = &entries[i]
	}
	return index
}

// ChangedSince returns the ids of those entries whose names, tags or facts have a revision newer than
// the one at which they were shown, other than by the turns, whose calls are shown. A confirmation, further evidence
// or a present statement does not count: they tell nothing that the facts do not.
func (g *Glossary) ChangedSince(ctx context.Context, shown []annotator.Shown, turns []int64) (map[int64]bool, error) {
	return g.changed(ctx, `SELECT DISTINCT r.entry_id FROM json_each(?1) s
		JOIN revision r ON r.entry_id = s.value ->> 'e' AND r.id > s.value ->> 'r'
		WHERE r.field IN ('term', 'alias', 'tag', 'claim') AND coalesce(r.turn, 0) NOT IN (SELECT value FROM json_each(?2))`, shown, turns)
}

// RenamedSince returns the ids of the entries whose names have changed, or that were retired or merged, since they were
// shown, other than by the turns, whose calls are shown: of the entries given, and of those that the turns have changed.
func (g *Glossary) RenamedSince(ctx context.Context, shown []annotator.Shown, turns []int64) (map[int64]bool, error) {
	return g.changed(ctx, `WITH turn(id) AS (SELECT value FROM json_each(?2)),
		  shown(entry, revision) AS (SELECT value ->> 'e', value ->> 'r' FROM json_each(?1)),
		  known(entry, revision) AS (SELECT entry, revision FROM shown
		    UNION ALL SELECT DISTINCT entry_id, 0 FROM revision WHERE turn IN turn AND entry_id NOT IN (SELECT entry FROM shown))
		SELECT DISTINCT known.entry FROM known JOIN revision r ON r.entry_id = known.entry AND r.id > known.revision
		WHERE r.field IN ('term', 'alias', 'merge', 'retired') AND coalesce(r.turn, 0) NOT IN turn`, shown, turns)
}

func (g *Glossary) changed(ctx context.Context, query string, shown []annotator.Shown, turns []int64) (map[int64]bool, error) {
	list, err := json.Marshal(append([]annotator.Shown{}, shown...))
	if err != nil {
		return nil, err
	}
	changed := map[int64]bool{}
	err = sqlite.Each(ctx, g.q, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		changed[id] = true
		return err
	}, query, string(list), jsonList(turns))
	return changed, sqlite.Wrap(err, "read the glossary in %s", g.path)
}

// Nearest returns the ids of at most so many live entries, those first that were changed last in the story.
func (g *Glossary) Nearest(ctx context.Context, limit int) ([]int64, error) {
	var ids []int64
	err := sqlite.Each(ctx, g.q, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM glossary_entry WHERE status IN ('tentative', 'confirmed') ORDER BY last_at DESC, id DESC LIMIT ?`, limit)
	return ids, sqlite.Wrap(err, "read the glossary in %s", g.path)
}

// QuotationOf is a quotation that supports a claim of an entry.
type QuotationOf struct {
	Entry int64
	Text  string
}

// IsMentioned reports whether a post of the scenes read so far holds a name of an entry.
func (g *Glossary) IsMentioned(ctx context.Context, entry int64) (is bool, err error) {
	err = g.q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM mention_total WHERE entry_id = ?)`, entry).Scan(&is)
	return is, sqlite.Wrap(err, "read the glossary in %s", g.path)
}

// OfPeople returns the first quotations, at most so many, of narrated claims of the live entries with the tag person, by
// entry and claim. It reads few more than these: CROSS JOIN keeps SQLite from beginning with the evidence, which grows with the story.
func (g *Glossary) OfPeople(ctx context.Context, limit int) (quotations []QuotationOf, err error) {
	err = sqlite.Each(ctx, g.q, func(rows *sql.Rows) error {
		var q QuotationOf
		err := rows.Scan(&q.Entry, &q.Text)
		quotations = append(quotations, q)
		return err
	}, `SELECT v.entry_id, v.quote FROM glossary_tag t CROSS JOIN glossary_entry e ON e.id = t.entry_id CROSS JOIN evidence v ON v.entry_id = e.id
		JOIN claim c ON c.entry_id = v.entry_id AND c.id = v.claim_id
		WHERE t.tag = 'person' AND e.status IN ('tentative', 'confirmed') AND c.kind = 'narrated'
		ORDER BY t.entry_id, v.claim_id, v.id LIMIT ?`, limit)
	return quotations, sqlite.Wrap(err, "read the glossary in %s", g.path)
}

// All yields every entry, live or not, by id. It reads page by page.
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

// Names returns the names of the live entries by their ids; with ids, of these entries only.
func (g *Glossary) Names(ctx context.Context, ids ...int64) (map[int64][]string, error) {
	// The plus keeps SQLite from using the index of statuses, which holds every entry, instead of that of ids.
	query := `SELECT e.id, a.name FROM glossary_entry e JOIN glossary_alias a ON a.entry_id = e.id WHERE +e.status IN ('tentative', 'confirmed')`
	var args []any
	if len(ids) > 0 {
		query, args = query+` AND e.id IN (SELECT value FROM json_each(?))`, append(args, jsonList(ids))
	}
	names := map[int64][]string{}
	err := sqlite.Each(ctx, g.q, func(rows *sql.Rows) error {
		var entry int64
		var name string
		err := rows.Scan(&entry, &name)
		names[entry] = append(names[entry], name)
		return err
	}, query, args...)
	return names, sqlite.Wrap(err, "read the names in %s", g.path)
}

const revisionColumns = `id, entry_id, field, old_value, new_value, at, seen, actor, turn, coalesce(trace_id, 0), changed_at`

// revisionColumnsOf returns them of a table that is joined with others.
func revisionColumnsOf(table string) string {
	return fmt.Sprintf(`%[1]s.id, %[1]s.entry_id, %[1]s.field, old_value, new_value, at, seen, actor, turn, coalesce(trace_id, 0), changed_at`, table)
}

func scanRevision(rows *sql.Rows, r *annotator.Revision) error {
	return rows.Scan(&r.ID, &r.Entry, &r.Field, &r.Old, &r.New, &r.At, &r.Seen, &r.Actor, &r.Turn, &r.Trace, &r.Changed)
}

// Revisions returns the history of an entry, oldest first.
func (g *Glossary) Revisions(ctx context.Context, entry int64) ([]annotator.Revision, error) {
	found, err := collect(ctx, g.q, scanRevision, `SELECT `+revisionColumns+` FROM revision WHERE entry_id = ? ORDER BY id`, entry)
	return found, sqlite.Wrap(err, "read the revisions of entry %d in %s", entry, g.path)
}

// OfScene returns the revisions that a scene has made, in order: in this turn, and in those in which it was refused.
func (g *Glossary) OfScene(ctx context.Context, scene int, turn int64) ([]annotator.Revision, error) {
	return collect(ctx, g.q, scanRevision, `SELECT `+revisionColumns+` FROM revision
		WHERE turn = ?2 OR turn IN (SELECT turn FROM refusal WHERE scene = ?1 AND turn > 0) ORDER BY id`, scene, turn)
}

// MostRevised returns the live entries with the most revisions, at most limit of them.
func (g *Glossary) MostRevised(ctx context.Context, limit int) ([]annotator.Entry, error) {
	return g.entries(ctx, `WHERE e.status IN ('tentative', 'confirmed') ORDER BY e.revisions DESC, e.id LIMIT ?`, limit)
}

// ChangedIn returns the entries that the turns of an episode created or changed, by id.
func (g *Glossary) ChangedIn(ctx context.Context, e *annotator.Episode) ([]annotator.Entry, error) {
	return g.entries(ctx, `WHERE e.id IN (SELECT r.entry_id FROM revision r JOIN trace t ON t.turn = r.turn AND t.seq = 0
		WHERE r.turn BETWEEN ? AND ? AND t.scene BETWEEN ? AND ?) ORDER BY e.id`, e.FromTurn, e.ToTurn, e.FromScene, e.ToScene)
}
