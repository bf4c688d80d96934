-- Where the names of entries stand in the posts that were read, from when to when that was known. The run keeps it: each checkpoint
-- reads the posts of its scene, and those of earlier scenes whose words may be names that were added or given up since.
CREATE TABLE mention (
  entry_id INTEGER NOT NULL REFERENCES glossary_entry (id),
  place    INTEGER NOT NULL, -- of the post
  start_at INTEGER NOT NULL, -- code points of the post's body
  end_at   INTEGER NOT NULL, -- exclusive; a possessive ending belongs to the name
  revision_id INTEGER NOT NULL, -- that made the name known
  from_at  INTEGER NOT NULL, -- the place from which it is known
  until_at INTEGER,          -- the place from which the name no longer stands for the entry there; none while it does
  until_id INTEGER,
  PRIMARY KEY (entry_id, place, start_at, revision_id),
  CHECK (0 <= start_at AND start_at < end_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_place ON mention (place);

-- The words of each scene, to find the scenes that a new name may stand in.
CREATE VIRTUAL TABLE scene_word USING fts5 (
  words, content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* P* S* Cf Co'"
);
ALTER TABLE scene ADD COLUMN mentioned INTEGER NOT NULL DEFAULT 0 CHECK (mentioned IN (0, 1)); -- 1 if the names in it were looked for
CREATE INDEX scene_not_mentioned ON scene (n) WHERE mentioned = 0 AND state IN ('recorded', 'quarantined');
ALTER TABLE run_state ADD COLUMN mentions INTEGER NOT NULL DEFAULT 0; -- the newest revision whose names were looked for

-- The place of each post.
CREATE TABLE scene_post (
  post_id INTEGER PRIMARY KEY,
  place   INTEGER NOT NULL
) STRICT;
INSERT INTO scene_post SELECT p.value, s.n * 1000000 + p.key FROM scene s, json_each(s.posts) p;
