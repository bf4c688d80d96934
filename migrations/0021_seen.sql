-- A revision has two places: at, that of its quotation or of the scene, which is shown; and seen, the furthest scene that was read when
-- it was made, by which limits select. A scene that is read late changes nothing that a reader of earlier scenes sees.
ALTER TABLE revision ADD COLUMN seen INTEGER NOT NULL DEFAULT 0; -- the furthest scene that was read when it was made
CREATE TEMP TABLE opening AS SELECT id, max(scene) OVER (ORDER BY id) AS furthest FROM trace WHERE turn > 0 AND seq = 0;
CREATE INDEX temp.opening_id ON opening (id, furthest);
UPDATE revision SET seen = max(at / 1000000, coalesce(
  (SELECT furthest FROM opening o WHERE o.id <= coalesce(trace_id, 1 << 62) ORDER BY o.id DESC LIMIT 1), 0));
DROP TABLE opening;

-- The program fills these tables from the revisions.
DELETE FROM validity;
DELETE FROM entry_version;
INSERT INTO glossary_fts_name (glossary_fts_name) VALUES ('delete-all');
INSERT INTO glossary_fts_claim (glossary_fts_claim) VALUES ('delete-all');
ALTER TABLE validity RENAME COLUMN from_at TO from_seen;
ALTER TABLE validity RENAME COLUMN until_at TO until_seen;
ALTER TABLE entry_version RENAME COLUMN from_at TO from_seen;
ALTER TABLE entry_version RENAME COLUMN until_at TO until_seen;

UPDATE mention SET from_at = coalesce((SELECT seen FROM revision WHERE id = revision_id), 0),
  until_at = (SELECT seen FROM revision WHERE id = until_id);
ALTER TABLE mention RENAME COLUMN from_at TO from_seen;
ALTER TABLE mention RENAME COLUMN until_at TO until_seen;

DELETE FROM mention_count;
ALTER TABLE mention_count RENAME COLUMN from_at TO from_seen;
ALTER TABLE mention_count RENAME COLUMN until_at TO until_seen;
INSERT INTO mention_count SELECT entry_id, block, revision_id, from_seen, until_seen, until_id, sum(mentions), sum(bit) FROM (
  SELECT m.entry_id, s.n - s.idx % 60 AS block, m.revision_id, m.from_seen, coalesce(m.until_seen, 0) AS until_seen, coalesce(m.until_id, 0) AS until_id,
    count(*) AS mentions, 1 << (s.idx % 60) AS bit FROM mention m JOIN scene s ON s.n = m.place / 1000000
  GROUP BY m.entry_id, s.n, m.revision_id, m.from_seen, m.until_id, m.until_seen)
GROUP BY entry_id, block, revision_id, from_seen, until_id, until_seen;

-- What an entry is now is out of date once a revision after it has changed a state.
ALTER TABLE claim ADD COLUMN revision INTEGER NOT NULL DEFAULT 0; -- that set it as it is
ALTER TABLE glossary_entry ADD COLUMN present_revision INTEGER NOT NULL DEFAULT 0; -- that set the statement
UPDATE claim SET revision = coalesce((SELECT max(r.id) FROM revision r WHERE r.entry_id = claim.entry_id AND r.field = 'claim' AND r.new_value ->> 'id' = claim.id), 0);
UPDATE glossary_entry SET present_revision = coalesce((SELECT max(r.id) FROM revision r WHERE r.entry_id = glossary_entry.id AND r.field = 'present'), 0);
