-- Facts: who makes a claim, whether it is a state that can end, and what took its place; and a short statement of what an entry is now.
ALTER TABLE claim ADD COLUMN speaker TEXT NOT NULL DEFAULT ''; -- who says it, of a claim of kind 'claimed'; empty if unknown
ALTER TABLE claim ADD COLUMN state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1)); -- 1 if it is a state that can end
ALTER TABLE claim ADD COLUMN replaced_by INTEGER NOT NULL DEFAULT 0; -- the claim of the entry that took its place; 0 for none
ALTER TABLE glossary_entry ADD COLUMN present TEXT NOT NULL DEFAULT ''; -- what it is now, in a few sentences; not evidence; empty if none was written
ALTER TABLE glossary_entry ADD COLUMN present_at INTEGER NOT NULL DEFAULT 0; -- the place up to which that holds

-- SQLite cannot change a check in place.
CREATE TEMP TABLE former_revision AS SELECT * FROM revision;
DROP TABLE revision;
CREATE TABLE revision (
  id         INTEGER PRIMARY KEY,
  entry_id   INTEGER NOT NULL REFERENCES glossary_entry (id),
  field      TEXT NOT NULL CHECK (field IN ('term', 'alias', 'tag', 'claim', 'evidence', 'present', 'status', 'merge', 'lock',
               'curator_decision', 'retired')),
  old_value  TEXT NOT NULL,
  new_value  TEXT NOT NULL,
  at         INTEGER NOT NULL, -- the place
  actor      TEXT NOT NULL CHECK (actor IN ('model', 'curator', 'rule', 'person')),
  turn       INTEGER NOT NULL,
  trace_id   INTEGER REFERENCES trace (id) DEFERRABLE INITIALLY DEFERRED, -- the tool result it commits with; none if no model asked
  changed_at INTEGER NOT NULL,
  CHECK (actor <> 'model' OR trace_id IS NOT NULL)
) STRICT;
INSERT INTO revision SELECT * FROM former_revision;
DROP TABLE former_revision;
CREATE INDEX revision_entry ON revision (entry_id, id);
CREATE INDEX revision_turn ON revision (turn);
CREATE INDEX revision_trace ON revision (trace_id); -- a result's row comes after its revisions, and is looked for among them then
