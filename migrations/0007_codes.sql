-- What the program reads back is a code; a text is for people.

-- The decision about a call was kept as "code: why", or as one of these texts.
ALTER TABLE call RENAME COLUMN signs TO characters;
ALTER TABLE call RENAME COLUMN decision TO reason;
ALTER TABLE call ADD COLUMN decision TEXT NOT NULL DEFAULT '' CHECK (decision IN ('', 'retry', 'wait', 'shrink', 'shrink reply', 'grow reply',
  'adapt', 'quarantine', 'halt', 'interrupted', 'discarded', 'answered'));
UPDATE call SET decision = CASE reason
    WHEN 'the program ended during the call' THEN ''
    WHEN 'stopped by a signal' THEN 'interrupted'
    WHEN 'not used' THEN 'discarded'
    WHEN 'the server is there' THEN 'answered'
    WHEN 'the request waits' THEN 'wait'
    ELSE substr(reason, 1, instr(reason, ': ') - 1)
  END WHERE reason <> '';
UPDATE call SET reason = substr(reason, length(decision) + 3) WHERE decision <> '' AND substr(reason, 1, length(decision) + 2) = decision || ': ';

-- The note that demands a tool call was known by its text. The hashes of the rows do not cover the code that they get here: up to which
-- row that holds is in run_state.
ALTER TABLE run_state ADD COLUMN recoded INTEGER NOT NULL DEFAULT 0;
UPDATE run_state SET recoded = (SELECT coalesce(max(id), 0) FROM trace);
UPDATE trace SET error = 'CALL_REQUIRED' WHERE kind = 'note' AND error = ''
  AND substr(content, 1, 55) = 'Your reply calls no tool, and one has to be called now.';
