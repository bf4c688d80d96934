package storage_test

import (
	"fmt"
	"slices"
	"testing"

	"annotator/codex"
	"annotator/view"
)

// BenchmarkClosedClaims reads an entry and adds a fact to it, with few closed claims and with many. The times should be
// similar.
func BenchmarkClosedClaims(b *testing.B) {
	for _, closed := range []int{80, 8_000} {
		s := newStory(b, b.TempDir(), scenesOf(2))
		s.read(creates("Dawn", "Dawn is a ship."))
		s.bulk(`CREATE TEMP TABLE c AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?1) SELECT n + 10 AS n FROM c;
			INSERT INTO revision (id, entry_id, field, at, seen, actor, turn, changed_at)
			  SELECT (SELECT max(id) FROM revision) + 3 * (n - 11) + k, 1, iif(k = 2, 'evidence', 'claim'), 1000000, 1, 'rule', 0, 0
			  FROM c, (SELECT 1 AS k UNION ALL SELECT 2 UNION ALL SELECT 3);
			INSERT INTO value (id, entry_id, field, key, json, holds, set_by, ended_by, from_seen, until_seen)
			  SELECT (1 << 20) + id, 1, field, iif(field = 'claim', n, n || '/10/0-4'), iif(field = 'claim', json_object('id', n, 'ord', n, 'text',
			      'She sails the sea to harbour ' || n || ' with the captain of the ship.', 'kind', 'narrated', 'from', 1000000, 'until', iif(k = 3, 1000000, 0)),
			      json_object('claim', n, 'post', 10, 'start', 0, 'end', 4, 'quote', 'Dawn')), k <> 3, id, iif(k = 1, id + 2, NULL), 1, iif(k = 1, 1, NULL)
			  FROM (SELECT r.id, r.field, 11 + (r.id - b.least) / 3 AS n, 1 + (r.id - b.least) % 3 AS k FROM revision r,
			    (SELECT min(id) AS least FROM revision WHERE actor = 'rule') b WHERE r.actor = 'rule');
			UPDATE entry SET revision = (SELECT max(id) FROM revision), revisions = (SELECT count(*) FROM revision)`, closed)
		now := view.At(s.db, view.Moment{})
		b.Run(fmt.Sprintf("read/%d", closed), func(b *testing.B) {
			for b.Loop() {
				_, err := now.Outlines(s.ctx, []int64{1})
				s.ok(err)
			}
		})
		b.Run(fmt.Sprintf("whole/%d", closed), func(b *testing.B) {
			for b.Loop() {
				_, err := now.Entry(s.ctx, 1)
				s.ok(err)
			}
		})
		s.begin("scene")
		s.reply("", "tool")
		n := 0
		b.Run(fmt.Sprintf("add a fact/%d", closed), func(b *testing.B) {
			for b.Loop() {
				n++
				s.calls = slices.Repeat(s.calls[:1], 2)
				s.calls[0].CallID = fmt.Sprint("call", n)
				s.tool(revises(1, codex.Edit{Facts: []codex.Fact{{Text: fmt.Sprintf("She has sailed %d times.", n)}}}))
			}
		})
	}
}
