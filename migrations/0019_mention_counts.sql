-- How often entries are mentioned in up to 60 consecutive scenes of a thread, and in which of them: counts by thread and the scenes that
-- two entries share are read from it. The program keeps it with table mention.
CREATE TABLE mention_count (
  entry_id INTEGER NOT NULL REFERENCES glossary_entry (id),
  block    INTEGER NOT NULL, -- the first of the scenes: the thread's first, or 60, 120, … scenes behind it
  revision_id INTEGER NOT NULL, -- as in mention
  from_at  INTEGER NOT NULL,    -- as in mention
  until_at INTEGER NOT NULL,    -- as in mention; 0 for none
  until_id INTEGER NOT NULL,    -- as in mention; 0 for none
  mentions INTEGER NOT NULL,    -- with these
  scenes   INTEGER NOT NULL,    -- a bit for each scene that has one, 1 for the first
  PRIMARY KEY (entry_id, block, revision_id, from_at, until_id, until_at)
) STRICT, WITHOUT ROWID;
INSERT INTO mention_count SELECT entry_id, block, revision_id, from_at, until_at, until_id, sum(mentions), sum(bit) FROM (
  SELECT m.entry_id, s.n - s.idx % 60 AS block, m.revision_id, m.from_at, coalesce(m.until_at, 0) AS until_at, coalesce(m.until_id, 0) AS until_id,
    count(*) AS mentions, 1 << (s.idx % 60) AS bit FROM mention m JOIN scene s ON s.n = m.place / 1000000
  GROUP BY m.entry_id, s.n, m.revision_id, m.from_at, m.until_id, m.until_at)
GROUP BY entry_id, block, revision_id, from_at, until_id, until_at;

-- How often each entry was ever mentioned: no limit shows more, so those with few need not be counted to find those with most.
CREATE TABLE mention_total (
  entry_id INTEGER PRIMARY KEY REFERENCES glossary_entry (id),
  mentions INTEGER NOT NULL -- ended ones, too
) STRICT;
CREATE INDEX mention_total_most ON mention_total (mentions DESC, entry_id);
INSERT INTO mention_total SELECT entry_id, count(*) FROM mention GROUP BY entry_id;

-- A limit asks for the first call for a scene after it.
CREATE INDEX call_scene ON call (scene);
