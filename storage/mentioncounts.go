package storage

import (
	"maps"
	"slices"

	"annotator"
)

// SceneBit is the bit of a scene s in the set of the scenes of its block, whose last scene is l.
const SceneBit = `1 << (l.n - s.n)`

// countRows are the rows of table mention_count for mentions m in scenes s, which the clause selects. It counts those
// that mean their entry.
func countRows(from string) string {
	return `SELECT entry_id, block, set_by, from_seen, until_seen, ended_by,
		sum(mentions) AS mentions, sum(bit) AS scenes FROM (
		  SELECT m.entry_id, s.block, m.set_by, m.from_seen,
		    coalesce(m.until_seen, 0) AS until_seen, coalesce(m.ended_by, 0) AS ended_by,
		    count(*) AS mentions, ` + SceneBit + ` AS bit FROM ` + from + ` AND m.meant JOIN scene l ON l.ord = s.block
		  GROUP BY m.entry_id, s.n, m.set_by, m.from_seen, m.ended_by, m.until_seen)
		GROUP BY entry_id, block, set_by, from_seen, ended_by, until_seen`
}

// allCountRows are all rows that table mention_count should have.
var allCountRows = countRows(`mention m JOIN scene s ON s.ord = m.place / 1000000`)

// fillCounts makes the counts of all mentions; the tables are empty.
var fillCounts = `INSERT INTO mention_count ` + allCountRows + `;
	INSERT INTO mention_total SELECT entry_id, sum(meant) FROM mention GROUP BY entry_id`

// countMentions updates the counts of the entries whose mentions in a scene have changed. Added has the number of new
// mentions of each.
func (tx *tx) countMentions(scene annotator.Order, added map[int64]int) {
	tx.exec(`INSERT INTO mention_total SELECT key, value FROM json_each(?) WHERE true
		ON CONFLICT (entry_id) DO UPDATE SET mentions = mentions + excluded.mentions`, annotator.EncodeJSON(added))
	var first, block annotator.Order
	tx.scan([]any{&first, &block}, `SELECT (SELECT min(s.ord) FROM scene s
		  WHERE s.n BETWEEN l.n - ?2 + 1 AND l.n AND s.block = l.ord), l.ord
		FROM scene l WHERE l.ord = (SELECT block FROM scene WHERE ord = ?1)`, scene, BlockScenes)
	list := List(slices.Sorted(maps.Keys(added)))
	tx.exec(`DELETE FROM mention_count WHERE entry_id IN (SELECT value FROM json_each(?)) AND block = ?`, list, block)
	// Scenes of other blocks may be between those of this one.
	tx.exec(`INSERT INTO mention_count `+countRows(`json_each(?1) c CROSS JOIN mention m ON m.entry_id = c.value
		  AND m.place >= ?2 * 1000000 AND m.place < (?3 + 1) * 1000000
		  CROSS JOIN scene s ON s.ord = m.place / 1000000 AND s.block = ?3`),
		list, first, block)
}
