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

// Glossary reads the entries as they are now. Inside the transaction of a tool it also writes.
type Glossary struct {
	q    querier
	path string
	tx   *tx   // nil for reading
	turn int64 // of the writes
}

// Reader returns a reader of the entries as they are now.
func (g *Glossary) Reader() Reader { return Reader{q: g.q, path: g.path} }

// Entry returns the entry with an id, live or not; NotFound if there is none. It omits closed claims, because an entry
// may have thousands.
func (g *Glossary) Entry(ctx context.Context, id int64) (*annotator.Entry, error) {
	return g.Reader().held(ctx, id)
}

// WholeEntry is Entry with all claims.
func (g *Glossary) WholeEntry(ctx context.Context, id int64) (*annotator.Entry, error) {
	return g.Reader().One(ctx, id, Whole)
}

// Named returns the live entry with a full name or, failing that, those with the term or alias, the oldest first, each
// as Entry does. A name that is unknown as it is spelled is looked up without its invisible characters.
func (g *Glossary) Named(ctx context.Context, name string) ([]annotator.Entry, error) {
	found, err := g.named(ctx, codex.Normalize(name))
	if clean := codex.CleanName(name); err == nil && len(found) == 0 && clean != name {
		return g.named(ctx, codex.Normalize(clean))
	}
	return found, err
}

// named is Named for a normalised name.
func (g *Glossary) named(ctx context.Context, key string) ([]annotator.Entry, error) {
	found, err := g.Reader().List(ctx, `SELECT id FROM entry WHERE name = ?`, key)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return g.Reader().List(ctx, `SELECT e.id FROM value v JOIN entry e ON e.id = v.entry_id
		WHERE v.field = 'alias' AND v.key = ? AND v.ended_by IS NULL AND e.name IS NOT NULL ORDER BY e.id`, key)
}

// Quoting returns the live entries with quotations of a post, by id, as Entry does.
func (g *Glossary) Quoting(ctx context.Context, post int64) ([]annotator.Entry, error) {
	return g.Reader().List(ctx, `SELECT DISTINCT e.id FROM value v JOIN entry e ON e.id = v.entry_id
		WHERE v.field = 'evidence' AND v.json ->> 'post' = ? AND v.ended_by IS NULL AND e.name IS NOT NULL
		ORDER BY e.id`, post)
}

// Entries returns the entries with the given ids, by id. Ids without an entry are left out.
func (g *Glossary) Entries(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	return g.Reader().Entries(ctx, ids, Whole)
}

// ChangedSince returns the ids of the entries whose names, tags or facts have changed after the revision at which they
// were shown. Changes by the given turns do not count, because their calls are shown. A confirmation, further evidence
// and a present statement do not count, because they add nothing to the facts. With named, it returns those that were
// renamed, retired or merged, also of the entries that the turns have changed.
func (g *Glossary) ChangedSince(ctx context.Context, shown []annotator.Shown, turns []int64,
	named bool,
) (map[int64]bool, error) {
	query := changedSince
	if named {
		query = renamedSince
	}
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
	}, query, string(list), List(turns))
	return changed, sqlite.Wrap(err, "read the codex in %s", g.path)
}

const (
	changedSince = `SELECT DISTINCT r.entry_id FROM json_each(?1) s
		JOIN revision r ON r.entry_id = s.value ->> 'e' AND r.id > s.value ->> 'r'
		WHERE r.field IN ('term', 'alias', 'tag', 'claim', 'lock')
		  AND coalesce(r.turn, 0) NOT IN (SELECT value FROM json_each(?2))`
	renamedSince = `WITH turn(id) AS (SELECT value FROM json_each(?2)),
		  shown(entry, revision) AS (SELECT value ->> 'e', value ->> 'r' FROM json_each(?1)),
		  known(entry, revision) AS (SELECT entry, revision FROM shown
		    UNION ALL SELECT DISTINCT entry_id, 0 FROM revision
		    WHERE turn IN turn AND entry_id NOT IN (SELECT entry FROM shown))
		SELECT DISTINCT known.entry FROM known JOIN revision r ON r.entry_id = known.entry AND r.id > known.revision
		WHERE r.field IN ('term', 'alias', 'merge', 'retired') AND coalesce(r.turn, 0) NOT IN turn`
)

// Nearest returns the ids of at most limit live entries. Those that were changed last in the story come first.
func (g *Glossary) Nearest(ctx context.Context, limit int) ([]int64, error) {
	var ids []int64
	err := sqlite.Each(ctx, g.q, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM entry WHERE name IS NOT NULL ORDER BY last_at DESC, id DESC LIMIT ?`, limit)
	return ids, sqlite.Wrap(err, "read the codex in %s", g.path)
}

// QuotationOf is a quotation that supports a claim of an entry.
type QuotationOf struct {
	Entry int64
	Text  string
}

// OfPeople returns quotations of narrated claims of the live entries with the tag person, by entry and claim. It
// returns the first ones, at most limit. CROSS JOIN keeps SQLite from reading all evidence first, which grows with the
// story.
func (g *Glossary) OfPeople(ctx context.Context, limit int) (quotations []QuotationOf, err error) {
	err = sqlite.Each(ctx, g.q, func(rows *sql.Rows) error {
		var q QuotationOf
		err := rows.Scan(&q.Entry, &q.Text)
		quotations = append(quotations, q)
		return err
	}, `SELECT v.entry_id, v.json ->> 'quote' FROM value t CROSS JOIN entry e ON e.id = t.entry_id
		CROSS JOIN value c ON c.entry_id = e.id AND c.field = 'claim' AND c.ended_by IS NULL
		CROSS JOIN value v ON v.entry_id = e.id AND v.field = 'evidence' AND v.ended_by IS NULL
		  AND v.key >= c.key || '/' AND v.key < c.key || '0'
		WHERE t.field = 'tag' AND t.key = 'person' AND t.ended_by IS NULL AND e.name IS NOT NULL
		  AND c.json ->> 'kind' = 'narrated'
		ORDER BY t.entry_id, CAST(c.key AS INTEGER), v.set_by LIMIT ?`, limit)
	return quotations, sqlite.Wrap(err, "read the codex in %s", g.path)
}

// All yields every entry, live or not, by id. It reads page by page.
func (g *Glossary) All(ctx context.Context) iter.Seq2[*annotator.Entry, error] {
	return g.Reader().All(ctx)
}

// Names returns the names of the live entries by their ids; with ids, of these entries only.
func (g *Glossary) Names(ctx context.Context, ids ...int64) (map[int64][]string, error) {
	query := `SELECT e.id, v.json ->> 'name' FROM entry e JOIN value v ON v.entry_id = e.id
		WHERE e.name IS NOT NULL AND v.field = 'alias' AND v.ended_by IS NULL`
	var args []any
	if len(ids) > 0 {
		query, args = query+` AND e.id IN (SELECT value FROM json_each(?))`, append(args, List(ids))
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

// Revisions returns the history of an entry, oldest first.
func (g *Glossary) Revisions(ctx context.Context, entry int64) ([]annotator.Revision, error) {
	found, err := collect(ctx, g.q, ScanRevision, Revisions+` WHERE r.entry_id = ? ORDER BY r.id`, entry)
	return found, sqlite.Wrap(err, "read the revisions of entry %d in %s", entry, g.path)
}

// OfScene returns the revisions that a scene has made, in order: in this turn, and in those in which it was refused.
func (g *Glossary) OfScene(ctx context.Context, scene int, turn int64) ([]annotator.Revision, error) {
	return collect(ctx, g.q, ScanRevision, Revisions+`
		WHERE r.turn = ?2 OR r.turn IN (SELECT turn FROM refusal WHERE scene = ?1 AND turn > 0) ORDER BY r.id`,
		scene, turn)
}

// MostRevised returns the live entries with the most revisions, at most limit of them.
func (g *Glossary) MostRevised(ctx context.Context, limit int) ([]annotator.Entry, error) {
	return g.Reader().List(ctx, `SELECT id FROM entry WHERE name IS NOT NULL ORDER BY revisions DESC, id LIMIT ?`,
		limit)
}

// ChangedIn returns the entries that the turns of an episode created or changed, by id.
func (g *Glossary) ChangedIn(ctx context.Context, e *annotator.Episode) ([]annotator.Entry, error) {
	return g.Reader().List(ctx, `SELECT DISTINCT r.entry_id FROM revision r
		JOIN trace t ON t.turn = r.turn AND t.seq = 0
		JOIN scene s ON s.n = t.scene
		WHERE r.turn BETWEEN ? AND ? AND s.ord BETWEEN ? AND ? ORDER BY 1`,
		e.FromTurn, e.ToTurn, e.From, e.To)
}

// Held returns the entries with the given ids, by id, as Entry does. Ids without an entry are left out.
func (g *Glossary) Held(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	return g.Reader().allHeld(ctx, ids)
}
