-- Conversations with snapshots. What they bring is no row of the journal, so a call that asks ends well without one.
CREATE TABLE call_2 (
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
  trace_id          INTEGER REFERENCES trace (id), -- the reply
  raw               BLOB, -- of a reply that could not be used
  started_at        INTEGER NOT NULL,
  first_byte_ms     INTEGER NOT NULL DEFAULT 0,
  total_ms          INTEGER NOT NULL DEFAULT 0,
  signs             TEXT NOT NULL DEFAULT '', -- what the prompt was made of, as a JSON array
  CHECK ((trace_id IS NOT NULL) = (outcome = 'ok' AND purpose <> 'ask')),
  CHECK (cached_tokens <= prompt_tokens)
) STRICT;
INSERT INTO call_2 SELECT id, turn, scene, purpose, attempt, outcome, decision, status, fault, model, finish, estimate, prompt_tokens,
  cached_tokens, completion_tokens, exact, trace_id, raw, started_at, first_byte_ms, total_ms, signs FROM call;
DROP TABLE call;
ALTER TABLE call_2 RENAME TO call;
CREATE INDEX call_open ON call (id) WHERE outcome = 'open';
CREATE INDEX call_turn ON call (turn);

-- Nothing has written these two before.
DROP TABLE summon_exchange;
DROP TABLE summon;
CREATE TABLE summon (
  id           INTEGER PRIMARY KEY,
  snapshot_id  INTEGER NOT NULL REFERENCES snapshot (id),
  asker        TEXT NOT NULL CHECK (asker IN ('model', 'person')),
  turn         INTEGER NOT NULL, -- in which the model asked; 0 of a person
  opened_at    INTEGER NOT NULL,
  dismissed_at INTEGER,          -- of a person: when the newest answer came
  summary      TEXT NOT NULL DEFAULT '', -- what the asker took away
  CHECK ((asker = 'model') = (turn > 0))
) STRICT;
CREATE UNIQUE INDEX summon_open ON summon (asker) WHERE dismissed_at IS NULL; -- one at a time
CREATE INDEX summon_turn ON summon (turn) WHERE turn > 0;
CREATE TABLE summon_exchange (
  summon_id INTEGER NOT NULL REFERENCES summon (id),
  seq       INTEGER NOT NULL, -- from 0
  question  TEXT NOT NULL,
  answer    TEXT NOT NULL CHECK (answer <> ''),
  call_id   INTEGER NOT NULL UNIQUE REFERENCES call (id),
  asked_at  INTEGER NOT NULL,
  PRIMARY KEY (summon_id, seq)
) STRICT, WITHOUT ROWID;
