-- A server that does not tell how much of a prompt it had in its cache is not one that had nothing. Where the server has told of
-- anything cached, it is taken to have told of all calls that it counted.
ALTER TABLE call ADD COLUMN told_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run_state ADD COLUMN told_tokens INTEGER NOT NULL DEFAULT 0;
UPDATE call SET told_tokens = prompt_tokens WHERE exact = 1 AND (SELECT cached_tokens > 0 FROM run_state);
UPDATE run_state SET told_tokens = (SELECT coalesce(sum(told_tokens), 0) FROM call WHERE outcome NOT IN ('open', 'lost') AND purpose <> 'probe');
