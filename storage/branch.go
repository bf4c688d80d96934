package storage

import (
	"cmp"
	"context"
	"time"

	"annotator"
	"annotator/internal/atomicfile"
	"annotator/internal/sqlite"
)

// Branch creates a database at out with the state of the one at path at a snapshot. A run continues from it as it did
// then. The database at path does not change, and may be in use. An existing file at out is Misused, and kept.
func Branch(ctx context.Context, path, out string, snapshot int64) error {
	if err := checkAbsent(out); err != nil {
		return err
	}
	db, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	at, err := db.Snapshots.Get(ctx, snapshot)
	if err != nil {
		return err
	}
	if at.Kind == annotator.SnapshotFork {
		return annotator.Errorf(annotator.Misused,
			"snapshot %d is of a question to the curator, and no run goes on from there", snapshot).
			WithReason(annotator.ReasonNoBranch, annotator.SnapshotCheckpoint)
	}
	err = db.derive(ctx, out, func(copied string) error { return cutAfter(ctx, copied, snapshot) })
	return sqlite.Wrap(err, "branch %s at snapshot %d", path, snapshot)
}

// derive creates a database at out with all of this one, as change leaves it. The copy has another name until it is
// finished, so that out is never half of it.
func (db *DB) derive(ctx context.Context, out string, change func(copied string) error) error {
	part, err := atomicfile.Create(out)
	if err != nil {
		return annotator.Errorf(annotator.Misused, "copy to %s: its folder cannot be written", out).
			WithAdvice("choose another place")
	}
	defer part.Discard()
	if err = vacuumInto(ctx, db.read.DB, part.Path); err == nil {
		err = change(part.Path)
	}
	if err != nil {
		return err
	}
	changed, err := Open(ctx, part.Path)
	if err != nil {
		return err
	}
	return cmp.Or(changed.Maintenance.Backup(ctx, out), changed.Close())
}

// cutAfter deletes what came after a snapshot.
func cutAfter(ctx context.Context, path string, snapshot int64) error {
	pool, err := openWriter(ctx, path)
	if err != nil {
		return err
	}
	err = transact(ctx, pool, time.Now, func(tx *tx) {
		tx.exec(cutPoint, snapshot)
		tx.exec(cutRows)
		tx.exec(cutFormer)
		tx.correctSpans()
		tx.exec(`UPDATE thread_state SET summary_due = ` + summaryDue)
		tx.exec(cutValues)
		tx.correctMeanings()
		tx.exec(fillCounts)
	})
	return cmp.Or(err, pool.Close())
}

// correctMeanings sets what names mean that looked back to a scene that was read later.
func (tx *tx) correctMeanings() {
	wrong, err := wrongMeanings(tx.ctx, tx)
	tx.fail(err)
	for i := range wrong {
		m := &wrong[i]
		tx.execOne(`UPDATE mention SET meant = 1 - meant
			WHERE entry_id = ? AND place = ? AND start_at = ? AND set_by = ?`,
			m.Entry, m.Place, m.Start, m.since.revision)
	}
}

// cutPoint is the position of a snapshot: its ends, the newest turn, its last call, and whether a checkpoint is due.
const cutPoint = `CREATE TEMP TABLE point AS SELECT s.id AS snapshot, s.scene, s.trace_id AS trace,
  s.revision_id AS revision, s.context_id AS context,
  (SELECT coalesce(max(turn), 0) FROM trace WHERE id <= s.trace_id) AS turn,
  (SELECT coalesce(max(id), 0) FROM call
    WHERE turn BETWEEN 1 AND (SELECT coalesce(max(turn), 0) FROM trace WHERE id <= s.trace_id)) AS call,
  s.type = 'checkpoint' AND
    (SELECT count(*) FROM snapshot c WHERE c.scene = s.scene AND c.type = 'checkpoint' AND c.id <= s.id)
    <= (SELECT count(*) FROM refusal f WHERE f.scene = s.scene AND f.snapshot_id < s.id) AS due
  FROM snapshot s WHERE s.id = ?`

// cutRows deletes the rows after the point, conversations of people, and findings. The indexes speed up checks of
// foreign keys.
const cutRows = `
PRAGMA defer_foreign_keys = ON;
CREATE INDEX cut_call ON call (trace_id);
CREATE INDEX cut_snapshot ON snapshot (scene);
CREATE INDEX cut_trace ON trace (scene);
DELETE FROM pending_edit;
DELETE FROM proposal;
DELETE FROM decision WHERE edits <> '[]' OR seen > (SELECT ord FROM scene WHERE n = (SELECT scene FROM snapshot
  WHERE id = (SELECT snapshot FROM point)));
DELETE FROM summon_exchange WHERE summon_id IN
  (SELECT id FROM summon WHERE asker = 'person' OR turn > (SELECT turn FROM point));
DELETE FROM summon WHERE asker = 'person' OR turn > (SELECT turn FROM point);
DELETE FROM finding;
DELETE FROM call WHERE trace_id > (SELECT trace FROM point) OR turn > (SELECT turn FROM point)
  OR trace_id IS NULL AND turn = 0 AND id > (SELECT call FROM point) OR purpose IN ('ask', 'check') AND turn = 0;
UPDATE episode SET gone = NULL WHERE gone > (SELECT trace FROM point);
UPDATE episode SET entered = NULL WHERE entered > (SELECT trace FROM point);
DELETE FROM episode WHERE trace_id > (SELECT trace FROM point);
UPDATE thread_state SET unanswered = 0 WHERE thread_id NOT IN (SELECT thread_id FROM episode WHERE kind = 'thread');
DELETE FROM compaction WHERE trace_id > (SELECT trace FROM point);
DELETE FROM mention WHERE set_by > (SELECT revision FROM point);
UPDATE mention SET until_seen = NULL, ended_by = NULL WHERE ended_by > (SELECT revision FROM point);
DELETE FROM snapshot WHERE id > (SELECT snapshot FROM point);
DELETE FROM tool_decision WHERE trace_id > (SELECT trace FROM point);
DELETE FROM trace WHERE id > (SELECT trace FROM point);
CREATE TEMP TABLE former AS SELECT * FROM refusal WHERE snapshot_id >= (SELECT snapshot FROM point)
  AND nth = (SELECT min(nth) FROM refusal f
    WHERE f.scene = refusal.scene AND f.snapshot_id >= (SELECT snapshot FROM point));
DELETE FROM refusal WHERE snapshot_id >= (SELECT snapshot FROM point);
UPDATE scene SET state = 'quarantined', turn = f.turn, reason = f.reason, fault = f.fault, raw = f.raw,
  follow_up = '', recorded_at = f.refused_at
  FROM former f WHERE f.scene = n;
UPDATE scene SET state = 'pending', turn = 0, reason = '', fault = '', raw = NULL, follow_up = '', recorded_at = NULL,
  started_at = iif(n IN (SELECT scene FROM refusal), started_at, NULL)
  WHERE (SELECT count(*) FROM snapshot WHERE scene = n AND type = 'checkpoint') + (SELECT due AND scene = n FROM point)
    <= (SELECT count(*) FROM refusal WHERE scene = n) AND state <> 'withdrawn';
DELETE FROM mention WHERE place / 1000000 IN
  (SELECT ord FROM scene WHERE state = 'pending' AND n NOT IN (SELECT scene FROM refusal));
DELETE FROM scene_word WHERE rowid IN
  (SELECT n FROM scene WHERE mentioned AND state = 'pending' AND n NOT IN (SELECT scene FROM refusal));
UPDATE scene SET mentioned = 0 WHERE state = 'pending' AND n NOT IN (SELECT scene FROM refusal);
DELETE FROM mention_count;
DELETE FROM mention_total;
UPDATE run_state SET mentions = min(mentions, (SELECT revision FROM point));
UPDATE scene SET attempts = (SELECT count(*) FROM trace WHERE scene = n AND seq = 0 AND turn > 0)
  WHERE state = 'pending' AND attempts > 0 OR n IN (SELECT scene FROM former);
DROP TABLE former;
UPDATE thread_state SET status = 'in_progress', completed_at = NULL
  FROM scene s, point p WHERE s.n = last_scene AND (s.state = 'pending' OR p.due AND s.n = p.scene);
UPDATE thread_state SET status = 'completed', completed_at = s.recorded_at FROM scene s, point p
  WHERE s.n = last_scene AND s.state IN ('recorded', 'quarantined') AND NOT (p.due AND s.n = p.scene)
  AND completed_at IS NULL;
UPDATE thread_state SET status = iif(status = 'in_progress', 'pending', status), started_at = NULL
  WHERE NOT EXISTS (SELECT 1 FROM scene s WHERE s.thread_id = thread_state.thread_id AND s.attempts > 0);
UPDATE run_state SET state = 'CHECKPOINT', halted = '', holder = '', context_id = p.context, turn = p.turn,
  open_scene = iif(p.due, p.scene, 0),
  begun_call = (SELECT coalesce(max(id), 0) FROM call), begun_snapshot = p.snapshot,
  summaries_after = min(summaries_after, p.trace),
  recorded = (SELECT count(*) FROM scene WHERE state = 'recorded'),
  quarantined = (SELECT count(*) FROM scene WHERE state = 'quarantined'),
  (calls, prompt_tokens, told_tokens, cached_tokens, completion_tokens) = (SELECT count(*),
    coalesce(sum(prompt_tokens), 0), coalesce(sum(told_tokens), 0), coalesce(sum(cached_tokens), 0),
    coalesce(sum(completion_tokens), 0) FROM call
    WHERE outcome NOT IN ('open', 'lost') AND purpose <> 'probe')
  FROM point p;
DELETE FROM snapshot_context WHERE id NOT IN (SELECT CAST(content AS INTEGER) FROM trace WHERE kind = 'prompt')
  AND id NOT IN (SELECT context_id FROM snapshot);
DROP INDEX cut_call;
DROP INDEX cut_snapshot;
DROP INDEX cut_trace;`

// cutFormer withdraws scenes that are pending again, and have text that the source no longer has. It lets the next run
// compare its scenes with the corpus.
const cutFormer = `
UPDATE scene SET state = 'withdrawn' WHERE state = 'pending'
  AND EXISTS (SELECT 1 FROM json_each(posts) j JOIN scene_post p ON p.post_id = j.value WHERE p.former = 1);
UPDATE mention SET ended_by = (SELECT revision FROM point), until_seen = max(from_seen, (SELECT max(ord) FROM scene
  WHERE attempts > 0 OR recorded_at IS NOT NULL))
  WHERE ended_by IS NULL AND place IN (SELECT place FROM scene_post WHERE former = 1);
UPDATE run_state SET corpus_identity = '' WHERE EXISTS (SELECT 1 FROM scene_post WHERE former = 1);`

// cutValues deletes the values that were set after the point, and restores those that were ended after it.
const cutValues = `
CREATE INDEX cut_value ON value (set_by);
DELETE FROM value WHERE set_by > (SELECT revision FROM point);
UPDATE value SET ended_by = NULL, until_seen = NULL WHERE ended_by > (SELECT revision FROM point);
DELETE FROM revision WHERE id > (SELECT revision FROM point);
DELETE FROM entry WHERE id NOT IN (SELECT entry_id FROM revision);
UPDATE entry SET name = NULL, status = 'retired';
UPDATE entry SET (status, name, first_at, last_at, revisions, revision, claims, changes, claimed) = (` + entryRow + `);
UPDATE run_state SET entries = (SELECT count(*) FROM entry WHERE name IS NOT NULL);
INSERT INTO glossary_fts_name (glossary_fts_name) VALUES ('rebuild');
INSERT INTO glossary_fts_claim (glossary_fts_claim) VALUES ('rebuild');
DROP INDEX cut_value`

// entryRow is a row of table entry, without its id, as its values and revisions add up to it.
const entryRow = `SELECT coalesce(s.key, 'tentative'), iif(coalesce(s.key, '') IN ('retired', 'merged'), NULL, t.key),
    (SELECT min(at) FROM revision r WHERE r.entry_id = entry.id),
    (SELECT max(at) FROM revision r WHERE r.entry_id = entry.id),
    (SELECT count(*) FROM revision r WHERE r.entry_id = entry.id),
    (SELECT max(id) FROM revision r WHERE r.entry_id = entry.id),
    ` + claimsHeld + `, ` + claimsChanged + `,
    (SELECT coalesce(max(CAST(v.key AS INTEGER)), 0) FROM value v WHERE v.entry_id = entry.id AND v.field = 'claim')
  FROM value t LEFT JOIN value s ON s.entry_id = t.entry_id AND s.field = 'status' AND s.ended_by IS NULL
  WHERE t.entry_id = entry.id AND t.field = 'term' AND t.ended_by IS NULL`
