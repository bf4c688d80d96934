-- Evidence whose words do not show that it bears out its claim, so that it can be counted. What was quoted before is not judged.
ALTER TABLE evidence ADD COLUMN weak INTEGER NOT NULL DEFAULT 0 CHECK (weak IN (0, 1)); -- 1 if it shares no word or name with its claim or entry
DROP INDEX evidence_claim;
CREATE INDEX evidence_claim ON evidence (entry_id, claim_id, weak);
