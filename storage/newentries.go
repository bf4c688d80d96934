package storage

import (
	"context"
	"strings"

	"annotator"
	"annotator/codex"
)

// unlookedEntries reads the entries that were made after the newest that a question about redundant ones looked at.
const unlookedEntries = `SELECT id FROM (SELECT e.id FROM entry e WHERE e.id > coalesce((SELECT v.json ->> '$.through'
	    FROM value v WHERE v.field = 'curator_decision' AND instr(v.json, '"decision":"REDUNDANT"')
	    ORDER BY v.set_by DESC LIMIT 1), 0)
	  AND e.name IS NOT NULL AND e.first_at / 1000000 < ? AND e.claims <= ? AND ` + isUnlocked + `
	  AND NOT EXISTS (SELECT 1 FROM value t WHERE t.entry_id = e.id AND t.field = 'tag' AND t.ended_by IS NULL
	    AND t.json ->> '$' IN (SELECT value FROM json_each(?)))
	  ORDER BY e.id DESC LIMIT ?) ORDER BY id`

// Unlooked returns live entries without a lock that were made since the newest question about redundant ones, the
// oldest first. They have few facts, are no events, and were first seen before a scene. It returns at most limit, the
// newest; all if limit is negative.
func (s *NewEntries) Unlooked(
	ctx context.Context, before annotator.Order, facts, limit int,
) ([]int64, error) {
	return readAll(ctx, s.db, "read the new entries", ScanValue[int64], unlookedEntries, before, facts,
		List(codex.EventTags()), limit)
}

// nearEntries reads the entries that quote the posts that an entry quotes, those with most quotations first.
const nearEntries = `SELECT o.entry_id FROM value v
	CROSS JOIN value o ON o.field = 'evidence' AND o.json ->> 'post' = v.json ->> 'post' AND o.ended_by IS NULL
	WHERE v.entry_id = ?1 AND v.field = 'evidence' AND v.ended_by IS NULL AND o.entry_id <> ?1
	  AND EXISTS (SELECT 1 FROM entry e WHERE e.id = o.entry_id AND e.name IS NOT NULL AND e.claims <= ?2)
	GROUP BY o.entry_id ORDER BY count(*) DESC, o.entry_id LIMIT ?3`

// maxNearClaims is the maximum number of claims that hold of an entry that Near returns. A double of a main person is
// found by its names.
const maxNearClaims = 20

// Near returns the other live entries with quotations in the posts of an entry's quotations, at most limit.
func (s *NewEntries) Near(ctx context.Context, entry int64, limit int) ([]int64, error) {
	return readAll(ctx, s.db, "look for doubles", ScanValue[int64], nearEntries, entry, maxNearClaims, limit)
}

// mentionedScenes counts the scenes that mention an entry, up to a limit.
const mentionedScenes = `SELECT count(*) FROM (SELECT DISTINCT place / 1000000 FROM mention
	WHERE entry_id = ? AND until_seen IS NULL AND meant = 1 LIMIT ?)`

// Scenes returns in how many scenes an entry is mentioned, up to limit.
func (s *NewEntries) Scenes(ctx context.Context, entry int64, limit int) (int, error) {
	return readValue[int](ctx, s.db, "count scenes", mentionedScenes, entry, limit)
}

// linkingClaims reads the newest claims that have some words. It returns those of other entries and scenes with a link.
const linkingClaims = `SELECT v.json ->> 'text' FROM
	  (SELECT rowid FROM glossary_fts_claim WHERE glossary_fts_claim MATCH ? ORDER BY rowid DESC LIMIT 100) f
	CROSS JOIN value first ON first.id = f.rowid
	CROSS JOIN value v ON v.entry_id = first.entry_id AND v.key = first.key AND v.field = 'claim'
	  AND v.ended_by IS NULL AND v.holds = 1
	WHERE v.entry_id <> ? AND v.json ->> 'from' / 1000000 <> ? AND instr(v.json, '[[') AND EXISTS
	  (SELECT 1 FROM entry e WHERE e.id = v.entry_id AND e.name IS NOT NULL)`

// Linking returns the texts of other live entries' claims in which one of some names occurs and that have a link.
// Those of one scene are left out.
func (s *NewEntries) Linking(
	ctx context.Context, entry int64, names []string, without annotator.Order,
) ([]string, error) {
	match := AnyPhrase(names)
	if strings.TrimSpace(match) == "" {
		return nil, nil
	}
	return readAll(ctx, s.db, "look for links", ScanValue[string], linkingClaims, match, entry, without)
}
