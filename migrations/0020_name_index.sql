-- Names and claims have a full-text index each. In one index of two columns, the rows of a word that is in most claims and in few
-- names were all read to find the names.
DROP TRIGGER glossary_fts_insert;
DROP TABLE glossary_fts;
DROP VIEW glossary_text;
CREATE VIEW name_text AS
  SELECT v.id, r.new_value ->> 'name' AS name FROM validity v JOIN revision r ON r.id = v.revision_id WHERE v.field = 'alias';
CREATE VIEW claim_text AS
  SELECT v.id, concat_ws(char(10), r.new_value ->> 'text', r.new_value ->> 'speaker') AS claim
  FROM validity v JOIN revision r ON r.id = v.revision_id WHERE v.field = 'claim' AND r.old_value = '';
CREATE VIRTUAL TABLE glossary_fts_name USING fts5 (
  name, content = 'name_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE glossary_fts_claim USING fts5 (
  claim, content = 'claim_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO glossary_fts_name (glossary_fts_name) VALUES ('rebuild');
INSERT INTO glossary_fts_claim (glossary_fts_claim) VALUES ('rebuild');
CREATE TRIGGER glossary_fts_name_insert AFTER INSERT ON validity WHEN new.field = 'alias' BEGIN
  INSERT INTO glossary_fts_name (rowid, name) SELECT id, name FROM name_text WHERE id = new.id;
END;
CREATE TRIGGER glossary_fts_claim_insert AFTER INSERT ON validity WHEN new.field = 'claim' BEGIN
  INSERT INTO glossary_fts_claim (rowid, claim) SELECT id, claim FROM claim_text WHERE id = new.id;
END;
