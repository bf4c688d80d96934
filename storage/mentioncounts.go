package storage

import (
	"fmt"
	"maps"
	"slices"

	"annotator"
)

// BlockScenes is how many scenes of a thread a row of table mention_count counts at most: one bit each.
const BlockScenes = 60

// countRows are the rows of table mention_count for mentions m in scenes s, which the clause selects.
func countRows(from string) string {
	return fmt.Sprintf(`SELECT entry_id, block, set_by, from_seen, until_seen, ended_by,
		sum(mentions) AS mentions, sum(bit) AS scenes FROM (
		  SELECT m.entry_id, s.n - s.idx %% %[1]d AS block, m.set_by, m.from_seen,
		    coalesce(m.until_seen, 0) AS until_seen, coalesce(m.ended_by, 0) AS ended_by,
		    count(*) AS mentions, 1 << (s.idx %% %[1]d) AS bit FROM %[2]s
		  GROUP BY m.entry_id, s.n, m.set_by, m.from_seen, m.ended_by, m.until_seen)
		GROUP BY entry_id, block, set_by, from_seen, ended_by, until_seen`, BlockScenes, from)
}

// allCountRows are all rows that table mention_count should have.
var allCountRows = countRows(`mention m JOIN scene s ON s.n = m.place / 1000000`)

// fillCounts makes the counts of all mentions; the tables are empty.
var fillCounts = `INSERT INTO mention_count ` + allCountRows + `;
	INSERT INTO mention_total SELECT entry_id, count(*) FROM mention GROUP BY entry_id`

// countMentions updates the counts of the entries whose mentions in a scene have changed. Added has the number of new
// mentions of each.
func (tx *tx) countMentions(scene int, added map[int64]int) {
	if len(added) == 0 {
		return
	}
	tx.exec(`INSERT INTO mention_total SELECT key, value FROM json_each(?) WHERE true
		ON CONFLICT (entry_id) DO UPDATE SET mentions = mentions + excluded.mentions`, annotator.EncodeJSON(added))
	var first, last int64
	tx.scan([]any{&first, &last}, `SELECT n - idx % ?2, n - idx % ?2 + ?2 - 1 FROM scene WHERE n = ?1`,
		scene, BlockScenes)
	list := List(slices.Sorted(maps.Keys(added)))
	tx.exec(`DELETE FROM mention_count WHERE entry_id IN (SELECT value FROM json_each(?)) AND block = ?`, list, first)
	tx.exec(`INSERT INTO mention_count `+countRows(`json_each(?1) c CROSS JOIN mention m ON m.entry_id = c.value
		  AND m.place >= ?2 * 1000000 AND m.place < (?3 + 1) * 1000000
		  JOIN scene s ON s.n = m.place / 1000000 AND s.n - s.idx % `+fmt.Sprint(BlockScenes)+` = ?2`),
		list, first, last)
}
