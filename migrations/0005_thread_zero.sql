-- A thread may have the number 0: there are stories whose chapters are counted from there, and summaries of it were refused. SQLite
-- cannot change a CHECK in place, and what refers to the table does so again when its rows are back.
PRAGMA defer_foreign_keys = ON;
CREATE TEMP TABLE former_episode AS SELECT * FROM episode;
DROP TABLE episode;
CREATE TABLE episode (
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('chunk', 'thread', 'cumulative')),
  thread_id  INTEGER NOT NULL, -- 0 for a cumulative one
  idx        INTEGER NOT NULL,
  scenes     TEXT NOT NULL,
  from_scene INTEGER NOT NULL,
  to_scene   INTEGER NOT NULL,
  from_turn  INTEGER NOT NULL,
  to_turn    INTEGER NOT NULL,
  summary    TEXT NOT NULL CHECK (summary <> ''),
  entries    TEXT NOT NULL, -- ids, as a JSON array
  author     TEXT NOT NULL CHECK (author IN ('model', 'rule')),
  supersedes INTEGER REFERENCES episode (id),
  tokens     INTEGER NOT NULL,
  trace_id   INTEGER NOT NULL REFERENCES compaction (trace_id), -- with which it came into force
  gone       INTEGER REFERENCES compaction (trace_id),          -- with which it left the window; none while it is there
  created_at INTEGER NOT NULL,
  CHECK (kind <> 'cumulative' OR thread_id = 0),
  CHECK (from_scene <= to_scene AND from_turn <= to_turn)
) STRICT;
INSERT INTO episode SELECT * FROM former_episode;
DROP TABLE former_episode;
CREATE INDEX episode_in_force ON episode (id) WHERE gone IS NULL;
CREATE INDEX episode_trace ON episode (trace_id);
