package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// View reads the codex and the story up to a limit. It returns nothing that comes later: no entry, claim, name,
// revision, scene, thread, count, snapshot or post. Everything that shows a codex to people reads it through a View.
type View struct {
	db    *DB
	m     Moment
	limit limit
}

// View returns the view up to a moment. The zero Moment is no limit.
func (db *DB) View(m Moment) *View { return &View{db: db, m: m, limit: m.limit()} }

// Moment returns the limit of the view.
func (v *View) Moment() Moment { return v.m }

// Shows reports whether the post at a place is within the limit.
func (v *View) Shows(place annotator.Place) bool { return v.m.IsZero() || place <= v.m.reach }

// Entry returns the entry with an id, live or not; NotFound if there is none within the limit.
func (v *View) Entry(ctx context.Context, id int64) (*annotator.Entry, error) {
	found, err := v.EntriesByID(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if found[id] == nil {
		return nil, noEntry(id)
	}
	return found[id], nil
}

// EntriesByID returns the entries with the given ids, by id. Ids without an entry within the limit are left out.
func (v *View) EntriesByID(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	return v.counted(ctx, ids, ``)
}

// Headings returns entries as EntriesByID does, without their claims and without what is counted of their revisions.
func (v *View) Headings(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	return v.sums(ctx, ids, ` AND v.field IN ('term', 'alias', 'tag', 'present', 'status', 'lock')`) // each a range of the index
}

// ClaimIDs returns the ids of the claims of an entry, in the order of the story.
func (v *View) ClaimIDs(ctx context.Context, entry int64) ([]int64, error) {
	return readAll(ctx, v.db, "read the claims", scanValue[int64], `SELECT CAST(v.key AS INTEGER) FROM validity v JOIN revision r ON r.id = v.revision_id
		WHERE v.entry_id = ?2 AND v.field = 'claim' AND `+v.limit.inForce("v")+` ORDER BY r.new_value ->> 'from', r.new_value ->> 'ord', 1`, v.limit.bound, entry)
}

// States returns the claims of an entry that describe a state, without their evidence, by id.
func (v *View) States(ctx context.Context, entry int64) ([]annotator.Claim, error) {
	scan := func(rows *sql.Rows, c *annotator.Claim) error {
		var text string
		if err := rows.Scan(&c.Revision, &text); err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), c)
	}
	return readAll(ctx, v.db, "read the claims", scan, `SELECT r.id, r.new_value FROM validity v JOIN revision r ON r.id = v.revision_id
		WHERE v.entry_id = ?2 AND v.field = 'claim' AND `+v.limit.inForce("v")+` AND r.new_value ->> 'state' ORDER BY CAST(v.key AS INTEGER)`, v.limit.bound, entry)
}

// WithClaims returns the entry with an id and some of its claims, in the order of their ids; NotFound as Entry does.
func (v *View) WithClaims(ctx context.Context, id int64, claims []int64) (*annotator.Entry, error) {
	found, err := v.counted(ctx, []int64{id}, ` AND (v.field NOT IN ('claim', 'evidence')
		OR v.field = 'claim' AND CAST(v.key AS INTEGER) IN (SELECT value FROM json_each(?3))
		OR v.field = 'evidence' AND r.new_value ->> 'claim' IN (SELECT value FROM json_each(?3)))`, jsonList(claims))
	if err == nil && found[id] == nil {
		err = noEntry(id)
	}
	return found[id], err
}

func noEntry(id int64) error { return annotator.Errorf(annotator.NotFound, "there is no entry %d", id) }

// counted returns the sums of entries, with what is counted of all their revisions.
func (v *View) counted(ctx context.Context, ids []int64, condition string, args ...any) (map[int64]*annotator.Entry, error) {
	found, err := v.sums(ctx, ids, condition, args...)
	if err == nil {
		err = v.count(ctx, found, ids)
	}
	return found, err
}

// sums returns entries as the sum of those of their revisions whose values are in force, and match a condition, whose
// arguments are numbered from 3.
func (v *View) sums(ctx context.Context, ids []int64, condition string, args ...any) (map[int64]*annotator.Entry, error) {
	found := map[int64]*annotator.Entry{}
	err := sqlite.Each(ctx, v.db.read, func(rows *sql.Rows) error {
		var r annotator.Revision
		if err := scanRevision(rows, &r); err != nil {
			return err
		}
		if found[r.Entry] == nil {
			found[r.Entry] = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
		}
		return codex.Apply(found[r.Entry], &r)
	}, `SELECT `+revisionColumnsOf("r")+` FROM json_each(?2) c CROSS JOIN validity v ON v.entry_id = c.value JOIN revision r ON r.id = v.revision_id
		WHERE `+v.limit.inForce("v")+condition+` ORDER BY r.field = 'evidence', r.id`, append([]any{v.limit.bound, jsonList(ids)}, args...)...) // evidence comes after its claim
	return found, sqlite.Wrap(err, "read the entries in %s", v.db.path)
}

// count sets what entries have of all their revisions.
func (v *View) count(ctx context.Context, entries map[int64]*annotator.Entry, ids []int64) error {
	return sqlite.Each(ctx, v.db.read, func(rows *sql.Rows) error {
		var id int64
		var c annotator.Entry
		if err := rows.Scan(&id, &c.Revisions, &c.Revision, &c.First, &c.Last); err != nil {
			return err
		}
		e := entries[id]
		if e == nil {
			return fmt.Errorf("entry %d has revisions, and no values", id)
		}
		e.Revisions, e.Revision, e.First, e.Last = c.Revisions, c.Revision, c.First, c.Last
		return nil
	}, `SELECT r.entry_id, count(*), max(r.id), min(r.at), max(r.at) FROM json_each(?2) c CROSS JOIN revision r ON r.entry_id = c.value
		WHERE `+v.knownRevision()+` GROUP BY r.entry_id`, v.limit.bound, jsonList(ids))
}

// knownRevision is a condition on revisions that are within the limit.
func (v *View) knownRevision() string {
	if v.m.IsZero() {
		return `?1 IS NULL`
	}
	return `r.` + v.m.bound + ` <= ?1`
}

// All yields every entry, live or not, by id. It reads page by page.
func (v *View) All(ctx context.Context) iter.Seq2[*annotator.Entry, error] {
	const page = 500
	return func(yield func(*annotator.Entry, error) bool) {
		for last := int64(0); ; {
			ids, err := readAll(ctx, v.db, "read the entries", scanValue[int64], `SELECT entry_id FROM entry_version v
				WHERE entry_id > ?2 AND `+v.limit.inForce("v")+` ORDER BY entry_id LIMIT ?3`, v.limit.bound, last, page)
			var entries map[int64]*annotator.Entry
			if err == nil {
				entries, err = v.EntriesByID(ctx, ids)
			}
			if err != nil {
				yield(nil, err)
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

// Named returns the entries that a name stands for, by id: entries with that full name before those of which it is an
// alias, and of each, live ones before others. All are of the first kind that there is.
func (v *View) Named(ctx context.Context, name string) ([]annotator.Entry, error) {
	keys := []string{codex.Normalize(name), codex.Normalize(codex.CleanName(name))} // as it is, and without invisible characters
	const query = `SELECT entry_id, min(CASE WHEN live AND term THEN 0 WHEN live THEN 1 WHEN term THEN 2 ELSE 3 END) AS rank FROM (
		  SELECT e.entry_id, e.status IN ('tentative', 'confirmed') AS live, e.term_normalized IN (SELECT value FROM json_each(?2)) AS term
		  FROM entry_version e WHERE %[1]s AND e.entry_id IN
		    (SELECT v.entry_id FROM validity v WHERE v.field = 'alias' AND v.key IN (SELECT value FROM json_each(?2)) AND %[2]s
		     UNION SELECT t.entry_id FROM entry_version t WHERE t.term_normalized IN (SELECT value FROM json_each(?2))))
		GROUP BY entry_id ORDER BY rank, entry_id`
	type match struct {
		entry int64
		rank  int
	}
	scan := func(rows *sql.Rows, m *match) error { return rows.Scan(&m.entry, &m.rank) }
	matches, err := readAll(ctx, v.db, "look for a name", scan, fmt.Sprintf(query, v.limit.inForce("e"), v.limit.inForce("v")), v.limit.bound, jsonList(keys))
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
	return inOrder(ids, entries), err
}

// Page is a part of the entries that a query finds.
type Page struct {
	Entries []annotator.Entry // best match first; of a query without words, by name
	Total   int               // how many the query finds without offset and limit
	Words   []string          // of the query, by which the entries were found; none where those are all there are, or have its text inside a name
}

// Find returns the entries that a query finds, as Glossary.Search does. Nothing that comes after the limit affects what
// is found, or its order. The entries come without evidence and without claims that no longer hold, of which an entry may
// have thousands.
func (v *View) Find(ctx context.Context, query annotator.Query) (Page, error) {
	return v.find(ctx, query, v.outline())
}

// FindWhole is Find with whole entries.
func (v *View) FindWhole(ctx context.Context, query annotator.Query) (Page, error) {
	return v.find(ctx, query, ``)
}

func (v *View) find(ctx context.Context, query annotator.Query, condition string) (Page, error) {
	s := search{q: v.db.read, path: v.db.path, limit: v.limit}
	found, err := s.find(ctx, query)
	if err != nil {
		return Page{}, err
	}
	entries, err := v.counted(ctx, found.ids, condition)
	return Page{Entries: inOrder(found.ids, entries), Total: found.total, Words: found.words}, err
}

// outline is a condition on the values of entries without evidence, without claims that no longer hold, and without a
// present statement that was written before the end of a state, which codex.Present would not see.
func (v *View) outline() string {
	return ` AND v.holds AND v.field <> 'evidence' AND NOT (v.field = 'present' AND EXISTS (SELECT 1 FROM validity c
		JOIN revision s ON s.id = c.revision_id WHERE c.entry_id = v.entry_id AND c.field = 'claim' AND c.holds = 0 AND c.revision_id > v.revision_id
		AND ` + v.limit.inForce("c") + ` AND s.new_value ->> 'state'))`
}

// Outlines returns entries as Find does, without what is counted of their revisions.
func (v *View) Outlines(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	return v.sums(ctx, ids, v.outline())
}

// Names returns the names of the live entries by their ids: of all, or of some.
func (v *View) Names(ctx context.Context, ids ...int64) (map[int64][]string, error) {
	const query = `SELECT v.entry_id, r.new_value ->> 'name' FROM %s JOIN revision r ON r.id = v.revision_id JOIN entry_version e USING (entry_id)
		WHERE v.field = 'alias' AND %s AND %s AND e.status IN ('tentative', 'confirmed')`
	from := `validity v`
	if ids != nil {
		from = `json_each(?2) c CROSS JOIN validity v ON v.entry_id = c.value`
	}
	names := map[int64][]string{}
	err := sqlite.Each(ctx, v.db.read, func(rows *sql.Rows) error {
		var entry int64
		var name string
		err := rows.Scan(&entry, &name)
		names[entry] = append(names[entry], name)
		return err
	}, fmt.Sprintf(query, from, v.limit.inForce("v"), v.limit.inForce("e")), v.limit.bound, jsonList(ids))
	return names, sqlite.Wrap(err, "read the names in %s", v.db.path)
}

// Revisions returns the history of an entry within the limit, oldest first.
func (v *View) Revisions(ctx context.Context, entry int64) ([]annotator.Revision, error) {
	return readAll(ctx, v.db, "read the revisions", scanRevision, `SELECT `+revisionColumns+` FROM revision r WHERE entry_id = ?2 AND `+
		v.knownRevision()+` ORDER BY id`, v.limit.bound, entry)
}

// RevisionsAfter returns the revisions of an entry with higher ids than one, at most limit of them, oldest first: those of
// a claim and its evidence, or all where claim is 0.
func (v *View) RevisionsAfter(ctx context.Context, entry, claim, after int64, limit int) ([]annotator.Revision, error) {
	return readAll(ctx, v.db, "read the revisions", scanRevision, `SELECT `+revisionColumns+` FROM revision r WHERE entry_id = ?2 AND id > ?4 AND `+
		v.knownRevision()+` AND ?3 IN (0, CASE field WHEN 'claim' THEN iif(new_value = '', old_value, new_value) ->> 'id'
		  WHEN 'evidence' THEN iif(new_value = '', old_value, new_value) ->> 'claim' END) ORDER BY id LIMIT ?5`,
		v.limit.bound, entry, claim, after, limit)
}

// Quotation is evidence that stands in a post, with the claim that it supports.
type Quotation struct {
	Entry    int64
	Claim    annotator.Claim // without its evidence
	Evidence annotator.Evidence
}

// Quotations returns the evidence that stands in posts, by post, start, entry and claim.
func (v *View) Quotations(ctx context.Context, posts []int64) ([]Quotation, error) {
	keys := make([]string, len(posts))
	for i, post := range posts {
		keys[i] = strconv.FormatInt(post, 10)
	}
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
	found, err := readAll(ctx, v.db, "read the quotations", scan, `SELECT e.entry_id, q.new_value, t.new_value
		FROM validity e JOIN revision q ON q.id = e.revision_id
		JOIN validity c ON c.entry_id = e.entry_id AND c.field = 'claim' AND c.key = q.new_value ->> 'claim' JOIN revision t ON t.id = c.revision_id
		WHERE e.field = 'evidence' AND e.key IN (SELECT value FROM json_each(?2)) AND `+v.limit.inForce("e")+` AND `+v.limit.inForce("c"),
		v.limit.bound, jsonList(keys))
	slices.SortFunc(found, compareQuotations)
	return found, err
}
