-- A quarantined scene that is put back to be read leaves behind how it ended, so that nothing of the run's history is lost.
CREATE TABLE refusal (
  scene       INTEGER NOT NULL REFERENCES scene (n),
  nth         INTEGER NOT NULL CHECK (nth > 0), -- of the scene's refusals, from 1
  turn        INTEGER NOT NULL, -- that ended so; 0 where the model was not asked
  reason      TEXT NOT NULL,
  fault       TEXT NOT NULL,
  raw         BLOB,
  refused_at  INTEGER NOT NULL,
  snapshot_id INTEGER NOT NULL, -- the newest when the scene was put back
  retried_at  INTEGER NOT NULL,
  PRIMARY KEY (scene, nth)
) STRICT, WITHOUT ROWID;

-- The kind of the fault that a scene was quarantined for; empty where the server was not to blame.
ALTER TABLE scene ADD COLUMN fault TEXT NOT NULL DEFAULT '';

-- A probe that is answered has no row of the journal. SQLite cannot change a CHECK in place, and what refers to the table does
-- so again when its rows are back.
PRAGMA defer_foreign_keys = ON;
CREATE TEMP TABLE former_call AS SELECT * FROM call;
DROP TABLE call;
CREATE TABLE call (
  id                INTEGER PRIMARY KEY,
  turn              INTEGER NOT NULL,
  scene             INTEGER NOT NULL,
  purpose           TEXT NOT NULL CHECK (purpose IN ('annotate', 'summarise', 'curate', 'ask', 'probe')),
  attempt           INTEGER NOT NULL, -- from 1
  outcome           TEXT NOT NULL CHECK (outcome IN ('open', 'ok', 'lost', 'transient', 'overloaded', 'shrink', 'malformed', 'refused',
                      'gone', 'misconfigured', 'hostile', 'interrupted')), -- lost: the program was killed meanwhile
  decision          TEXT NOT NULL DEFAULT '', -- what was done about a failure, and why
  status            INTEGER NOT NULL DEFAULT 0, -- HTTP
  fault             TEXT NOT NULL DEFAULT '',
  model             TEXT NOT NULL DEFAULT '', -- as the server reported it
  finish            TEXT NOT NULL DEFAULT '',
  estimate          INTEGER NOT NULL, -- of the prompt, in tokens, before the call
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  cached_tokens     INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  exact             INTEGER NOT NULL DEFAULT 0 CHECK (exact IN (0, 1)), -- reported by the server
  trace_id          INTEGER REFERENCES trace (id), -- the reply; an answer out of a snapshot is no row of the journal, nor is one to a probe
  raw               BLOB, -- of a reply that could not be used
  started_at        INTEGER NOT NULL,
  first_byte_ms     INTEGER NOT NULL DEFAULT 0,
  total_ms          INTEGER NOT NULL DEFAULT 0,
  signs             TEXT NOT NULL DEFAULT '', -- what the prompt was made of, as a JSON array
  CHECK ((trace_id IS NOT NULL) = (outcome = 'ok' AND purpose NOT IN ('ask', 'probe'))),
  CHECK (cached_tokens <= prompt_tokens)
) STRICT;
INSERT INTO call SELECT * FROM former_call;
DROP TABLE former_call;
CREATE INDEX call_open ON call (id) WHERE outcome = 'open';
CREATE INDEX call_turn ON call (turn);
