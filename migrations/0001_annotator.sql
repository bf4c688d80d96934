-- A place (first_at, from_at, at, ...) is scene * 1000000 + rank of the post in the scene; it sorts in story order.

-- What a fold of the journal cannot compute: the system prompt and the tools, stored once for each change.
CREATE TABLE snapshot_context (
  id            INTEGER PRIMARY KEY,
  hash          TEXT NOT NULL UNIQUE,
  system_prompt TEXT NOT NULL,
  tools         TEXT NOT NULL,
  created_at    INTEGER NOT NULL
) STRICT;

-- One row: where the run stands.
CREATE TABLE run_state (
  id                INTEGER PRIMARY KEY CHECK (id = 1),
  state             TEXT NOT NULL CHECK (state IN ('INIT', 'IDLE', 'NO_MORE', 'COMPACTING', 'PREPARING', 'CALLING', 'RETRYING',
                      'HALTING', 'PROCESSING', 'TOOL_EXEC', 'PARSING', 'RECORDING', 'BOUNDARY', 'CURATING', 'CHECKPOINT', 'EXIT')),
  title             TEXT NOT NULL,
  corpus_path       TEXT NOT NULL,
  corpus_hash       TEXT NOT NULL, -- over the hashes of all scenes
  corpus_identity   TEXT NOT NULL, -- a cheap fingerprint of the file; the same means that nothing need be read to know it unchanged
  scene_bytes       INTEGER NOT NULL, -- a longer run of posts was cut into scenes of at most so many bytes
  endpoint          TEXT NOT NULL,
  model             TEXT NOT NULL,
  context_id        INTEGER REFERENCES snapshot_context (id),
  open_scene        INTEGER NOT NULL DEFAULT 0, -- begun and not yet followed by its checkpoint
  turn              INTEGER NOT NULL DEFAULT 0, -- the newest
  recorded          INTEGER NOT NULL DEFAULT 0,
  quarantined       INTEGER NOT NULL DEFAULT 0,
  calls             INTEGER NOT NULL DEFAULT 0, -- that ended, well or not
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  cached_tokens     INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  entries           INTEGER NOT NULL DEFAULT 0, -- live
  started_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  halted            TEXT NOT NULL DEFAULT '', -- why the last run stopped before the end
  holder            TEXT NOT NULL DEFAULT '' -- who runs, or ran last; the lock file beside the database says whether still
) STRICT;

CREATE TABLE thread_state (
  thread_id    INTEGER PRIMARY KEY,
  ord          INTEGER NOT NULL UNIQUE, -- story order, from 1
  title        TEXT NOT NULL,
  first_scene  INTEGER NOT NULL,
  last_scene   INTEGER NOT NULL,
  status       TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'in_progress', 'completed')),
  started_at   INTEGER,
  completed_at INTEGER,
  CHECK (first_scene <= last_scene)
) STRICT;

CREATE TABLE scene (
  n           INTEGER PRIMARY KEY, -- from 1, in story order
  thread_id   INTEGER NOT NULL REFERENCES thread_state (thread_id),
  idx         INTEGER NOT NULL,    -- from 0, within the thread
  posts       TEXT NOT NULL,       -- the ids, as a JSON array
  words       INTEGER NOT NULL,
  hash        BLOB NOT NULL CHECK (length(hash) = 32),
  state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'open', 'recorded', 'quarantined')),
  attempts    INTEGER NOT NULL DEFAULT 0,
  turn        INTEGER NOT NULL DEFAULT 0, -- the turn that ended it
  reason      TEXT NOT NULL DEFAULT '',   -- why it was quarantined, or what was left out
  raw         BLOB,                       -- of a quarantined scene: what the server had sent
  started_at  INTEGER,
  recorded_at INTEGER,
  CHECK ((recorded_at IS NOT NULL) = (state IN ('recorded', 'quarantined')))
) STRICT;
CREATE INDEX scene_pending ON scene (n) WHERE state IN ('pending', 'open');
CREATE INDEX scene_quarantined ON scene (n) WHERE state = 'quarantined';
CREATE UNIQUE INDEX scene_thread ON scene (thread_id, idx);

-- The journal. Rows are only appended; each carries the hash of itself and the row before.
CREATE TABLE trace (
  id        INTEGER PRIMARY KEY,
  turn      INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  kind      TEXT NOT NULL CHECK (kind IN ('prompt', 'scene', 'reply', 'tool_call', 'tool_result', 'update', 'note', 'close', 'compaction')),
  scene     INTEGER NOT NULL DEFAULT 0,
  content   TEXT NOT NULL DEFAULT '',
  reasoning TEXT NOT NULL DEFAULT '',
  call_id   TEXT NOT NULL DEFAULT '',
  tool      TEXT NOT NULL DEFAULT '',
  arguments TEXT NOT NULL DEFAULT '',
  error     TEXT NOT NULL DEFAULT '',
  tokens    INTEGER NOT NULL DEFAULT 0,
  shows     TEXT NOT NULL DEFAULT '',
  hash      BLOB NOT NULL CHECK (length(hash) = 32),
  at        INTEGER NOT NULL -- unix milliseconds; not part of the hash
) STRICT;
CREATE UNIQUE INDEX trace_turn ON trace (turn, seq);
CREATE UNIQUE INDEX trace_call ON trace (call_id, kind) WHERE call_id <> '';

CREATE VIEW tool_interaction AS
  SELECT c.call_id, c.turn, c.scene, c.tool AS tool_name, c.arguments, r.content AS result, r.error,
         CASE WHEN r.id IS NULL THEN 'PENDING' WHEN r.error = '' THEN 'SUCCESS' ELSE 'ERROR' END AS status,
         c.id AS call_trace, r.id AS result_trace
    FROM trace c LEFT JOIN trace r ON r.call_id = c.call_id AND r.call_id <> '' AND r.kind = 'tool_result'
   WHERE c.kind = 'tool_call'
  UNION ALL -- what a text reply asked for, with what came of it
  SELECT call_id, turn, scene, tool, arguments, content, error, CASE WHEN error = '' THEN 'SUCCESS' ELSE 'ERROR' END, id, id
    FROM trace WHERE kind = 'update';

-- Steps of making room in the window: turns that leave it, what is trimmed, which summaries take their place. The journal keeps
-- all; its row says what the window is from there on.
CREATE TABLE compaction (
  trace_id      INTEGER PRIMARY KEY REFERENCES trace (id),
  epoch         INTEGER NOT NULL UNIQUE, -- from 1; a request's messages begin with the former request's within an epoch
  tier          TEXT NOT NULL CHECK (tier IN ('0.5', '1', '2', '3', '4', '5', 'quarantine')),
  through_turn  INTEGER NOT NULL, -- all turns up to this one are out of the window; never falls
  only_turn     INTEGER NOT NULL DEFAULT 0, -- and so is this one
  tokens_before INTEGER NOT NULL,
  tokens_after  INTEGER NOT NULL,
  reason        TEXT NOT NULL
) STRICT;
CREATE INDEX compaction_only ON compaction (only_turn) WHERE only_turn <> 0;

-- Summaries. All versions stay.
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

-- Every attempt to call the model.
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
  trace_id          INTEGER REFERENCES trace (id), -- the reply; an answer out of a snapshot is no row of the journal
  raw               BLOB, -- of a reply that could not be used
  started_at        INTEGER NOT NULL,
  first_byte_ms     INTEGER NOT NULL DEFAULT 0,
  total_ms          INTEGER NOT NULL DEFAULT 0,
  signs             TEXT NOT NULL DEFAULT '', -- what the prompt was made of, as a JSON array
  CHECK ((trace_id IS NOT NULL) = (outcome = 'ok' AND purpose <> 'ask')),
  CHECK (cached_tokens <= prompt_tokens)
) STRICT;
CREATE INDEX call_open ON call (id) WHERE outcome = 'open';
CREATE INDEX call_turn ON call (turn);

-- The codex now: the sum of the revisions.
CREATE TABLE glossary_entry (
  id              INTEGER PRIMARY KEY,
  term            TEXT NOT NULL,
  disambiguator   TEXT NOT NULL,
  term_normalized TEXT NOT NULL, -- of term and disambiguator together
  names           TEXT NOT NULL, -- the aliases, a line each; for the full-text index
  definition      TEXT NOT NULL, -- the claims that hold, joined
  status          TEXT NOT NULL CHECK (status IN ('tentative', 'confirmed', 'retired', 'merged')),
  first_at        INTEGER NOT NULL,
  last_at         INTEGER NOT NULL,
  revisions       INTEGER NOT NULL,
  revision        INTEGER NOT NULL, -- the newest one's id
  locked          INTEGER NOT NULL CHECK (locked IN (0, 1)),
  merged_into     INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX glossary_entry_live ON glossary_entry (term_normalized) WHERE status IN ('tentative', 'confirmed');
CREATE INDEX glossary_entry_status ON glossary_entry (status, term_normalized);

CREATE TABLE glossary_alias (
  entry_id        INTEGER NOT NULL REFERENCES glossary_entry (id),
  name_normalized TEXT NOT NULL,
  name            TEXT NOT NULL,
  from_at         INTEGER NOT NULL,
  PRIMARY KEY (entry_id, name_normalized)
) STRICT, WITHOUT ROWID;
CREATE INDEX glossary_alias_name ON glossary_alias (name_normalized);

CREATE TABLE glossary_tag (
  entry_id INTEGER NOT NULL REFERENCES glossary_entry (id),
  tag      TEXT NOT NULL,
  PRIMARY KEY (entry_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX glossary_tag_tag ON glossary_tag (tag);

CREATE TABLE claim (
  entry_id INTEGER NOT NULL REFERENCES glossary_entry (id),
  id       INTEGER NOT NULL, -- from 1, within the entry
  ord      INTEGER NOT NULL,
  text     TEXT NOT NULL,
  kind     TEXT NOT NULL CHECK (kind IN ('narrated', 'claimed', 'inferred')),
  from_at  INTEGER NOT NULL,
  until_at INTEGER NOT NULL DEFAULT 0, -- 0 while it holds
  PRIMARY KEY (entry_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
  id       INTEGER PRIMARY KEY,
  entry_id INTEGER NOT NULL,
  claim_id INTEGER NOT NULL,
  post_id  INTEGER NOT NULL,
  start_at INTEGER NOT NULL, -- code points of the post's body
  end_at   INTEGER NOT NULL,
  quote    TEXT NOT NULL,
  FOREIGN KEY (entry_id, claim_id) REFERENCES claim (entry_id, id),
  CHECK (0 <= start_at AND start_at < end_at)
) STRICT;
CREATE INDEX evidence_claim ON evidence (entry_id, claim_id);
CREATE INDEX evidence_post ON evidence (post_id);

CREATE TABLE revision (
  id         INTEGER PRIMARY KEY,
  entry_id   INTEGER NOT NULL REFERENCES glossary_entry (id),
  field      TEXT NOT NULL CHECK (field IN ('term', 'alias', 'tag', 'claim', 'evidence', 'status', 'merge', 'lock', 'curator_decision',
               'retired')),
  old_value  TEXT NOT NULL,
  new_value  TEXT NOT NULL,
  at         INTEGER NOT NULL, -- the place
  actor      TEXT NOT NULL CHECK (actor IN ('model', 'curator', 'rule', 'person')),
  turn       INTEGER NOT NULL,
  trace_id   INTEGER REFERENCES trace (id) DEFERRABLE INITIALLY DEFERRED, -- the tool result it commits with; none if no model asked
  changed_at INTEGER NOT NULL,
  CHECK (actor <> 'model' OR trace_id IS NOT NULL)
) STRICT;
CREATE INDEX revision_entry ON revision (entry_id, id);
CREATE INDEX revision_turn ON revision (turn);
CREATE INDEX revision_trace ON revision (trace_id); -- a result's row comes after its revisions, and is looked for among them then

CREATE TABLE snapshot (
  id          INTEGER PRIMARY KEY,
  type        TEXT NOT NULL CHECK (type IN ('checkpoint', 'manual', 'curator_fork')),
  created_at  INTEGER NOT NULL,
  scene       INTEGER NOT NULL,
  thread_id   INTEGER NOT NULL,
  trace_id    INTEGER NOT NULL,
  revision_id INTEGER NOT NULL,
  context_id  INTEGER NOT NULL REFERENCES snapshot_context (id),
  entries     INTEGER NOT NULL,
  tokens      INTEGER NOT NULL
) STRICT;

-- Conversations with snapshots. They write nothing but themselves.
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

CREATE VIRTUAL TABLE glossary_fts USING fts5 (
  term, names, definition, content = 'glossary_entry', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER glossary_fts_insert AFTER INSERT ON glossary_entry BEGIN
  INSERT INTO glossary_fts (rowid, term, names, definition) VALUES (new.id, new.term, new.names, new.definition);
END;
CREATE TRIGGER glossary_fts_delete AFTER DELETE ON glossary_entry BEGIN
  INSERT INTO glossary_fts (glossary_fts, rowid, term, names, definition) VALUES ('delete', old.id, old.term, old.names, old.definition);
END;
CREATE TRIGGER glossary_fts_update AFTER UPDATE OF term, names, definition ON glossary_entry BEGIN
  INSERT INTO glossary_fts (glossary_fts, rowid, term, names, definition) VALUES ('delete', old.id, old.term, old.names, old.definition);
  INSERT INTO glossary_fts (rowid, term, names, definition) VALUES (new.id, new.term, new.names, new.definition);
END;
