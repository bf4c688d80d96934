-- What happened before somebody began the run anew, behind a halt or its end, says nothing of the server as it is now.
ALTER TABLE run_state ADD COLUMN begun_call INTEGER NOT NULL DEFAULT 0; -- the newest call then
ALTER TABLE run_state ADD COLUMN begun_snapshot INTEGER NOT NULL DEFAULT 0; -- the newest snapshot then
