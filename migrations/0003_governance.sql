-- What was decided of a tool call before it ran, committed with its result. Calls that nothing governs have no row.
CREATE TABLE tool_decision (
  trace_id INTEGER PRIMARY KEY REFERENCES trace (id), -- the tool_result or update
  mode     TEXT NOT NULL,
  intent   TEXT NOT NULL, -- that was in force; empty for none
  verdict  TEXT NOT NULL CHECK (verdict IN ('allow', 'deny', 'would_deny')),
  rule     TEXT NOT NULL, -- the code of a denial
  reason   TEXT NOT NULL,
  CHECK ((verdict = 'allow') = (rule = ''))
) STRICT;
