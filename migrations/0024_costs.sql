-- What ends of threads look for is kept where an index finds it, so that it costs the same however long the story is.
ALTER TABLE thread_state ADD COLUMN summary_due INTEGER NOT NULL DEFAULT 0; -- 1: it has ended and was read by the model, and its summary is missing
UPDATE thread_state SET summary_due = EXISTS (SELECT 1 FROM scene l WHERE l.n = last_scene AND l.state IN ('recorded', 'quarantined'))
  AND NOT EXISTS (SELECT 1 FROM episode e WHERE e.kind = 'thread' AND e.thread_id = thread_state.thread_id)
  AND coalesce((SELECT max(id) FROM trace WHERE turn > 0
    AND turn = (SELECT max(s.turn) FROM scene s WHERE s.thread_id = thread_state.thread_id AND s.state = 'recorded'))
    > (SELECT summaries_after FROM run_state), 0);
CREATE INDEX thread_summary_due ON thread_state (thread_id) WHERE summary_due = 1;

ALTER TABLE glossary_entry ADD COLUMN facts INTEGER NOT NULL DEFAULT 0; -- how many of its facts hold
ALTER TABLE glossary_entry ADD COLUMN changes INTEGER NOT NULL DEFAULT 0; -- how many were added or closed since its present statement was last asked for
UPDATE glossary_entry SET facts = (SELECT count(*) FROM claim c WHERE c.entry_id = glossary_entry.id AND c.until_at = 0),
  changes = (SELECT count(*) FROM revision r WHERE r.entry_id = glossary_entry.id AND r.field = 'claim'
    AND r.id > coalesce((SELECT max(a.id) FROM revision a WHERE a.entry_id = glossary_entry.id
      AND (a.field = 'present' OR a.field = 'curator_decision' AND a.new_value ->> '$.decision' = 'UNSTATED')), 0));
CREATE INDEX glossary_entry_outdated ON glossary_entry (facts) WHERE changes > 0 AND status IN ('tentative', 'confirmed');

-- The tokens of prompt and reply together that the run goes on with; 0: it has not begun. Earlier versions took 32,768 where nothing else was said.
ALTER TABLE run_state ADD COLUMN context_budget INTEGER NOT NULL DEFAULT 0;
UPDATE run_state SET context_budget = 32768;
