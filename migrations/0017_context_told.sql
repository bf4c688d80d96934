-- What the server has told of its context with a refusal or a cut reply, in tokens, since the run was last started after a halt.
ALTER TABLE run_state ADD COLUMN context_told INTEGER NOT NULL DEFAULT 0;
