-- The name that a person gave a snapshot of the type 'manual'; empty: none.
ALTER TABLE snapshot ADD COLUMN name TEXT NOT NULL DEFAULT '';
