package view

import (
	"context"
	"database/sql"
	"encoding/json"

	"annotator"
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

// FoundClaim is a claim of an entry that was found.
type FoundClaim struct {
	At    int64 // orders the claims by the story
	Entry int64
	Claim annotator.Claim // without its evidence
}

// ClaimsWith returns the claims of live entries other than one whose texts have the words of a name. It returns at most
// limit claims, those after a point of their order. In a claim the words may mean something else.
func (v *View) ClaimsWith(ctx context.Context, names []string, except, after int64, limit int) ([]FoundClaim, error) {
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
	return readAll(ctx, v, "look for claims", scan, `SELECT f.rowid, w.entry_id, w.json FROM glossary_fts_claim f
		CROSS JOIN value v ON v.id = f.rowid
		CROSS JOIN value w ON w.entry_id = v.entry_id AND w.field = 'claim' AND w.key = v.key
		WHERE glossary_fts_claim MATCH ?2 AND f.rowid > ?3 AND f.rowid < ?4
		AND `+v.r.Limit.Known("v")+` AND `+v.r.Limit.InForce("w")+` AND w.entry_id <> ?5
		  AND `+v.r.Limit.Live("w.entry_id")+`
		ORDER BY f.rowid LIMIT ?6`,
		v.r.Limit.Bound(), match, after, v.r.Limit.End(), except, limit)
}
