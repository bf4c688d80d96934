package storage_test

import "annotator/internal/sqlite"

// bulk writes many rows at once by SQL, without the program, and opens the database again.
func (s *story) bulk(statement string, args ...any) {
	s.Helper()
	pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadWrite, 1)
	s.ok(err)
	_, err = pool.ExecContext(s.ctx, statement, args...)
	s.ok(err)
	s.ok(pool.Close())
	s.reopen()
}

// seedEntries makes n live entries with a name and a claim each.
func (s *story) seedEntries(n int) {
	s.Helper()
	s.bulk(`CREATE TEMP TABLE nth AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?1) SELECT n FROM c;
		CREATE TEMP TABLE made AS SELECT 3 * n - 2 AS id, n, 'term' AS field, json_quote('Name' || n) AS value, 'name' || n AS key FROM nth
		  UNION ALL SELECT 3 * n - 1, n, 'alias', json_object('name', 'Name' || n, 'from', 1), 'name' || n FROM nth
		  UNION ALL SELECT 3 * n, n, 'claim', json_object('id', 1, 'ord', 0, 'text', 'This is number ' || n || '.', 'kind', 'narrated', 'from', 1), '1' FROM nth;
		INSERT INTO entry (id, status, name, first_at, last_at, revisions, revision, claims, changes, claimed)
		  SELECT n, 'tentative', 'name' || n, 1, 1, 3, 3 * n, 1, 1, 1 FROM nth;
		INSERT INTO revision (id, entry_id, field, at, seen, actor, turn, changed_at) SELECT id, n, field, 1, 1, 'rule', 0, 0 FROM made ORDER BY id;
		INSERT INTO value (id, entry_id, field, key, json, holds, set_by, from_seen) SELECT (1 << 20) + id, n, field, key, value, 1, id, 1 FROM made ORDER BY id;
		UPDATE run_state SET entries = entries + ?1`, n)
}

// seedScenes writes the rows of n scenes that are read: four rows of the journal, a call and a checkpoint each. Every
// twentieth scene has a compaction that leaves the last thirty turns. The rows' hashes are not real.
func (s *story) seedScenes(n int) {
	s.Helper()
	s.bulk(`CREATE TEMP TABLE nth AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?1) SELECT n FROM c;
		INSERT INTO trace (id, turn, seq, kind, scene, content, call_id, tokens, hash, at)
		  SELECT (SELECT max(id) FROM trace) + 4 * (n - 1) + seq + 1, n, seq, kind, n, printf('%.*c', 400, 'x'), iif(seq IN (1, 2), 'seed' || n, ''), 100, zeroblob(32), 0
		    FROM nth, (SELECT 0 AS seq, 'scene' AS kind UNION ALL SELECT 1, 'tool_call' UNION ALL SELECT 2, 'tool_result' UNION ALL SELECT 3, 'reply');
		INSERT INTO call (turn, scene, purpose, attempt, outcome, estimate, trace_id, started_at)
		  SELECT turn, scene, 'annotate', 1, 'ok', 100, id, 0 FROM trace WHERE kind = 'reply';
		INSERT INTO trace (id, turn, seq, kind, content, hash, at)
		  SELECT (SELECT max(id) FROM trace) + n / 20, 0, (SELECT max(id) FROM trace) + n / 20, 'compaction', '{"tier":"5"}', zeroblob(32), 0 FROM nth WHERE n % 20 = 0;
		INSERT INTO compaction (trace_id, epoch, tier, through_turn, tokens_before, tokens_after, reason)
		  SELECT id, row_number() OVER (ORDER BY id), '5', max(20 * row_number() OVER (ORDER BY id) - 30, 0), 0, 0, '' FROM trace WHERE kind = 'compaction';
		INSERT INTO snapshot (type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens)
		  SELECT 'checkpoint', 0, n, (SELECT thread_id FROM scene WHERE n = nth.n), 4 * n, 0, 1, 0, 0 FROM nth;
		UPDATE scene SET state = 'recorded', recorded_at = 0, turn = n WHERE n <= ?1;
		UPDATE thread_state SET status = 'completed', summary_due = 1 WHERE last_scene <= ?1;
		UPDATE run_state SET turn = ?1, recorded = ?1, calls = ?1`, n)
	s.scene, s.turns = n, int64(n)
}
