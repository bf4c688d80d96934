// Package view reads the codex as it was known at a moment: entries, searches, links, mentions, the story and the
// records of the run. It is the one reader for pages, commands, agents and exports.
package view

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"sync"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// View reads the codex and the story up to a limit. It returns nothing that comes later: no entry, claim, name,
// revision, scene, thread, count, snapshot or post. Everything that shows a codex to people reads it through a View.
type View struct {
	r    storage.Reader
	db   *storage.DB
	m    Moment
	memo *memo
}

// memo is what a view reads once.
type memo struct {
	sync.Mutex
	records *records
	blocks  map[int64][]blockCount // by entry
}

// At returns the view of a database up to a moment. The zero Moment is no limit.
func At(db *storage.DB, m Moment) *View {
	return &View{db.Reader(m.limit()), db, m, &memo{blocks: map[int64][]blockCount{}}}
}

// Moment returns the limit of the view.
func (v *View) Moment() Moment { return v.m }

// Shows reports whether the post at a place is within the limit.
func (v *View) Shows(place annotator.Place) bool { return v.m.IsZero() || place <= v.m.reach }

// Entry returns the entry with an id, live or not; NotFound if there is none within the limit.
func (v *View) Entry(ctx context.Context, id int64) (*annotator.Entry, error) {
	e, err := v.r.One(ctx, id, storage.Whole)
	if err != nil {
		return nil, err
	}
	return e, v.setAppearance(ctx, e)
}

// EntriesByID returns the entries with the given ids, by id. Ids without an entry within the limit are left out.
func (v *View) EntriesByID(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	found, err := v.r.Entries(ctx, ids, storage.Whole)
	if err != nil {
		return nil, err
	}
	return found, v.setAppearance(ctx, slices.Collect(maps.Values(found))...)
}

// setAppearance sets First and Last of entries to where the story mentions them or tells facts of them. An entry
// without a mention and a fact keeps the places of its revisions.
func (v *View) setAppearance(ctx context.Context, entries ...*annotator.Entry) error {
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	seen, err := v.Seen(ctx, ids)
	for _, e := range entries {
		if at, ok := seen[e.ID]; ok {
			e.First, e.Last = at.First, at.Last
		}
	}
	return cmp.Or(err, v.setDoubts(ctx, entries...))
}

// headings is a condition on the values v of entries without their claims; each field is a range of the index.
const headings = ` AND v.field IN ('term', 'alias', 'tag', 'present', 'status', 'lock')`

// Headings returns entries as EntriesByID does, without their claims and without what is counted of their revisions.
func (v *View) Headings(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	return v.r.Sums(ctx, ids, headings)
}

// ClaimHeads returns the claims of an entry with what codex.InOrder, codex.Shown, codex.Outdated and LinkedIn need.
// They are in no order. A text is left out unless it identifies the entry or has links.
func (v *View) ClaimHeads(ctx context.Context, entry int64) ([]annotator.Claim, error) {
	scan := func(rows *sql.Rows, c *annotator.Claim) error {
		return rows.Scan(&c.Revision, &c.ID, &c.Identity, &c.State, &c.Kind, &c.From, &c.Until, &c.Ended,
			&c.Object, &c.Text)
	}
	return readAll(ctx, v, "read the claims", scan, `SELECT v.set_by, CAST(v.key AS INTEGER),
		coalesce(v.json ->> 'identity', 0), coalesce(v.json ->> 'state', 0), v.json ->> 'kind', v.json ->> 'from',
		coalesce(v.json ->> 'until', 0), coalesce(v.json ->> 'ended', ''),
		coalesce(v.json ->> 'object', ''), iif(v.json ->> 'identity' OR instr(v.json, '[['), v.json ->> 'text', '')
		FROM value v WHERE v.entry_id = ?2 AND v.field = 'claim' AND `+v.r.Limit.InForce("v"),
		v.r.Limit.Bound(), entry)
}

// WithClaims returns the entry with an id and some of its claims, in the order of their ids; NotFound as Entry does.
func (v *View) WithClaims(ctx context.Context, id int64, claims []int64) (*annotator.Entry, error) {
	e, err := v.r.One(ctx, id, ` AND (v.field NOT IN ('claim', 'evidence') OR CAST(v.key AS INTEGER) IN (SELECT value
		FROM json_each(?3)))`,
		storage.List(claims))
	if err != nil {
		return nil, err
	}
	return e, v.setDoubts(ctx, e)
}

// All yields every entry, live or not, by id. It reads page by page.
func (v *View) All(ctx context.Context) iter.Seq2[*annotator.Entry, error] {
	const size = 500
	return func(yield func(*annotator.Entry, error) bool) {
		var page []*annotator.Entry
		yieldPage := func() bool {
			if err := v.setAppearance(ctx, page...); err != nil {
				yield(nil, err)
				return false
			}
			for _, e := range page {
				if !yield(e, nil) {
					return false
				}
			}
			page = page[:0]
			return true
		}
		for e, err := range v.r.All(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if page = append(page, e); len(page) == size && !yieldPage() {
				return
			}
		}
		yieldPage()
	}
}

// Named returns the entries with a name, by id. Live entries with this full name come first. Live entries with this
// alias as it is spelled follow, then those with it in another spelling, then others in the same way. All results are
// of the first kind that exists.
func (v *View) Named(ctx context.Context, name string) ([]annotator.Entry, error) {
	// The name as it is, and without invisible characters.
	keys := []string{codex.Normalize(name), codex.Normalize(codex.CleanName(name))}
	query := `WITH called (entry_id, term, spelled) AS (
		  SELECT v.entry_id, 0, v.json ->> '$.name' = ?3 FROM value v
		  WHERE v.field = 'alias' AND v.key IN (SELECT value FROM json_each(?2))
		  AND ` + v.r.Limit.InForce("v") + `
		  UNION SELECT t.entry_id, 1, 1 FROM value t
		  WHERE t.field = 'term' AND t.key IN (SELECT value FROM json_each(?2))
		  AND ` + v.r.Limit.InForce("t") + `)
		SELECT entry_id, min(iif(live, 0, 3) + CASE WHEN term THEN 0 WHEN spelled THEN 1 ELSE 2 END) AS rank
		FROM (SELECT *, ` + v.r.Limit.Live("called.entry_id") + ` AS live FROM called) GROUP BY entry_id
		ORDER BY rank, entry_id`
	type match struct {
		entry int64
		rank  int
	}
	scan := func(rows *sql.Rows, m *match) error { return rows.Scan(&m.entry, &m.rank) }
	matches, err := readAll(ctx, v, "look for a name", scan, query, v.r.Limit.Bound(), storage.List(keys), name)
	if err != nil || len(matches) == 0 {
		return nil, err
	}
	var ids []int64
	for _, m := range matches {
		if m.rank == matches[0].rank {
			ids = append(ids, m.entry)
		}
	}
	entries, err := v.EntriesByID(ctx, ids)
	return storage.InOrder(ids, entries), err
}

// LedTo returns the live entry to which a name leads; nil if there is none, or several. The name of an entry that was
// dropped leads to the one that tells of it since.
func (v *View) LedTo(ctx context.Context, name string) (*annotator.Entry, error) {
	found, err := v.Named(ctx, name)
	for seen := map[int64]bool{}; err == nil && len(found) == 1 && !seen[found[0].ID]; {
		e := &found[0]
		if e.Status.Live() {
			return e, nil
		}
		seen[e.ID] = true
		found, err = v.inPlaceOf(ctx, e)
	}
	return nil, err
}

// inPlaceOf returns the entry of which an entry is a part since it was merged or dropped; none if it was not.
func (v *View) inPlaceOf(ctx context.Context, e *annotator.Entry) ([]annotator.Entry, error) {
	ids, err := []int64{e.MergedInto}, error(nil)
	if e.Status != annotator.Merged {
		ids, err = readAll(ctx, v, "look for what tells of a dropped entry", storage.ScanValue[int64], `SELECT
			v.json ->> '$.target' FROM value v WHERE v.entry_id = ?2 AND v.field = 'curator_decision'
			AND v.json ->> '$.decision' = 'DROP' AND `+v.r.Limit.Known("v")+` ORDER BY v.id DESC LIMIT 1`,
			v.r.Limit.Bound(), e.ID)
	}
	if err != nil {
		return nil, err
	}
	entries, err := v.EntriesByID(ctx, ids)
	return storage.InOrder(ids, entries), err
}

// Page is a part of the entries that a query finds.
type Page struct {
	Entries []annotator.Entry // best match first; of a query without words, by name
	Total   int               // how many the query finds without offset and limit

	// Words are those of the query by which the entries were found. There are none if the query lists all entries, or
	// if its text was looked for inside names.
	Words []string
}

// Find returns the entries that a query finds, as Glossary.Search does. Nothing after the limit affects the results or
// their order. The entries have no evidence and only the claims that hold, because an entry may have thousands of
// others.
func (v *View) Find(ctx context.Context, query annotator.Query) (Page, error) {
	return v.find(ctx, query, func(ids []int64) (map[int64]*annotator.Entry, error) {
		return v.r.Entries(ctx, ids, v.outline())
	})
}

// FindOutlines is Find without what is counted of the entries' revisions.
func (v *View) FindOutlines(ctx context.Context, query annotator.Query) (Page, error) {
	return v.find(ctx, query, func(ids []int64) (map[int64]*annotator.Entry, error) { return v.Outlines(ctx, ids) })
}

// FindWhole is Find with whole entries.
func (v *View) FindWhole(ctx context.Context, query annotator.Query) (Page, error) {
	return v.find(ctx, query, func(ids []int64) (map[int64]*annotator.Entry, error) {
		return v.r.Entries(ctx, ids, storage.Whole)
	})
}

// FindHeadings is Find without the claims of the entries, and without what is counted of their revisions.
func (v *View) FindHeadings(ctx context.Context, query annotator.Query) (Page, error) {
	return v.find(ctx, query, func(ids []int64) (map[int64]*annotator.Entry, error) { return v.Headings(ctx, ids) })
}

func (v *View) find(ctx context.Context, query annotator.Query,
	read func(ids []int64) (map[int64]*annotator.Entry, error),
) (Page, error) {
	found, err := (&search{v.r}).find(ctx, query)
	if err != nil {
		return Page{}, err
	}
	entries, err := read(found.ids)
	return Page{Entries: storage.InOrder(found.ids, entries), Total: found.total, Words: found.words}, err
}

// outline is a condition on values. It leaves out evidence and claims that no longer hold. Of these it has those that
// said who or what the entry was, because codex.InOrder needs them. It has the states that ended after the present
// statement, because codex.Outdated needs them. A list of fields, unlike <>, lets an index skip the evidence.
func (v *View) outline() string {
	return ` AND v.field IN ('term', 'alias', 'tag', 'claim', 'present', 'status', 'lock')
		AND (v.holds = 1 OR v.field = 'claim' AND (v.json ->> 'identity'
		OR v.json ->> 'state' AND EXISTS (SELECT 1 FROM value p WHERE p.entry_id = v.entry_id AND p.field = 'present'
		AND p.holds = 1 AND p.set_by < v.set_by AND ` + v.r.Limit.InForce("p") + `)))`
}

// Outlines returns entries as Find does, without what is counted of their revisions.
func (v *View) Outlines(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	return v.r.Sums(ctx, ids, v.outline())
}

// Names returns the names of the live entries by their ids: of all, or of some.
func (v *View) Names(ctx context.Context, ids ...int64) (map[int64][]string, error) {
	from := `value v`
	if ids != nil {
		from = `json_each(?2) c CROSS JOIN value v ON v.entry_id = c.value`
	}
	names := map[int64][]string{}
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var name string
		err := rows.Scan(&entry, &name)
		names[entry] = append(names[entry], name)
		return err
	}, `SELECT v.entry_id, v.json ->> 'name' FROM `+from+` WHERE v.field = 'alias' AND `+v.r.Limit.InForce("v")+` AND `+
		v.r.Limit.Live("v.entry_id"),
		v.r.Limit.Bound(), storage.List(ids))
	return names, sqlite.Wrap(err, "read the names in %s", v.db.Path())
}

// Merged returns the newest entry that was merged into each entry, by the id of the latter.
func (v *View) Merged(ctx context.Context) (map[int64]int64, error) {
	merged := map[int64]int64{}
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var from, into int64
		err := rows.Scan(&from, &into)
		merged[into] = from
		return err
	}, `SELECT v.entry_id, CAST(v.json ->> '$' AS INTEGER) FROM value v WHERE v.field = 'status' AND v.key = 'merged'
		AND `+v.r.Limit.InForce("v")+` ORDER BY v.set_by`, v.r.Limit.Bound())
	return merged, sqlite.Wrap(err, "read the merges in %s", v.db.Path())
}

// Revisions returns the history of an entry within the limit, oldest first.
func (v *View) Revisions(ctx context.Context, entry int64) ([]annotator.Revision, error) {
	return readAll(ctx, v, "read the revisions", storage.ScanRevision, storage.Revisions+` WHERE r.entry_id = ?2 AND `+
		v.r.Limit.Made("r")+` ORDER BY r.id`, v.r.Limit.Bound(), entry)
}

// RevisionsAfter returns the revisions of an entry with ids above after, oldest first, at most limit of them. They are
// those of a claim and its evidence, or all if claim is 0.
func (v *View) RevisionsAfter(ctx context.Context, entry, claim, after int64, limit int) ([]annotator.Revision, error) {
	return readAll(ctx, v, "read the revisions", storage.ScanRevision,
		storage.Revisions+` WHERE r.entry_id = ?2 AND r.id > ?4 AND `+
			v.r.Limit.Made("r")+` AND ?3 IN (0, iif(r.field IN ('claim', 'evidence'), CAST(n.key AS INTEGER), NULL))
			ORDER BY r.id LIMIT ?5`,
		v.r.Limit.Bound(), entry, claim, after, limit)
}

// Quotation is evidence in a post, with the claim that it supports.
type Quotation struct {
	Entry    int64
	Claim    annotator.Claim // without its evidence
	Evidence annotator.Evidence
}

// Quotations returns the evidence in posts, by post, start, entry and claim.
func (v *View) Quotations(ctx context.Context, posts []int64) ([]Quotation, error) {
	scan := func(rows *sql.Rows, q *Quotation) error {
		var evidence, claim string
		if err := rows.Scan(&q.Entry, &evidence, &claim); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(evidence), &q.Evidence); err != nil {
			return err
		}
		return json.Unmarshal([]byte(claim), &q.Claim)
	}
	found, err := readAll(ctx, v, "read the quotations", scan, `SELECT e.entry_id, e.json, c.json FROM json_each(?2) p
		CROSS JOIN value e ON e.field = 'evidence' AND e.json ->> 'post' = p.value
		JOIN value c ON c.entry_id = e.entry_id AND c.field = 'claim' AND c.key = e.json ->> 'claim'
		WHERE `+v.r.Limit.InForce("e")+` AND `+v.r.Limit.InForce("c"), v.r.Limit.Bound(), storage.List(posts))
	slices.SortFunc(found, compareQuotations)
	return found, err
}

// readAll returns all rows of a query.
func readAll[T any](ctx context.Context, v *View, what string, scan func(*sql.Rows, *T) error, query string,
	args ...any,
) ([]T, error) {
	return storage.Rows(ctx, v.r, what, scan, query, args...)
}
