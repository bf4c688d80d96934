-- Compaction with summaries: a row tells the whole state of the window from there on, and a summary has its episode.
CREATE TABLE compaction_2 (
  trace_id      INTEGER PRIMARY KEY REFERENCES trace (id),
  epoch         INTEGER NOT NULL UNIQUE,
  tier          TEXT NOT NULL CHECK (tier IN ('0.5', '1', '2', '3', '4', '5', 'drop', 'quarantine')),
  through_turn  INTEGER NOT NULL, -- all turns up to this one are out of the window; never falls
  only_turn     INTEGER NOT NULL DEFAULT 0, -- and so is this one
  tokens_before INTEGER NOT NULL,
  tokens_after  INTEGER NOT NULL,
  reason        TEXT NOT NULL
) STRICT;
INSERT INTO compaction_2 (trace_id, epoch, tier, through_turn, only_turn, tokens_before, tokens_after, reason)
  SELECT trace_id, epoch, tier, through_turn, only_turn, tokens_before, tokens_after, reason FROM compaction;
DROP TABLE compaction;
ALTER TABLE compaction_2 RENAME TO compaction;
CREATE INDEX compaction_only ON compaction (only_turn) WHERE only_turn <> 0;

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
  CHECK ((kind = 'cumulative') = (thread_id = 0)),
  CHECK (from_scene <= to_scene AND from_turn <= to_turn)
) STRICT;
CREATE INDEX episode_in_force ON episode (id) WHERE gone IS NULL;
CREATE INDEX episode_trace ON episode (trace_id);

-- A conversation with a snapshot. It writes nothing but itself.
CREATE TABLE summon (
  id           INTEGER PRIMARY KEY,
  snapshot_id  INTEGER NOT NULL REFERENCES snapshot (id),
  asker        TEXT NOT NULL CHECK (asker IN ('model', 'person')),
  turn         INTEGER NOT NULL DEFAULT 0, -- in which the model asked
  opened_at    INTEGER NOT NULL,
  dismissed_at INTEGER,
  summary      TEXT NOT NULL DEFAULT '' -- what the asker took away
) STRICT;
CREATE TABLE summon_exchange (
  summon_id INTEGER NOT NULL REFERENCES summon (id),
  seq       INTEGER NOT NULL,
  question  TEXT NOT NULL,
  answer    TEXT NOT NULL,
  asked_at  INTEGER NOT NULL,
  PRIMARY KEY (summon_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX summon_open ON summon (id) WHERE dismissed_at IS NULL;

CREATE INDEX revision_turn ON revision (turn);
