-- A scene has a number (scene.n), which never changes, and an order (scene.ord), which sorts in story order.
-- A place (at, first_at, last_at, ...) is the order of a scene * 1000000 + the rank of the post in the scene.

-- The system prompts with their tools, once for each change.
CREATE TABLE snapshot_context (
  id            INTEGER PRIMARY KEY,
  hash          TEXT NOT NULL UNIQUE,
  system_prompt TEXT NOT NULL,
  tools         TEXT NOT NULL,
  settings      TEXT NOT NULL, -- the settings of the user on which both depend, as JSON
  workarounds   TEXT NOT NULL, -- names of the changes to how messages are rendered, which the server's chat template needs
  created_at    INTEGER NOT NULL
) STRICT;

-- One row: the state of the run.
CREATE TABLE run_state (
  id                INTEGER PRIMARY KEY CHECK (id = 1),
  state             TEXT NOT NULL CHECK (state IN ('INIT', 'IDLE', 'NO_MORE', 'COMPACTING', 'PREPARING', 'CALLING', 'RETRYING',
                      'HALTING', 'PROCESSING', 'TOOL_EXEC', 'PARSING', 'RECORDING', 'BOUNDARY', 'CURATING', 'CHECKPOINT', 'EXIT')),
  title             TEXT NOT NULL,
  corpus_path       TEXT NOT NULL,
  corpus_hash       TEXT NOT NULL, -- over the hashes of all scenes
  corpus_identity   TEXT NOT NULL, -- a fingerprint of the file; if it is the same, the file has not changed, and is not read to find out
  scene_bytes       INTEGER NOT NULL, -- the most bytes of a scene; longer runs of posts were cut
  endpoint          TEXT NOT NULL,
  model             TEXT NOT NULL,
  context_id        INTEGER REFERENCES snapshot_context (id),
  context_told      INTEGER NOT NULL DEFAULT 0, -- the server's context as known from a refusal or a cut reply, in tokens; 0 for none
  context_budget    INTEGER NOT NULL DEFAULT 0, -- the tokens of prompt and reply together that the run uses; 0 before it has begun
  open_scene        INTEGER NOT NULL DEFAULT 0, -- begun and not yet followed by its checkpoint
  turn              INTEGER NOT NULL DEFAULT 0, -- the newest
  recorded          INTEGER NOT NULL DEFAULT 0,
  quarantined       INTEGER NOT NULL DEFAULT 0,
  calls             INTEGER NOT NULL DEFAULT 0, -- that ended, with success or without
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  told_tokens       INTEGER NOT NULL DEFAULT 0, -- of the prompts: those of which it is known whether the server had them in its cache
  cached_tokens     INTEGER NOT NULL DEFAULT 0, -- those that it had
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  entries           INTEGER NOT NULL DEFAULT 0, -- live
  mentions          INTEGER NOT NULL DEFAULT 0, -- the newest revision whose names were looked for
  started_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  begun_call        INTEGER NOT NULL DEFAULT 0, -- the newest call when the run was last restarted after a halt or its end
  begun_snapshot    INTEGER NOT NULL DEFAULT 0, -- the newest snapshot at that time
  summaries_after   INTEGER NOT NULL DEFAULT 0, -- the newest row of the journal when threads were last left without a summary
  halted            TEXT NOT NULL DEFAULT '', -- why the last run stopped before the end
  holder            TEXT NOT NULL DEFAULT '' -- the process that writes, or wrote last; the lock file shows whether it still runs
) STRICT;

CREATE TABLE thread_state (
  thread_id    INTEGER PRIMARY KEY,
  ord          INTEGER NOT NULL UNIQUE, -- the order of its first scene
  title        TEXT NOT NULL,
  first_scene  INTEGER NOT NULL, -- the number of its first scene in story order
  last_scene   INTEGER NOT NULL, -- of its last one
  status       TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'in_progress', 'completed')),
  unanswered   INTEGER NOT NULL DEFAULT 0, -- how often the model was asked for the thread's summary and gave none
  summary_due  INTEGER NOT NULL DEFAULT 0, -- 1: it has ended and was read by the model, and its summary is missing
  started_at   INTEGER,
  completed_at INTEGER
) STRICT;
CREATE INDEX thread_summary_due ON thread_state (thread_id) WHERE summary_due = 1;

CREATE TABLE scene (
  n           INTEGER PRIMARY KEY, -- its number, from 1, in the order in which scenes were added
  ord         INTEGER NOT NULL UNIQUE CHECK (ord > 0), -- story order: n * 1000000, unless scenes were added before the end
  block       INTEGER NOT NULL,    -- the order of the last scene of its block: at most 60 scenes of a thread that were added together
  thread_id   INTEGER NOT NULL REFERENCES thread_state (thread_id),
  posts       TEXT NOT NULL,       -- the ids, as a JSON array
  words       INTEGER NOT NULL,
  hash        BLOB NOT NULL CHECK (length(hash) = 32),
  state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'open', 'recorded', 'quarantined', 'withdrawn')),
  attempts    INTEGER NOT NULL DEFAULT 0,
  turn        INTEGER NOT NULL DEFAULT 0, -- the turn that ended it
  reason      TEXT NOT NULL DEFAULT '',   -- why it was quarantined, or what was left out
  fault       TEXT NOT NULL DEFAULT '',   -- the kind of the fault that it was quarantined for; empty unless the server caused it
  raw         BLOB,                       -- of a quarantined scene: what the server had sent
  follow_up   TEXT NOT NULL DEFAULT '' CHECK (follow_up IN ('', 'edits', 'nothing', 'left out')), -- what requests for more brought; empty where there were none
  mentioned   INTEGER NOT NULL DEFAULT 0 CHECK (mentioned IN (0, 1)), -- 1 if the names in it were looked for
  started_at  INTEGER,
  recorded_at INTEGER,
  CHECK ((recorded_at IS NOT NULL) = (state IN ('recorded', 'quarantined')))
) STRICT;
CREATE INDEX scene_pending ON scene (ord) WHERE state IN ('pending', 'open');
CREATE INDEX scene_withdrawn ON scene (ord) WHERE state = 'withdrawn';
CREATE INDEX scene_quarantined ON scene (ord) WHERE state = 'quarantined';
CREATE INDEX scene_follow_up ON scene (turn) WHERE follow_up <> '';
CREATE INDEX scene_not_mentioned ON scene (n) WHERE mentioned = 0 AND state IN ('recorded', 'quarantined');
CREATE INDEX scene_thread ON scene (thread_id, ord, block);

-- The place of each post.
CREATE TABLE scene_post (
  post_id INTEGER PRIMARY KEY,
  place   INTEGER NOT NULL,
  former  INTEGER NOT NULL DEFAULT 0 CHECK (former IN (0, 1)) -- 1: the source has changed, and no longer has its text
) STRICT;
CREATE INDEX scene_post_former ON scene_post (post_id) WHERE former = 1;

-- How a quarantined scene ended that was later made pending again.
CREATE TABLE refusal (
  scene       INTEGER NOT NULL REFERENCES scene (n),
  nth         INTEGER NOT NULL CHECK (nth > 0), -- of the scene's refusals, from 1
  turn        INTEGER NOT NULL, -- the turn that ended so; 0 if the model was not asked
  reason      TEXT NOT NULL,
  fault       TEXT NOT NULL,
  raw         BLOB,
  refused_at  INTEGER NOT NULL,
  snapshot_id INTEGER NOT NULL, -- the newest when the scene was made pending again
  retried_at  INTEGER NOT NULL,
  PRIMARY KEY (scene, nth)
) STRICT, WITHOUT ROWID;

-- The journal. Rows are only appended; each carries the hash of itself and the row before.
CREATE TABLE trace (
  id        INTEGER PRIMARY KEY,
  turn      INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  kind      TEXT NOT NULL CHECK (kind IN ('prompt', 'scene', 'reply', 'tool_call', 'tool_result', 'update', 'note', 'close', 'compaction',
              'edit', 'source', 'join')),
  scene     INTEGER NOT NULL DEFAULT 0,
  content   TEXT NOT NULL DEFAULT '',
  attached  TEXT NOT NULL DEFAULT '', -- what the model read after the text of a scene, such as entries of the glossary; empty for other rows
  reasoning TEXT NOT NULL DEFAULT '',
  call_id   TEXT NOT NULL DEFAULT '',
  tool      TEXT NOT NULL DEFAULT '',
  arguments TEXT NOT NULL DEFAULT '',
  error     TEXT NOT NULL DEFAULT '',
  tokens    INTEGER NOT NULL DEFAULT 0,
  shows     TEXT NOT NULL DEFAULT '',
  parsed    TEXT NOT NULL DEFAULT '', -- the parsed form of a reply or a call, and what else belongs to a row, as JSON. Parsed arguments: json_patch(arguments, parsed ->> 'patch')
  hash      BLOB NOT NULL CHECK (length(hash) = 32),
  at        INTEGER NOT NULL -- unix milliseconds; not part of the hash
) STRICT;
CREATE UNIQUE INDEX trace_turn ON trace (turn, seq);
CREATE UNIQUE INDEX trace_call ON trace (call_id, kind) WHERE call_id <> '';
CREATE INDEX trace_phrases ON trace (id) WHERE turn = 0 AND parsed <> '';
CREATE INDEX trace_edit ON trace (id) WHERE kind = 'edit';
CREATE INDEX trace_answer ON trace (id) WHERE kind = 'edit' AND tool = 'answer' AND error = '';
CREATE INDEX trace_undo ON trace (arguments ->> 'row') WHERE kind = 'edit' AND tool = 'undo' AND error = '';
CREATE INDEX trace_question ON trace (id) WHERE kind = 'tool_result' AND tool = 'ask_person' AND error = '';
CREATE INDEX trace_shows_answer ON trace (id) WHERE kind = 'scene' AND parsed <> '';
CREATE INDEX trace_suggests ON trace (id) WHERE kind IN ('tool_result', 'update') AND instr(parsed, '"suggests":');
CREATE INDEX trace_opening ON trace (scene) WHERE seq = 0 AND turn > 0;

CREATE VIEW tool_interaction AS
  SELECT c.call_id, c.turn, c.scene, c.tool AS tool_name, c.arguments, r.content AS result, r.error,
         CASE WHEN r.id IS NULL THEN 'PENDING' WHEN r.error = '' THEN 'SUCCESS' ELSE 'ERROR' END AS status,
         c.id AS call_trace, r.id AS result_trace
    FROM trace c LEFT JOIN trace r ON r.call_id = c.call_id AND r.call_id <> '' AND r.kind = 'tool_result'
   WHERE c.kind = 'tool_call'
  UNION ALL -- what a text reply asked for, with what came of it
  SELECT call_id, turn, scene, tool, arguments, content, error, CASE WHEN error = '' THEN 'SUCCESS' ELSE 'ERROR' END, id, id
    FROM trace WHERE kind = 'update';

-- The decision about a tool call before it ran, committed with its result. Calls without a policy have no row.
CREATE TABLE tool_decision (
  trace_id INTEGER PRIMARY KEY REFERENCES trace (id), -- the tool_result or update
  mode     TEXT NOT NULL,
  intent   TEXT NOT NULL, -- the one in force; empty for none
  verdict  TEXT NOT NULL CHECK (verdict IN ('allow', 'deny', 'would_deny')),
  rule     TEXT NOT NULL, -- the code of a denial
  reason   TEXT NOT NULL,
  CHECK ((verdict = 'allow') = (rule = ''))
) STRICT;

-- Steps that make room in the window of the model: turns are removed or trimmed, and summaries replace them.
CREATE TABLE compaction (
  trace_id      INTEGER PRIMARY KEY REFERENCES trace (id),
  epoch         INTEGER NOT NULL UNIQUE, -- from 1; a request's messages begin with the former request's within an epoch
  tier          TEXT NOT NULL CHECK (tier IN ('0.5', '1', '2', '3', '4', '5', 'quarantine')),
  through_turn  INTEGER NOT NULL, -- all turns up to this one are out of the window; never decreases
  only_turn     INTEGER NOT NULL DEFAULT 0, -- a single turn that leaves the window as well; 0 for none
  tokens_before INTEGER NOT NULL,
  tokens_after  INTEGER NOT NULL,
  reason        TEXT NOT NULL
) STRICT;
CREATE INDEX compaction_only ON compaction (only_turn) WHERE only_turn <> 0;

-- Summaries; all versions stay.
CREATE TABLE episode (
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('chunk', 'thread', 'cumulative')),
  thread_id  INTEGER NOT NULL, -- 0 for a cumulative one
  idx        INTEGER NOT NULL,
  from_scene INTEGER NOT NULL, -- the first in story order
  to_scene   INTEGER NOT NULL, -- the last
  from_turn  INTEGER NOT NULL,
  to_turn    INTEGER NOT NULL,
  summary    TEXT NOT NULL CHECK (summary <> ''),
  author     TEXT NOT NULL CHECK (author IN ('model', 'rule')),
  supersedes INTEGER REFERENCES episode (id),
  tokens     INTEGER NOT NULL,
  trace_id   INTEGER NOT NULL REFERENCES trace (id),   -- the row with which it was made: a reply, a note or a compaction
  entered    INTEGER REFERENCES compaction (trace_id), -- the compaction with which it entered the window; none if it never did
  gone       INTEGER REFERENCES compaction (trace_id), -- the compaction with which it left the window; none while it is there
  created_at INTEGER NOT NULL,
  CHECK (kind <> 'cumulative' OR thread_id = 0),
  CHECK (kind <> 'thread' OR entered IS NULL),
  CHECK (gone IS NULL OR entered IS NOT NULL),
  CHECK (from_turn <= to_turn)
) STRICT;
CREATE INDEX episode_in_window ON episode (id) WHERE entered IS NOT NULL AND gone IS NULL;
CREATE INDEX episode_trace ON episode (trace_id);
CREATE INDEX episode_kind ON episode (kind, thread_id);

-- Every attempt to call the model.
CREATE TABLE call (
  id                INTEGER PRIMARY KEY,
  turn              INTEGER NOT NULL,
  scene             INTEGER NOT NULL,
  purpose           TEXT NOT NULL CHECK (purpose IN ('annotate', 'summarise', 'curate', 'ask', 'check', 'probe')),
  attempt           INTEGER NOT NULL, -- from 1
  outcome           TEXT NOT NULL CHECK (outcome IN ('open', 'ok', 'lost', 'transient', 'overloaded', 'prompt too long', 'malformed', 'refused',
                      'unreachable', 'misconfigured', 'unsafe', 'interrupted')), -- lost: the program was killed meanwhile
  decision          TEXT NOT NULL DEFAULT '' CHECK (decision IN ('', 'retry', 'wait', 'shrink', 'shrink reply', 'grow reply',
                      'adapt', 'quarantine', 'halt', 'interrupted', 'discarded', 'answered')), -- what was done about a failure
  reason            TEXT NOT NULL DEFAULT '', -- why
  status            INTEGER NOT NULL DEFAULT 0, -- HTTP
  fault             TEXT NOT NULL DEFAULT '',
  model             TEXT NOT NULL DEFAULT '', -- as the server reported it
  finish            TEXT NOT NULL DEFAULT '',
  estimate          INTEGER NOT NULL, -- of the prompt, in tokens, before the call
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  told_tokens       INTEGER NOT NULL DEFAULT 0, -- of the prompt: those of which it is known whether the server had them in its cache
  cached_tokens     INTEGER NOT NULL DEFAULT 0, -- those that it had
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  exact             INTEGER NOT NULL DEFAULT 0 CHECK (exact IN (0, 1)), -- reported by the server
  trace_id          INTEGER REFERENCES trace (id), -- the reply; the journal has no row for an answer of a snapshot or to a probe
  raw               BLOB, -- of a reply that could not be used
  started_at        INTEGER NOT NULL,
  first_byte_ms     INTEGER NOT NULL DEFAULT 0,
  total_ms          INTEGER NOT NULL DEFAULT 0,
  characters        TEXT NOT NULL DEFAULT '', -- what the prompt was made of: numbers of characters by kind, as a JSON array
  CHECK ((trace_id IS NOT NULL) = (outcome = 'ok' AND purpose NOT IN ('ask', 'check', 'probe'))),
  CHECK (cached_tokens <= prompt_tokens)
) STRICT;
CREATE INDEX call_open ON call (id) WHERE outcome = 'open';
CREATE INDEX call_turn ON call (turn);
CREATE INDEX call_scene ON call (scene);
CREATE INDEX call_other ON call (purpose, id) WHERE purpose <> 'annotate';
CREATE INDEX call_too_long ON call (id) WHERE outcome = 'prompt too long';

-- The entries, with the counts of their revisions. The contents of an entry are in table value.
CREATE TABLE entry (
  id        INTEGER PRIMARY KEY,
  status    TEXT NOT NULL CHECK (status IN ('tentative', 'confirmed', 'retired', 'merged')), -- how far it is accepted now
  name      TEXT UNIQUE, -- of a live entry: its normalized name, which is unique
  first_at  INTEGER NOT NULL, -- the earliest place of its revisions
  last_at   INTEGER NOT NULL, -- the latest
  revisions INTEGER NOT NULL, -- how many it has
  revision  INTEGER NOT NULL, -- the newest
  claims    INTEGER NOT NULL, -- how many claims hold
  claimed   INTEGER NOT NULL, -- the id of the newest claim, whether it holds or not; 0 for none
  changes   INTEGER NOT NULL, -- how much they have changed since its present statement was last asked for
  CHECK ((name IS NULL) = (status IN ('retired', 'merged')))
) STRICT;
CREATE INDEX entry_last ON entry (last_at, id) WHERE name IS NOT NULL;
CREATE INDEX entry_tentative ON entry (first_at, id) WHERE status = 'tentative';
CREATE INDEX entry_outdated ON entry (changes, claims) WHERE changes > 0 AND name IS NOT NULL;

-- Every change of an entry, in order: who made it, when, and by which row of the journal. It sets a value, ends one, or both.
CREATE TABLE revision (
  id         INTEGER PRIMARY KEY, -- without gaps
  entry_id   INTEGER NOT NULL REFERENCES entry (id),
  field      TEXT NOT NULL CHECK (field IN ('term', 'alias', 'tag', 'claim', 'evidence', 'present', 'status', 'merge', 'lock',
               'curator_decision', 'retired')),
  at         INTEGER NOT NULL, -- the place in the story
  seen       INTEGER NOT NULL, -- the order of the furthest scene that was read when it was made
  actor      TEXT NOT NULL CHECK (actor IN ('model', 'curator', 'rule', 'person')),
  turn       INTEGER NOT NULL, -- 0 where the curator or a rule decided
  trace_id   INTEGER, -- the row of the journal that it commits with; none if no model asked. It is inserted later, and verify checks it
  changed_at INTEGER NOT NULL,
  CHECK (actor <> 'model' OR trace_id IS NOT NULL)
) STRICT;
CREATE INDEX revision_entry ON revision (entry_id);
CREATE INDEX revision_turn ON revision (turn);

-- What people ask to change of the codex, until the run applies it between two scenes by a row of the journal.
CREATE TABLE pending_edit (
  id        INTEGER PRIMARY KEY, -- in the order in which they are applied
  operation TEXT NOT NULL,       -- an Operation, as JSON
  asked_at  INTEGER NOT NULL
) STRICT;

-- What agents propose to change of the codex. Nothing of it changes the codex; people answer to it in a review.
CREATE TABLE proposal (
  id          INTEGER PRIMARY KEY, -- in order
  operation   TEXT NOT NULL, -- as JSON
  why         TEXT NOT NULL, -- in the agent's words
  seen        INTEGER NOT NULL, -- the order of the furthest scene that the agent was shown
  proposed_at INTEGER NOT NULL -- unix milliseconds
) STRICT;

-- What people have answered to suggestions of a review. Suggestions are computed when they are read, and are in no table.
CREATE TABLE decision (
  id         INTEGER PRIMARY KEY, -- in order
  key        TEXT NOT NULL, -- of the suggestion: its kind, and the ids of what it is about
  digest     TEXT NOT NULL, -- of what the suggestion rested on
  verdict    TEXT NOT NULL CHECK (verdict IN ('accepted', 'rejected', 'never', 'wait', 'later')), -- wait: until something changes; later: or the next day
  edits      TEXT NOT NULL, -- that it has made, as JSON, each with its row of the journal
  seen       INTEGER NOT NULL, -- the order of the furthest scene that the person was shown
  decided_at INTEGER NOT NULL, -- unix milliseconds
  undone_at  INTEGER        -- when it was taken back; none while it counts
) STRICT;
CREATE INDEX decision_key ON decision (key);

-- The values of the entries, from the revision that set each to the one that ended it. The present values are those that none
-- has ended.
CREATE TABLE value (
  id         INTEGER PRIMARY KEY, -- seen × 1,048,576 + the number of the revision that set it, modulo the same: the ids sort by when the values became known
  entry_id   INTEGER NOT NULL REFERENCES entry (id),
  field      TEXT NOT NULL CHECK (field IN ('term', 'alias', 'tag', 'claim', 'evidence', 'present', 'status', 'lock', 'curator_decision')),
  key        TEXT NOT NULL, -- of a term or an alias: its normalized form; the tag; the claim's id; of evidence: claim/post/start-end; the status; of a lock: the part; else empty
  json       TEXT NOT NULL, -- the value
  holds      INTEGER NOT NULL CHECK (holds IN (0, 1)), -- 0 of a claim that was closed
  set_by     INTEGER NOT NULL REFERENCES revision (id),
  ended_by   INTEGER REFERENCES revision (id), -- none while it is in force
  from_seen  INTEGER NOT NULL, -- the order of the scene from which it is known
  until_seen INTEGER,          -- that of the scene from which another value, or none, replaces it
  CHECK ((ended_by IS NULL) = (until_seen IS NULL)),
  CHECK (field <> 'claim' OR json ->> 'kind' IN ('narrated', 'claimed', 'inferred', 'noted')),
  CHECK (field <> 'evidence' OR 0 <= json ->> 'start' AND json ->> 'start' < json ->> 'end')
) STRICT;
CREATE UNIQUE INDEX value_now ON value (entry_id, field, key) WHERE ended_by IS NULL AND holds = 1;
CREATE UNIQUE INDEX value_single ON value (entry_id, field) WHERE ended_by IS NULL AND field IN ('term', 'present', 'status');
CREATE UNIQUE INDEX value_ended ON value (ended_by, set_by) WHERE ended_by IS NOT NULL;
CREATE INDEX value_entry ON value (entry_id, field, key, holds, from_seen, until_seen, set_by, ended_by);
CREATE INDEX value_term ON value (key, entry_id, from_seen, until_seen, set_by, ended_by) WHERE field = 'term';
CREATE INDEX value_alias ON value (key, entry_id, from_seen, until_seen, set_by, ended_by) WHERE field = 'alias';
CREATE INDEX value_tag ON value (key, entry_id, from_seen, until_seen, set_by, ended_by) WHERE field = 'tag';
CREATE INDEX value_status ON value (key, entry_id, from_seen, until_seen, set_by, ended_by) WHERE field = 'status';
CREATE INDEX value_state ON value (set_by) WHERE field = 'claim' AND ended_by IS NULL AND holds = 1 AND instr(json, '"state":true');
CREATE INDEX value_related ON value (field) WHERE field = 'claim' AND (instr(json, '"relation":"') OR instr(json, '"state":true'));
CREATE INDEX value_relation ON value (entry_id) WHERE field = 'claim' AND instr(json, '"relation":"');
CREATE INDEX value_object ON value (lower(json ->> 'object')) WHERE field = 'claim' AND instr(json, '"relation":"');
CREATE INDEX value_states_asked ON value (set_by) WHERE field = 'curator_decision' AND instr(json, '"decision":"STATES"');
CREATE INDEX value_redundant_asked ON value (set_by) WHERE field = 'curator_decision' AND instr(json, '"decision":"REDUNDANT"');
CREATE INDEX value_post ON value (json ->> 'post') WHERE field = 'evidence';

-- Names and claims have a full-text index each. In one index of two columns, a search of names would also read the claims with
-- a word. A claim has one row, of its first value: the later ones have the same text.
CREATE VIEW name_text AS SELECT id, json ->> 'name' AS name FROM value WHERE field = 'alias';
CREATE VIEW claim_text AS
  SELECT id, concat_ws(char(10), json ->> 'text', json ->> 'speaker') AS claim
  FROM value v WHERE field = 'claim' AND NOT EXISTS (SELECT 1 FROM value f WHERE f.ended_by = v.set_by);
CREATE VIRTUAL TABLE glossary_fts_name USING fts5 (
  name, content = 'name_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE glossary_fts_claim USING fts5 (
  claim, content = 'claim_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER glossary_fts_name_insert AFTER INSERT ON value WHEN new.field = 'alias' BEGIN
  INSERT INTO glossary_fts_name (rowid, name) SELECT id, name FROM name_text WHERE id = new.id;
END;
CREATE TRIGGER glossary_fts_claim_insert AFTER INSERT ON value WHEN new.field = 'claim' BEGIN
  INSERT INTO glossary_fts_claim (rowid, claim) SELECT id, claim FROM claim_text WHERE id = new.id;
END;

-- The revisions with what each has ended and set.
CREATE VIEW history AS
  SELECT r.*, CASE WHEN r.field IN ('status', 'retired', 'merge') THEN coalesce(o.key, 'tentative')
                   WHEN r.field IN ('alias', 'claim', 'evidence') THEN coalesce(o.json, '') ELSE coalesce(o.json ->> '$', '') END AS old_value,
         iif(r.field IN ('alias', 'claim', 'evidence', 'curator_decision'), coalesce(n.json, ''), coalesce(n.json ->> '$', '')) AS new_value
    FROM revision r LEFT JOIN value n ON n.id = ((r.seen << 20) | (r.id & 1048575))
    LEFT JOIN value o ON o.ended_by = r.id AND o.set_by < r.id;

-- The tags of the entries as they are now.
CREATE VIEW glossary_tag AS SELECT entry_id, key AS tag FROM value WHERE ended_by IS NULL AND field = 'tag';

-- The names of the entries as they are now.
CREATE VIEW glossary_alias AS
  SELECT entry_id, key AS name_normalized, json ->> 'name' AS name, json ->> 'from' AS from_at,
         (SELECT n FROM scene WHERE ord = json ->> 'from' / 1000000) AS from_scene
  FROM value WHERE ended_by IS NULL AND field = 'alias';

-- The facts of the entries as they are now.
CREATE VIEW claim AS
  SELECT entry_id, json ->> 'id' AS id, json ->> 'ord' AS ord, json ->> 'text' AS text, json ->> 'kind' AS kind, json ->> 'from' AS from_at,
         coalesce(json ->> 'until', 0) AS until_at, coalesce(json ->> 'speaker', '') AS speaker, coalesce(json ->> 'state', 0) AS state,
         coalesce(json ->> 'replaced_by', 0) AS replaced_by, set_by AS revision,
         (SELECT n FROM scene WHERE ord = json ->> 'from' / 1000000) AS from_scene,
         (SELECT n FROM scene WHERE ord = json ->> 'until' / 1000000) AS until_scene
  FROM value WHERE ended_by IS NULL AND field = 'claim';

-- The quotations behind the facts.
CREATE VIEW evidence AS
  SELECT set_by AS id, entry_id, json ->> 'claim' AS claim_id, json ->> 'post' AS post_id, json ->> 'start' AS start_at, json ->> 'end' AS end_at,
         json ->> 'quote' AS quote, coalesce(json ->> 'weak', 0) AS weak
  FROM value WHERE ended_by IS NULL AND field = 'evidence';

-- The entries as they are now.
CREATE VIEW glossary_entry AS
  SELECT e.id, t.json ->> '$' AS term, t.key AS term_normalized,
         (SELECT group_concat(text, ' ') FROM (SELECT c.json ->> 'text' AS text FROM value c WHERE c.entry_id = e.id AND c.field = 'claim'
           AND c.ended_by IS NULL AND c.holds = 1 ORDER BY c.json ->> 'ord', c.json ->> 'id')) AS definition,
         e.status, e.first_at, e.last_at, e.revisions, e.revision, l.id IS NOT NULL AS locked,
         iif(e.status = 'merged', CAST(s.json ->> '$' AS INTEGER), 0) AS merged_into, coalesce(p.json ->> '$', '') AS present,
         coalesce((SELECT at FROM revision WHERE id = p.set_by), 0) AS present_at, coalesce(p.set_by, 0) AS present_revision,
         (SELECT n FROM scene WHERE ord = e.first_at / 1000000) AS first_scene,
         (SELECT n FROM scene WHERE ord = e.last_at / 1000000) AS last_scene,
         (SELECT n FROM scene WHERE ord = (SELECT at FROM revision WHERE id = p.set_by) / 1000000) AS present_scene,
         e.claims, e.changes,
         (SELECT changed_at FROM revision WHERE entry_id = e.id ORDER BY id LIMIT 1) AS created_at,
         (SELECT changed_at FROM revision WHERE id = e.revision) AS updated_at
    FROM entry e LEFT JOIN value t ON t.entry_id = e.id AND t.field = 'term' AND t.ended_by IS NULL
    LEFT JOIN value s ON s.entry_id = e.id AND s.field = 'status' AND s.ended_by IS NULL
    LEFT JOIN value l ON l.entry_id = e.id AND l.field = 'lock' AND l.ended_by IS NULL
    LEFT JOIN value p ON p.entry_id = e.id AND p.field = 'present' AND p.ended_by IS NULL;

-- Where the names of entries are in the posts that were read, and in which scenes that was known. Each checkpoint updates
-- it. It reads the posts of its scene, and earlier posts whose words may be names that were added or removed since.
CREATE TABLE mention (
  entry_id    INTEGER NOT NULL REFERENCES entry (id),
  place       INTEGER NOT NULL, -- of the post
  start_at    INTEGER NOT NULL, -- code points of the post's body
  end_at      INTEGER NOT NULL, -- exclusive; a possessive ending belongs to the name
  set_by      INTEGER NOT NULL, -- the revision that made the name known
  from_seen   INTEGER NOT NULL, -- the order of the scene from which it is known
  until_seen  INTEGER,          -- that of the scene from which the name no longer refers to the entry there; none while it does
  ended_by    INTEGER,          -- the revision that ended it
  meant       INTEGER NOT NULL DEFAULT 1 CHECK (meant IN (0, 1)), -- 0 of a name of several entries: it means another one there, or it is ambiguous
  PRIMARY KEY (entry_id, place, start_at, set_by),
  CHECK (0 <= start_at AND start_at < end_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_place ON mention (place);

-- The words of each scene, to find the scenes that may have a new name.
CREATE VIRTUAL TABLE scene_word USING fts5 (
  words, content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* P* S* Cf Co'"
);

-- The words of the index above, with the scenes of each.
CREATE VIRTUAL TABLE scene_word_term USING fts5vocab ('scene_word', 'instance');

-- How often mentions mean entries in a block of scenes, and in which of them. Counts by thread and the scenes that two entries
-- share are read from it. It is updated with table mention.
CREATE TABLE mention_count (
  entry_id    INTEGER NOT NULL REFERENCES entry (id),
  block       INTEGER NOT NULL, -- as in scene
  set_by      INTEGER NOT NULL, -- as in mention
  from_seen   INTEGER NOT NULL, -- as in mention
  until_seen  INTEGER NOT NULL, -- as in mention; 0 for none
  ended_by    INTEGER NOT NULL, -- as in mention; 0 for none
  mentions    INTEGER NOT NULL, -- with these
  scenes      INTEGER NOT NULL, -- a bit for each scene that has one, 1 for the last of the block
  PRIMARY KEY (entry_id, block, set_by, from_seen, ended_by, until_seen)
) STRICT, WITHOUT ROWID;

-- How often each entry is mentioned in the whole story. A limit never shows more, so a search for the highest counts can stop early.
CREATE TABLE mention_total (
  entry_id INTEGER PRIMARY KEY REFERENCES entry (id),
  mentions INTEGER NOT NULL -- with ended ones
) STRICT;
CREATE INDEX mention_total_most ON mention_total (mentions DESC, entry_id);

-- Positions in the run that are kept: one after each scene, and those of users and of the curator's questions.
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
  tokens      INTEGER NOT NULL,
  name        TEXT NOT NULL DEFAULT '', -- the name that a person gave it; empty for none
  before_turn INTEGER NOT NULL DEFAULT 0, -- of a curator_fork: the turns of the window before this one; 0: all
  alone       INTEGER NOT NULL DEFAULT 0 CHECK (alone IN (0, 1)) -- 1: of a curator_fork: nothing of the window
) STRICT;

-- Conversations with snapshots. They change nothing else.
CREATE TABLE summon (
  id           INTEGER PRIMARY KEY,
  snapshot_id  INTEGER NOT NULL REFERENCES snapshot (id),
  asker        TEXT NOT NULL CHECK (asker IN ('model', 'person')),
  turn         INTEGER NOT NULL, -- in which the model asked; 0 of a person
  opened_at    INTEGER NOT NULL,
  dismissed_at INTEGER,          -- of a person: when the newest answer came
  summary      TEXT NOT NULL DEFAULT '', -- the asker's summary of the answers
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

-- What of new chapters does not go together with the codex. It changes nothing else.
CREATE TABLE finding (
  key      TEXT PRIMARY KEY, -- a hash of sort, entry, claim and quote
  sort     TEXT NOT NULL CHECK (sort IN ('contradiction', 'knowledge', 'promise')), -- what is wrong
  entry_id INTEGER NOT NULL REFERENCES entry (id), -- of the claim
  claim    INTEGER NOT NULL, -- its id within the entry
  chapter  TEXT NOT NULL, -- as it was named to the check
  quote    TEXT NOT NULL, -- of the chapter
  reason   TEXT NOT NULL, -- the model's
  call_id  INTEGER NOT NULL REFERENCES call (id), -- that first found it
  found_at INTEGER NOT NULL -- when it was first found
) STRICT, WITHOUT ROWID;

-- The digest of each table: the exclusive or of the hashes of its rows. Every transaction keeps it up to date. So a change of any
-- column by another program is noticed.
CREATE TABLE digest (
  name TEXT PRIMARY KEY, -- of the table
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT, WITHOUT ROWID;
