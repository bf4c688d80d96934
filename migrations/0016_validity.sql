-- From when to when each value of an entry was in force, so that the codex at any place or snapshot is read without adding up all
-- revisions. The program fills these tables from the revisions.
CREATE TABLE validity (
  id          INTEGER PRIMARY KEY, -- the place from which the value is known × 1,048,576 + a number: sorts in story order
  revision_id INTEGER NOT NULL REFERENCES revision (id), -- that set the value
  entry_id    INTEGER NOT NULL REFERENCES glossary_entry (id),
  field       TEXT NOT NULL, -- as of the revision; of a retired or merged entry: status
  key         TEXT NOT NULL, -- which of the field's values: the normalised name, the tag, the claim's id, or the post of evidence
  holds       INTEGER NOT NULL CHECK (holds IN (0, 1)), -- 0 for a claim that no longer holds
  from_at     INTEGER NOT NULL, -- the place from which it is known
  until_at    INTEGER,          -- the place from which another value, or none, is in its stead; none while it is in force
  until_id    INTEGER REFERENCES revision (id) -- with which that came about
) STRICT;
CREATE INDEX validity_entry ON validity (entry_id, field, key, holds, from_at, until_at, revision_id, until_id);
CREATE INDEX validity_name ON validity (key, entry_id, from_at, until_at, revision_id, until_id) WHERE field = 'alias';
CREATE INDEX validity_tag ON validity (key, entry_id, from_at, until_at, revision_id, until_id) WHERE field = 'tag';
CREATE INDEX validity_post ON validity (key) WHERE field = 'evidence';

-- The same for what lists of entries are sorted and filtered by.
CREATE TABLE entry_version (
  entry_id        INTEGER NOT NULL REFERENCES glossary_entry (id),
  revision_id     INTEGER NOT NULL REFERENCES revision (id),
  term_normalized TEXT NOT NULL, -- as in glossary_entry
  status          TEXT NOT NULL CHECK (status IN ('tentative', 'confirmed', 'retired', 'merged')),
  from_at         INTEGER NOT NULL,
  until_at        INTEGER,
  until_id        INTEGER REFERENCES revision (id),
  PRIMARY KEY (entry_id, revision_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_version_place ON entry_version (from_at, until_at, status);
CREATE INDEX entry_version_revision ON entry_version (revision_id, until_id, status);
CREATE INDEX entry_version_now ON entry_version (term_normalized, entry_id, status, until_id) WHERE until_id IS NULL;
CREATE INDEX entry_version_term ON entry_version (term_normalized, entry_id, status, from_at, until_at, revision_id, until_id);

-- The full-text index has a row for each name and each claim in place of one for each entry, so that it serves any limit, and a change
-- does not index the whole definition again.
DROP TRIGGER glossary_fts_insert;
DROP TRIGGER glossary_fts_delete;
DROP TRIGGER glossary_fts_update;
DROP TABLE glossary_fts;
ALTER TABLE glossary_entry DROP COLUMN names;
CREATE VIEW glossary_text AS
  SELECT v.id, iif(v.field = 'alias', r.new_value ->> 'name', '') AS name, iif(v.field = 'claim', concat_ws(char(10), r.new_value ->> 'text', r.new_value ->> 'speaker'), '') AS claim
  FROM validity v JOIN revision r ON r.id = v.revision_id WHERE v.field = 'alias' OR v.field = 'claim' AND r.old_value = '';
CREATE VIRTUAL TABLE glossary_fts USING fts5 (
  name, claim, content = 'glossary_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER glossary_fts_insert AFTER INSERT ON validity WHEN new.field IN ('alias', 'claim') BEGIN
  INSERT INTO glossary_fts (rowid, name, claim) SELECT id, name, claim FROM glossary_text WHERE id = new.id;
END;

-- A limit asks for the first turn of a scene after it, and for an entry's revisions up to it.
CREATE INDEX trace_opening ON trace (scene) WHERE seq = 0 AND turn > 0;
DROP INDEX revision_entry;
CREATE INDEX revision_entry ON revision (entry_id, id, at);
