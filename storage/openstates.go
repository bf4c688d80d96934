package storage

import (
	"context"
	"database/sql"

	"annotator"
)

// isOpenState is a condition on values v, in the words of the index of open states. An index reads no JSON, because a
// damaged value could then be neither changed nor reported.
const (
	isOpenClaim = `v.field = 'claim' AND v.ended_by IS NULL AND v.holds = 1`
	isState     = `instr(v.json, '"state":true')`
	isOpenState = isOpenClaim + ` AND ` + isState
)

// isStatesAsked is a condition on values v, in the words of the index of questions about states.
const isStatesAsked = `v.field = 'curator_decision' AND instr(v.json, '"decision":"STATES"')`

// isOpenEntry is a condition on values v: their entries are live, and neither they nor the claim is locked.
const isOpenEntry = `EXISTS (SELECT 1 FROM entry e WHERE e.id = v.entry_id AND e.name IS NOT NULL
	AND ` + isUnlocked + `) AND NOT EXISTS (SELECT 1 FROM value l WHERE l.entry_id = v.entry_id
	AND l.field = 'lock' AND l.key = 'fact/' || v.key AND l.ended_by IS NULL)`

// The newest question about states, and the revision up to which every state was asked about.
const (
	newestQuestion = ` FROM value v WHERE ` + isStatesAsked + ` ORDER BY v.set_by DESC LIMIT 1`
	statesAsked    = `SELECT v.set_by` + newestQuestion
	statesThrough  = `SELECT coalesce(v.json ->> '$.through', 0)` + newestQuestion
)

// openStates reads the states that were set after those that questions were about, up to a revision. It omits those
// that a question at a scene was about.
const openStates = `SELECT v.entry_id, v.key, v.set_by FROM value v WHERE ` + isOpenState + ` AND ` + isOpenEntry + `
	AND v.set_by > coalesce((` + statesThrough + `), 0) AND v.set_by <= ?
	AND NOT EXISTS (SELECT 1 FROM value a, json_each(a.json, '$.states') s WHERE a.entry_id = v.entry_id
	  AND a.field = 'curator_decision' AND instr(a.json, '"decision":"STATES"') AND a.id >= (? << 20)
	  AND s.value = CAST(v.key AS INTEGER))
	ORDER BY v.set_by LIMIT ?`

// Waiting returns the open states that were set up to a revision and that no question was about, the oldest first. It
// omits those that newer facts made suspect, if they were asked about at the given scene, the newest.
func (s *OpenStates) Waiting(
	ctx context.Context, through int64, scene annotator.Order, limit int,
) ([]annotator.ClaimRef, error) {
	return readAll(ctx, s.db, "read the open states", scanClaimRef, openStates, through, scene, limit)
}

// addedClaims reads the revisions after the newest question about states.
const addedClaims = `SELECT v.entry_id, v.key, v.set_by FROM revision r
	JOIN value v ON v.id = ((r.seen << 20) | (r.id & 1048575))
	WHERE r.id > coalesce((` + statesAsked + `), 0) AND r.field = 'claim' AND v.ended_by IS NULL AND v.holds = 1
	ORDER BY r.id DESC LIMIT ?`

// Added returns the claims that were added since the newest question about states, and hold, the newest first.
func (s *OpenStates) Added(ctx context.Context, limit int) ([]annotator.ClaimRef, error) {
	return readAll(ctx, s.db, "read the newest claims", scanClaimRef, addedClaims, limit)
}

// namingStates reads the newest claims that have some words, and returns the open states among them, and the guesses if
// the last argument is true.
const namingStates = `SELECT v.entry_id, v.key, v.set_by FROM
	  (SELECT rowid FROM glossary_fts_claim WHERE glossary_fts_claim MATCH ? ORDER BY rowid DESC LIMIT ?) f
	CROSS JOIN value first ON first.id = f.rowid
	CROSS JOIN value v ON v.entry_id = first.entry_id AND v.key = first.key AND ` + isOpenClaim + `
	AND (` + isState + ` OR ? AND instr(v.json, '"kind":"inferred"')) AND ` + isOpenEntry

// Naming returns the open states, and the guesses if wanted, among the newest claims in whose texts one of some names
// occurs. It reads at most limit claims.
func (s *OpenStates) Naming(
	ctx context.Context, names []string, guesses bool, limit int,
) ([]annotator.ClaimRef, error) {
	match := AnyPhrase(names)
	if match == "" {
		return nil, nil
	}
	return readAll(ctx, s.db, "look for open states", scanClaimRef, namingStates, match, limit, guesses)
}

func scanClaimRef(rows *sql.Rows, c *annotator.ClaimRef) error {
	return rows.Scan(&c.Entry, &c.Claim, &c.Revision)
}

// Asked returns the revision up to which states were asked about, and the newest one that was made before a scene. The
// second is not less than the first. It also reports whether any state is open. It reads only the snapshots since the
// scene.
func (s *OpenStates) Asked(ctx context.Context, scene annotator.Order) (asked, before int64, some bool, err error) {
	scan := func(rows *sql.Rows, _ *struct{}) error { return rows.Scan(&asked, &before, &some) }
	_, err = readAll(ctx, s.db, "read the questions about states", scan, askedStates, scene)
	return asked, max(asked, before), some, err
}

const askedStates = `SELECT coalesce((` + statesThrough + `), 0),
	iif(?1 > (SELECT max(ord) FROM scene), (SELECT coalesce(max(id), 0) FROM revision),
	  coalesce((SELECT revision_id FROM snapshot p WHERE type = 'checkpoint'
	    AND (SELECT ord FROM scene WHERE n = p.scene) < ?1 ORDER BY id DESC LIMIT 1), 0)),
	EXISTS (SELECT 1 FROM value v INDEXED BY value_state WHERE ` + isOpenState + `)`
