-- What each table holds, as one number: the exclusive or of the hashes of its rows. Every transaction keeps it up to date, so a row that
-- something else changed is noticed, whatever the column. The program fills it when it has brought the schema up to date.
CREATE TABLE digest (
  name TEXT PRIMARY KEY, -- of the table
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT, WITHOUT ROWID;
