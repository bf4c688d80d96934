-- Threads are summarised at their end, without a compaction: a summary takes effect with a row of the journal, and enters the window
-- with a compaction or never. SQLite cannot change a reference in place, and what refers to the table does so again when its rows are
-- back.
PRAGMA defer_foreign_keys = ON;
CREATE TEMP TABLE former_episode AS SELECT * FROM episode;
UPDATE episode SET supersedes = NULL; -- or each row that is dropped violates it
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
  trace_id   INTEGER NOT NULL REFERENCES trace (id),   -- the row with which it was made: a reply, a note or a compaction
  entered    INTEGER REFERENCES compaction (trace_id), -- with which it entered the window; none if it never did
  gone       INTEGER REFERENCES compaction (trace_id), -- with which it left the window; none while it is there
  created_at INTEGER NOT NULL,
  CHECK (kind <> 'cumulative' OR thread_id = 0),
  CHECK (kind <> 'thread' OR entered IS NULL),
  CHECK (gone IS NULL OR entered IS NOT NULL),
  CHECK (from_scene <= to_scene AND from_turn <= to_turn)
) STRICT;
INSERT INTO episode SELECT id, kind, thread_id, idx, scenes, from_scene, to_scene, from_turn, to_turn, summary, entries, author, supersedes,
  tokens, trace_id, iif(kind = 'thread', NULL, trace_id), iif(kind = 'thread', NULL, gone), created_at FROM former_episode;
DROP TABLE former_episode;
CREATE INDEX episode_in_window ON episode (id) WHERE entered IS NOT NULL AND gone IS NULL;
CREATE INDEX episode_trace ON episode (trace_id);
CREATE INDEX episode_kind ON episode (kind, thread_id);

-- How often the model was asked for a thread's summary and gave none.
ALTER TABLE thread_state ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;

-- The newest row of the journal when this was added. A thread that ended before has no summary, unless its scenes were still in the
-- window.
ALTER TABLE run_state ADD COLUMN summaries_after INTEGER NOT NULL DEFAULT 0;
UPDATE run_state SET summaries_after = (SELECT coalesce(max(id), 0) FROM trace);
