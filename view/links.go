package view

import (
	"context"
	"database/sql"
	"encoding/json"

	"annotator"
	"annotator/codex"
	"annotator/storage"
)

// Called returns the entries that have one of some names, given as codex.Normalize makes them, by id.
func (v *View) Called(ctx context.Context, names []string) ([]int64, error) {
	return readAll(ctx, v, "look for names", storage.ScanValue[int64], `SELECT DISTINCT v.entry_id FROM json_each(?2) c
		CROSS JOIN value v ON v.field = 'alias' AND v.key = c.value
		WHERE `+v.r.Limit.InForce("v")+` ORDER BY 1`, v.r.Limit.Bound(), storage.List(names))
}

// MentionedIn returns the entries that some scenes mention, by id.
func (v *View) MentionedIn(ctx context.Context, scenes []annotator.Order) ([]int64, error) {
	return readAll(ctx, v, "read the mentions", storage.ScanValue[int64], `SELECT DISTINCT m.entry_id
		FROM json_each(?2) c CROSS JOIN mention m ON m.place >= c.value * 1000000 AND m.place < (c.value + 1) * 1000000
		WHERE `+v.visible("m")+` ORDER BY 1`,
		v.r.Limit.Bound(), storage.List(scenes))
}

// LinkedIn returns the live entries that each of some claims links to or is about, in its order.
func (v *View) LinkedIn(ctx context.Context, claims []annotator.Claim) ([][]int64, error) {
	names, all := make([][]string, len(claims)), []string{}
	for i := range claims {
		names[i] = append(codex.Links(claims[i].Text), claims[i].Object)
		all = append(all, names[i]...)
	}
	called, err := v.directory(ctx, all)
	linked := make([][]int64, len(claims))
	for i := range names {
		for _, name := range names[i] {
			if id := called.Find(name); id != 0 {
				linked[i] = append(linked[i], id)
			}
		}
	}
	return linked, err
}

// FoundClaim is a claim of an entry that was found.
type FoundClaim struct {
	At    int64 // orders the claims by the story
	Entry int64
	Claim annotator.Claim // without its evidence
}

// ClaimsWith returns the claims of live entries other than one whose texts have the words of a name. It returns at most
// limit claims, those after a point of their order. In a claim the words may mean something else.
func (v *View) ClaimsWith(ctx context.Context, names []string, except, after int64, limit int) ([]FoundClaim, error) {
	return v.claimsWith(ctx, names, `glossary_fts_claim f`, `glossary_fts_claim MATCH ?2
		AND f.rowid > ?3 AND f.rowid < ?4 ORDER BY f.rowid LIMIT ?6`, except, after, limit)
}

// EventsWith is ClaimsWith for what the story itself tells of events. It looks at the newest claims with the words.
func (v *View) EventsWith(ctx context.Context, names []string, except int64) ([]FoundClaim, error) {
	const newest = 2000
	return v.claimsWith(ctx, names, `(SELECT rowid FROM glossary_fts_claim
		WHERE glossary_fts_claim MATCH ?2 AND rowid < ?4 ORDER BY rowid DESC LIMIT ?6) f`,
		`w.json ->> 'kind' = 'narrated' AND `+v.isEvent("w.entry_id")+` ORDER BY f.rowid`,
		except, storage.List(codex.EventTags()), newest)
}

// ToldEvent is an event with the place of the first fact that tells of it.
type ToldEvent struct {
	Entry int64
	First annotator.Place
}

// EventsAmong returns the live events among some entries of which a fact tells, in the order of their first facts.
func (v *View) EventsAmong(ctx context.Context, entries []int64) ([]ToldEvent, error) {
	scan := func(rows *sql.Rows, e *ToldEvent) error { return rows.Scan(&e.Entry, &e.First) }
	return readAll(ctx, v, "read the events", scan, `SELECT c.value, min(v.json ->> 'from')
		FROM json_each(?2) c CROSS JOIN value v ON v.entry_id = c.value AND v.field = 'claim'
		WHERE `+v.r.Limit.InForce("v")+` AND `+told+` AND `+v.r.Limit.Live("c.value")+` AND `+v.isEvent("c.value")+`
		GROUP BY c.value ORDER BY 2, 1`, v.r.Limit.Bound(), storage.List(entries), storage.List(codex.EventTags()))
}

// told is a condition on claims v of which codex.Shown is true and that have not proved false.
const told = `coalesce(v.json ->> 'ended', '') NOT IN ('confirmed', 'reworded', 'moved', 'wrong', 'refuted')`

// isEvent is a condition on the id of an entry: it has a tag of events. These are ?3.
func (v *View) isEvent(entry string) string {
	return `EXISTS (SELECT 1 FROM value t WHERE t.entry_id = ` + entry + ` AND t.field = 'tag'
		AND t.key IN (SELECT value FROM json_each(?3)) AND ` + v.r.Limit.InForce("t") + `)`
}

// claimsWith returns the claims among the rows of the full-text index that meet a condition. ?2 is the query of the
// index, ?3 an argument, ?4 what its rows are less than, and ?6 another argument.
func (v *View) claimsWith(ctx context.Context, names []string, from, condition string, except int64, third, sixth any,
) ([]FoundClaim, error) {
	match := storage.AnyPhrase(names)
	if match == "" {
		return nil, nil
	}
	scan := func(rows *sql.Rows, f *FoundClaim) error {
		var claim string
		if err := rows.Scan(&f.At, &f.Entry, &claim); err != nil {
			return err
		}
		return json.Unmarshal([]byte(claim), &f.Claim)
	}
	return readAll(ctx, v, "look for claims", scan, `SELECT f.rowid, w.entry_id, w.json FROM `+from+`
		CROSS JOIN value v ON v.id = f.rowid
		CROSS JOIN value w ON w.entry_id = v.entry_id AND w.field = 'claim' AND w.key = v.key
		WHERE `+v.r.Limit.Known("v")+` AND `+v.r.Limit.InForce("w")+` AND w.entry_id <> ?5
		  AND `+v.r.Limit.Live("w.entry_id")+` AND `+condition,
		v.r.Limit.Bound(), match, third, v.r.Limit.End(), except, sixth)
}
